/**
 * Rows as the port's records. A row that is damaged throws; it is never guessed at.
 *
 * @module
 */

import { BackendError } from "../../document/errors.ts";
import type { Entry, Keyframe, Stamp } from "../../document/journal.ts";
import type { Head, RequestRecord, Tombstone } from "../records.ts";
import type { SqliteRow } from "./driver.ts";

/** A row of `mcpstate_document`, with the key that its other tables use. */
export interface DocumentRow {
  readonly doc: number;
  readonly record: Head | Tombstone;
  /** The newest version, also of what ended. */
  readonly version: number;
  /** The write id of version 1, also of what ended; empty if nobody will send that again. */
  readonly firstWriteId: string;
}

/** @throws {BackendError} if the row is damaged. */
export function toDocument(row: SqliteRow): DocumentRow {
  const doc = number(row, "doc");
  const id = text(row, "id");
  const kind = text(row, "kind");
  const ttlDays = optionalNumber(row, "ttl_days");
  const [seq, createdSeq] = [number(row, "seq"), number(row, "created_seq")];
  const [version, writeId] = [number(row, "version"), text(row, "write_id")];
  const firstWriteId = text(row, "first_write_id");
  if (row.status !== "live") {
    if (row.status !== "deleted" && row.status !== "expired") throw new DamagedRow("status");
    const goneAt = number(row, "updated_at");
    const record: Tombstone = { id, kind, status: row.status, goneAt, ttlDays, seq, createdSeq, writeId };
    return { doc, record, version, firstWriteId };
  }
  const title = row.title === null ? undefined : text(row, "title");
  const record: Head = {
    id,
    kind,
    title,
    version,
    writeId,
    createdAt: number(row, "created_at"),
    updatedAt: number(row, "updated_at"),
    writer: text(row, "writer"),
    turn: number(row, "turn"),
    firstTurn: number(row, "first_turn"),
    ttlDays,
    expiresAt: optionalNumber(row, "expires_at"),
    bytes: number(row, "bytes"),
    oldest: number(row, "oldest"),
    offset: number(row, "journal_offset"),
    base: {
      version: number(row, "base_version"),
      bytes: number(row, "base_bytes"),
      offset: number(row, "base_offset"),
    },
    seq,
    createdSeq,
  };
  return { doc, record, version, firstWriteId };
}

/** The columns that {@link toStamp} reads. */
export const STAMP_COLUMNS = "version, write_id, at, turn, writer, seq, journal_offset";

/** @throws {BackendError} if the row is damaged. */
export function toStamp(row: SqliteRow): Stamp {
  return {
    version: number(row, "version"),
    writeId: text(row, "write_id"),
    at: number(row, "at"),
    turn: number(row, "turn"),
    writer: text(row, "writer"),
    seq: number(row, "seq"),
    offset: number(row, "journal_offset"),
  };
}

/** @throws {BackendError} if the row is damaged. */
export function toEntry(row: SqliteRow): Entry {
  return { ...toStamp(row), body: text(row, "body") };
}

/** @throws {BackendError} if the row is damaged. */
export function toKeyframe(row: SqliteRow): Keyframe {
  return {
    version: number(row, "version"),
    writeId: text(row, "write_id"),
    bytes: number(row, "bytes"),
    body: text(row, "body"),
  };
}

/** @throws {BackendError} if the row is damaged. */
export function toRequest(row: SqliteRow): RequestRecord {
  return {
    id: text(row, "id"),
    fingerprint: text(row, "fingerprint"),
    meta: text(row, "meta"),
    documentId: text(row, "document_id"),
    version: number(row, "version"),
    writeId: text(row, "write_id"),
    at: number(row, "at"),
    turn: number(row, "turn"),
    ttlDays: optionalNumber(row, "ttl_days"),
    expiresAt: optionalNumber(row, "expires_at"),
  };
}

/** @throws {BackendError} if the column holds no number. */
export function number(row: SqliteRow, column: string): number {
  const value = row[column];
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value); // @db/sqlite with int64 answers large integers so
  throw new DamagedRow(column);
}

/** @throws {BackendError} if the column holds no text. */
export function text(row: SqliteRow, column: string): string {
  const value = row[column];
  if (typeof value === "string") return value;
  throw new DamagedRow(column);
}

function optionalNumber(row: SqliteRow, column: string): number | undefined {
  return row[column] === null ? undefined : number(row, column);
}

/** A row with something in a column that does not belong there. */
export class DamagedRow extends BackendError {
  /** With the column. */
  constructor(readonly column: string) {
    super(`A record in the database is damaged (${column}). Run doctor to see which.`);
  }
}
