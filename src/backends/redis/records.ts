/**
 * Replies as the port's records. One that is damaged throws; it is never guessed at.
 *
 * @module
 */

import type { Entry, Keyframe, Stamp } from "../../document/journal.ts";
import type {
  Absent,
  Appended,
  Exists,
  Found,
  Gone,
  Lost,
  QuotaReached,
  Removed,
  Replayed,
  Touched,
} from "../backend.ts";
import { BackendError } from "../../document/errors.ts";
import type { DocumentRecord, Unreadable } from "../maintenance.ts";
import type { Head, RequestRecord, Tombstone } from "../records.ts";
import { damaged } from "./errors.ts";
import { PACKED_FIELDS, STAMP_FIELDS, unpack } from "./packed.ts";

/** What a script may answer about a document. */
export type Answer =
  | Absent
  | Gone
  | Found
  | Appended
  | Lost
  | Exists
  | QuotaReached
  | Replayed
  | Touched
  | Removed
  /** Past due, and not buried yet. */
  | { readonly outcome: "due"; readonly tombstone: Tombstone };

/** The outcome, and what belongs to it. @throws {BackendError} if the reply or the record is damaged. */
export function toAnswer(reply: unknown, id: string): Answer {
  const [outcome, ...rest] = list(reply);
  switch (outcome) {
    case "absent":
      return { outcome };
    case "due":
    case "gone":
      return { outcome, tombstone: toTombstone(rest, id) };
    case "found":
      return toFound(rest, id);
    case "appended":
      return { outcome, head: toHead(rest[0], id), stamps: list(rest[1]).map(toStamp) };
    case "lost":
    case "exists": {
      const found = toAnswer(rest[0], id);
      if (found.outcome !== "found") throw damaged();
      return { outcome, found };
    }
    case "quota":
      return { outcome, held: number(rest[0]) };
    case "replayed":
      return { outcome, record: toRequest(rest[0]) };
    case "touched":
      return { outcome, head: toHead(rest[0], id) };
    case "removed":
      return { outcome, version: number(rest[0]) };
    default:
      throw damaged();
  }
}

/** @throws {BackendError} if it is none of those that the script may give. */
export function only<O extends Answer["outcome"]>(answer: Answer, ...outcomes: O[]): Extract<Answer, { outcome: O }> {
  if ((outcomes as string[]).includes(answer.outcome)) return answer as Extract<Answer, { outcome: O }>;
  throw damaged();
}

function toFound([flat, target, onto, entries]: readonly unknown[], id: string): Found {
  return {
    outcome: "found",
    head: toHead(flat, id),
    target: target === "held" ? target : target === null ? undefined : toStamp(target),
    onto: onto === "held" || onto === "nothing" ? onto : toKeyframe(list(onto)),
    entries: list(entries).map(toEntry),
  };
}

/** A head from its fields, in their order. @throws {BackendError} if the record is damaged. */
export function toHead(reply: unknown, id: string): Head {
  const [now, kind, createdAt, createdSeq, title] = list(reply);
  const [
    updatedAt,
    seq,
    version,
    expiresAt,
    ttlDays,
    firstTurn,
    bytes,
    oldest,
    baseVersion,
    baseBytes,
    baseOffset,
    turn,
    writeId,
    offset,
    writer,
  ] = parts(now, PACKED_FIELDS.length);
  const optional = (value: string) => value === "-" ? undefined : number(value);
  return {
    id,
    kind: text(kind),
    title: title === null ? undefined : text(title),
    version: number(version),
    writeId,
    createdAt: number(createdAt),
    updatedAt: number(updatedAt),
    writer,
    turn: number(turn),
    firstTurn: number(firstTurn),
    ttlDays: optional(ttlDays),
    expiresAt: optional(expiresAt),
    bytes: number(bytes),
    oldest: number(oldest),
    offset: number(offset),
    base: { version: number(baseVersion), bytes: number(baseBytes), offset: number(baseOffset) },
    seq: number(seq),
    createdSeq: number(createdSeq),
  };
}

