/**
 * An export: JSON Lines. A header, then each document as a head line, its keyframe where its past was pruned, and one line
 * per entry; what is left of documents that ended; and an end line, so that a cut is noticed.
 *
 * An entry's line holds what the journal keeps of it, its body as it is there. Times are ISO 8601 in UTC, to the millisecond.
 *
 * @module
 */

import { createHash } from "node:crypto";
import type { PortableHead, PortableTombstone } from "../backends/maintenance.ts";
import { canonicalJson, type JsonObject } from "../document/json.ts";
import type { Folded, Keyframe, PortableEntry } from "../document/journal.ts";

/** The name of the format, in the header. */
export const EXPORT_NAME = "mcpstate-export";
/** The number of the format that is written and read here. */
export const EXPORT_FORMAT = 1;

/** How many of each there are in an export; its last line says so. */
export interface ExportCounts {
  /** Documents, each with its journal. */
  readonly documents: number;
  /** Documents that were deleted or have expired. */
  readonly tombstones: number;
  /** Documents that could not be read. */
  readonly unreadable: number;
}

/** A document with everything that goes into an export. */
export interface Portable {
  /** The head. */
  readonly head: PortableHead;
  /** The keyframe that `entries` begin at; absent if they begin with version 1. */
  readonly keyframe?: Keyframe;
  /** From version 1, or from that of the keyframe, to the head's. */
  readonly entries: readonly PortableEntry[];
  /** The head's version, folded. */
  readonly folded: Folded;
}

/** The first line. */
export function headerLine(now: number): string {
  return JSON.stringify({ type: "header", format: EXPORT_NAME, number: EXPORT_FORMAT, exported_at: toIso(now) });
}

/** The last line. */
export function endLine({ documents, tombstones, unreadable }: ExportCounts): string {
  return JSON.stringify({ type: "end", documents, tombstones, unreadable });
}

/** The lines of a document. @throws {RangeError} if a time that is kept is none. */
export function documentLines(user: string, { head, keyframe, entries, folded }: Portable): string[] {
  const document = {
    type: "document",
    user,
    id: head.id,
    kind: head.kind,
    title: head.title ?? null,
    created_at: toIso(head.createdAt),
    updated_at: toIso(head.updatedAt),
    expires_at: head.expiresAt === undefined ? null : toIso(head.expiresAt),
    ttl_days: head.ttlDays ?? null,
    turn: head.turn,
    first_turn: head.firstTurn,
    oldest: head.oldest,
    version: head.version,
    bytes: head.bytes,
    sha256: digest(folded.state),
  };
  return [
    JSON.stringify(document),
    ...keyframe === undefined ? [] : [keyframeLine(keyframe)],
    ...entries.map(entryLine),
  ];
}

function keyframeLine({ version, writeId, bytes, body }: Keyframe): string {
  return withBody({ type: "keyframe", version, write_id: writeId, bytes }, body);
}

function entryLine({ version, writeId, at, turn, writer, body }: PortableEntry): string {
  return withBody({ type: "entry", version, write_id: writeId, at: toIso(at), turn, writer }, body);
}

/** Ends with the body just as it is kept: it is JSON already, and on one line unless somebody else wrote it. */
function withBody(fields: Readonly<Record<string, unknown>>, body: string): string {
  const line = /[\r\n]/.test(body) ? JSON.stringify(JSON.parse(body)) : body;
  return `${JSON.stringify(fields).slice(0, -1)},"body":${line}}`;
}

/** The line of a document that ended. @throws {RangeError} if the time that is kept is none. */
export function tombstoneLine(user: string, { id, kind, status, goneAt, ttlDays }: PortableTombstone): string {
  const fields = { user, id, kind, status, gone_at: toIso(goneAt), ttl_days: ttlDays ?? null };
  return JSON.stringify({ type: "tombstone", ...fields });
}

/** The line of a document that could not be read, so that whoever imports is told of it. */
export function unreadableLine(user: string, id: string, problem: string): string {
  return JSON.stringify({ type: "unreadable", user, id, problem });
}

/** SHA-256 of a state's canonical JSON (RFC 8785), in hexadecimal: the same for states that are equal as JSON. */
export function digest(state: JsonObject): string {
  return createHash("sha256").update(canonicalJson(state)).digest("hex");
}

function toIso(time: number): string {
  return new Date(time).toISOString();
}
