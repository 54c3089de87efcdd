/**
 * One line of an export: checked in its shape and in every value that can be judged alone.
 *
 * @module
 */

import type { PortableTombstone } from "../backends/maintenance.ts";
import { checkHandle, checkKind, checkTitle, checkUser, checkWriter } from "../document/checks.ts";
import { InvalidInput } from "../document/errors.ts";
import { isObject, type JsonObject, typeName } from "../document/json.ts";
import { Fields } from "./fields.ts";
import { EXPORT_FORMAT, EXPORT_NAME, type ExportCounts } from "./format.ts";

/** The head line of a document. What its last entry says too is not in it. */
export interface DocumentLine {
  readonly type: "document";
  readonly user: string;
  readonly id: string;
  readonly kind: string;
  readonly title?: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly expiresAt?: number;
  readonly ttlDays?: number;
  readonly turn: number;
  readonly firstTurn: number;
  readonly oldest: number;
  readonly version: number;
  readonly bytes: number;
  readonly sha256: string;
}

/** A keyframe; its body is still to be judged. */
export interface KeyframeLine {
  readonly type: "keyframe";
  readonly version: number;
  readonly writeId: string;
  readonly bytes: number;
  readonly body: unknown;
}

/** An entry; its body is still to be judged. */
export interface EntryLine {
  readonly type: "entry";
  readonly version: number;
  readonly writeId: string;
  readonly at: number;
  readonly turn: number;
  readonly writer: string;
  readonly body: unknown;
}

/** What is left of a document that ended. */
export interface TombstoneLine {
  readonly type: "tombstone";
  readonly user: string;
  readonly id: string;
  readonly tombstone: PortableTombstone;
}

/** A document that could not be exported. */
export interface UnreadableLine {
  readonly type: "unreadable";
  readonly user: string;
  readonly id: string;
  readonly problem: string;
}

/** Any line after the header. */
export type Line =
  | DocumentLine
  | KeyframeLine
  | EntryLine
  | TombstoneLine
  | UnreadableLine
  | { readonly type: "end"; readonly counts: ExportCounts };

/** @throws {InvalidInput} if the text is no JSON object. */
export function parseJson(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new InvalidInput("line", "The line is not JSON.");
  }
  if (!isObject(value)) throw new InvalidInput("line", "The line is not a JSON object.");
  return value;
}

/** @throws {InvalidInput} unless the line is the header of an export in the format that is read here. */
export function checkHeader(text: string): void {
  const fields = new Fields(parseJson(text));
  if (fields.take("type") !== "header" || fields.take("format") !== EXPORT_NAME) {
    throw new InvalidInput("header", "The first line is not the header of an export.");
  }
  const number = fields.take("number");
  if (number !== EXPORT_FORMAT) {
    throw new InvalidInput(
      "header",
      `The export has format ${
        shown(number)
      }, and this version of the library reads ${EXPORT_FORMAT}. Use the version that wrote it, or a newer one.`,
    );
  }
}

/** A value in a few words. One that is nested may be nested deeper than can be written again. */
function shown(value: unknown): string {
  if (typeof value === "object" && value !== null) return `of the type ${typeName(value)}`;
  return value === undefined ? "of no name" : JSON.stringify(value).slice(0, 80).toWellFormed();
}

/** @throws {InvalidInput} naming the first field at fault. */
export function toLine(object: JsonObject): Line {
  const fields = new Fields(object);
  const line = readLine(fields);
  fields.end();
  return line;
}

function readLine(fields: Fields): Line {
  const type = fields.take("type");
  switch (type) {
    case "document":
      return {
        type,
        user: checkUser(fields.take("user")),
        id: checkHandle(fields.take("id")),
        kind: checkKind(fields.take("kind")),
        title: checkTitle(fields.optional("title")),
        createdAt: fields.time("created_at"),
        updatedAt: fields.time("updated_at"),
        expiresAt: fields.optionalTime("expires_at"),
        ttlDays: fields.optionalTtl(),
        turn: fields.integer("turn", 0),
        firstTurn: fields.integer("first_turn", 0),
        oldest: fields.integer("oldest", 1),
        version: fields.integer("version", 1),
        bytes: fields.integer("bytes", 2),
        sha256: fields.text("sha256", 64),
      };
    case "keyframe":
      return {
        type,
        version: fields.integer("version", 1),
        writeId: fields.text("write_id", 200),
        bytes: fields.integer("bytes", 2),
        body: fields.take("body"),
      };
    case "entry":
      return {
        type,
        version: fields.integer("version", 1),
        writeId: fields.text("write_id", 200),
        at: fields.time("at"),
        turn: fields.integer("turn", 0),
        writer: checkWriter(fields.take("writer")),
        body: fields.take("body"),
      };
    case "tombstone": {
      const user = checkUser(fields.take("user"));
      const id = checkHandle(fields.take("id"));
      const kind = checkKind(fields.take("kind"));
      const status = fields.take("status");
      if (status !== "deleted" && status !== "expired") {
        throw new InvalidInput("status", 'status must be "deleted" or "expired".');
      }
      const goneAt = fields.time("gone_at");
      return { type, user, id, tombstone: { id, kind, status, goneAt, ttlDays: fields.optionalTtl() } };
    }
    case "unreadable":
      return {
        type,
        user: fields.text("user", Infinity),
        id: fields.text("id", Infinity),
        problem: fields.text("problem", Infinity),
      };
    case "end": {
      const [documents, tombstones, unreadable] = ["documents", "tombstones", "unreadable"]
        .map((name) => fields.integer(name, 0));
      return { type, counts: { documents, tombstones, unreadable } };
    }
    default:
      throw new InvalidInput("type", `There is no type of line ${shown(type)} here.`);
  }
}