/** What `find` answers, whatever it is; `undefined` if nothing is known of the document. */
export function toRecord(reply: unknown, id: string): DocumentRecord | undefined {
  const record = readable(() => {
    const [outcome, ...rest] = list(reply);
    if (outcome === "absent") return undefined;
    if (outcome === "gone") return toTombstone(rest, id);
    if (outcome === "found") return toHead(rest[0], id);
    throw damaged();
  });
  return record !== undefined && "unreadable" in record ? { ...record, id } : record;
}

/** What was read, or that it cannot be. */
export function readable<T>(read: () => T, version?: number): T | Unreadable {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof BackendError)) throw error;
    return { unreadable: "is damaged, or a part of it was evicted", ...(version === undefined ? {} : { version }) };
  }
}

/** @throws {BackendError} if the record is damaged. */
export function toTombstone(values: readonly unknown[], id: string): Tombstone {
  const [status, goneAt, ttlDays, kind, seq, createdSeq, writeId] = values;
  if (status !== "deleted" && status !== "expired") throw damaged();
  return {
    id,
    kind: text(kind),
    status,
    goneAt: number(goneAt),
    ttlDays: ttlDays === "-" ? undefined : number(ttlDays),
    seq: number(seq),
    createdSeq: number(createdSeq),
    writeId: writeId === "-" ? "" : text(writeId),
  };
}

/** @throws {BackendError} if the record is damaged. */
export function toRequest(flat: unknown): RequestRecord {
  const fields = toFields(flat);
  const optional = (name: string) => fields.has(name) ? number(fields.get(name)) : undefined;
  return {
    id: text(fields.get("id")),
    fingerprint: text(fields.get("fingerprint")),
    meta: text(fields.get("meta")),
    documentId: text(fields.get("documentId")),
    version: number(fields.get("version")),
    writeId: text(fields.get("writeId")),
    at: number(fields.get("at")),
    turn: number(fields.get("turn")),
    ttlDays: optional("ttlDays"),
    expiresAt: optional("expiresAt"),
  };
}

/** @throws {BackendError} if the record is damaged. */
export function toStamp(reply: unknown): Stamp {
  const [id, stamp] = list(reply);
  const [at, seq, turn, writeId, offset, writer] = parts(stamp, STAMP_FIELDS.length);
  return {
    version: number(text(id).split("-")[0]),
    writeId,
    at: number(at),
    turn: number(turn),
    writer,
    seq: number(seq),
    offset: number(offset),
  };
}

/** An entry as a stream has it. @throws {BackendError} if the record is damaged. */
export function toEntry(reply: unknown): Entry {
  const [id, fields] = list(reply);
  const [, stamp, , body] = list(fields);
  return { ...toStamp([id, stamp]), body: text(body) };
}

function parts(packed: unknown, count: number): string[] {
  const values = unpack(text(packed), count);
  if (values === undefined) throw damaged();
  return values;
}

function toKeyframe([version, writeId, bytes, body]: readonly unknown[]): Keyframe {
  return { version: number(version), writeId: text(writeId), bytes: number(bytes), body: text(body) };
}

function toFields(flat: unknown): Map<string, string> {
  const values = list(flat);
  const fields = new Map<string, string>();
  for (let i = 0; i < values.length; i += 2) fields.set(text(values[i]), text(values[i + 1]));
  return fields;
}

/** @throws {BackendError} if it is no list. */
export function list(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw damaged();
}

/** @throws {BackendError} if it is no text. */
export function text(value: unknown): string {
  if (typeof value === "string") return value;
  throw damaged();
}

/** @throws {BackendError} if it is no number. */
export function number(value: unknown): number {
  const parsed = typeof value === "string" && value !== "" ? Number(value) : value;
  if (typeof parsed === "number" && !Number.isNaN(parsed)) return parsed;
  throw damaged();
}
