/**
 * The parts of an atomic step. Each runs inside a transaction that its caller opened.
 *
 * @module
 */

import type { Keyframe, Stamp } from "../../document/journal.ts";
import {
  type DocumentKey,
  type Head,
  REQUEST_MS,
  type RequestDraft,
  type RequestRecord,
  type Tombstone,
  TOMBSTONE_MS,
} from "../records.ts";
import type { Connection, SqliteRow } from "./driver.ts";
import { number, toRequest } from "./rows.ts";

/** Takes the user's next sequence numbers, and counts its live documents. Answers the first of them. */
export function takeSeq(connection: Connection, user: string, count: number, live: number): number {
  const row = connection.get(
    "INSERT INTO mcpstate_user (name, seq, live) VALUES (?, ?, ?) " +
      "ON CONFLICT (name) DO UPDATE SET seq = seq + excluded.seq, live = live + excluded.live RETURNING seq",
    user,
    count,
    live,
  );
  return number(row ?? {}, "seq") - count + 1;
}

/** Puts an entry into the journal, and its turn into the index. */
export function insertEntry(connection: Connection, doc: number, stamp: Stamp, body: string): void {
  const { version, writeId, at, turn, writer, seq, offset } = stamp;
  connection.run(
    "INSERT INTO mcpstate_entry (doc, version, write_id, at, turn, writer, seq, journal_offset, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    doc,
    version,
    writeId,
    at,
    turn,
    writer,
    seq,
    offset,
    body,
  );
  if (turn === 0) return;
  connection.run(
    "INSERT INTO mcpstate_turn (doc, turn, version) VALUES (?, ?, ?) ON CONFLICT (doc, turn) DO UPDATE SET version = excluded.version",
    doc,
    turn,
    version,
  );
}

/** Writes what of a head can change. */
export function updateHead(connection: Connection, doc: number, head: Head): void {
  connection.run(
    "UPDATE mcpstate_document SET title = ?, version = ?, write_id = ?, updated_at = ?, writer = ?, turn = ?, first_turn = ?, " +
      "ttl_days = ?, expires_at = ?, due_at = ?, bytes = ?, oldest = ?, journal_offset = ?, base_version = ?, base_bytes = ?, " +
      "base_offset = ?, seq = ? WHERE doc = ?",
    head.title ?? null,
    head.version,
    head.writeId,
    head.updatedAt,
    head.writer,
    head.turn,
    head.firstTurn,
    head.ttlDays ?? null,
    head.expiresAt ?? null,
    head.expiresAt ?? null,
    head.bytes,
    head.oldest,
    head.offset,
    head.base.version,
    head.base.bytes,
    head.base.offset,
    head.seq,
    doc,
  );
}

/** Puts the row of a new document in, and answers its key. `firstWriteId` is that of version 1, or empty if nobody will send it again. */
export function insertHead(connection: Connection, user: string, head: Head, firstWriteId: string): number {
  const row = connection.get(
    "INSERT INTO mcpstate_document (user, id, status, kind, title, version, write_id, created_at, updated_at, writer, turn, first_turn, " +
      "ttl_days, expires_at, due_at, bytes, oldest, journal_offset, base_version, base_bytes, base_offset, seq, created_seq, first_write_id) " +
      "VALUES (?, ?, 'live', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING doc",
    user,
    head.id,
    head.kind,
    head.title ?? null,
    head.version,
    head.writeId,
    head.createdAt,
    head.updatedAt,
    head.writer,
    head.turn,
    head.firstTurn,
    head.ttlDays ?? null,
    head.expiresAt ?? null,
    head.expiresAt ?? null,
    head.bytes,
    head.oldest,
    head.offset,
    head.base.version,
    head.base.bytes,
    head.base.offset,
    head.seq,
    head.createdSeq,
    firstWriteId,
  );
  return number(row ?? {}, "doc");
}

/** Keeps a keyframe; the same one twice is fine. */
export function insertKeyframe(connection: Connection, doc: number, keyframe: Keyframe): void {
  connection.run(
    "INSERT OR REPLACE INTO mcpstate_keyframe (doc, version, write_id, bytes, body) VALUES (?, ?, ?, ?, ?)",
    doc,
    keyframe.version,
    keyframe.writeId,
    keyframe.bytes,
    keyframe.body,
  );
}

/** Lets the bytes before the newest keyframe at or before `oldest` go. */
export function reclaim(connection: Connection, doc: number, oldest: number): void {
  const row = connection.get(
    "SELECT max(version) AS version FROM mcpstate_keyframe WHERE doc = ? AND version <= ?",
    doc,
    oldest,
  );
  if (row === undefined || row.version === null) return;
  const version = number(row, "version");
  for (const table of ["entry", "keyframe", "turn"]) {
    connection.run(`DELETE FROM mcpstate_${table} WHERE doc = ? AND version < ?`, doc, version);
  }
}

/** Removes a document's journal and leaves its tombstone, which takes the user's next sequence number. Version and first write id stay in the row. */
export function bury(connection: Connection, user: string, doc: number, tombstone: Tombstone, now: number): Tombstone {
  removeJournal(connection, doc);
  const seq = takeSeq(connection, user, 1, -1);
  const writeId = tombstone.writeId || crypto.randomUUID();
  connection.run(
    "UPDATE mcpstate_document SET status = ?, title = NULL, write_id = ?, writer = '', updated_at = ?, expires_at = NULL, due_at = ?, bytes = 0, seq = ? WHERE doc = ?",
    tombstone.status,
    writeId,
    tombstone.goneAt,
    now + TOMBSTONE_MS,
    seq,
    doc,
  );
  return { ...tombstone, seq, writeId };
}

/** Removes everything of a document but its row. */
export function removeJournal(connection: Connection, doc: number): void {
  for (const table of ["entry", "keyframe", "turn"]) {
    connection.run(`DELETE FROM mcpstate_${table} WHERE doc = ?`, doc);
  }
}

/** The rows of a user's documents that are past due, so many at a time: live ones to bury, tombstones to forget. */
export function* findLeftovers(connection: Connection, user: string, now: number, size: number): Generator<SqliteRow> {
  let [dueAt, doc] = [Number.MIN_SAFE_INTEGER, 0];
  for (;;) {
    const rows = connection.all(
      "SELECT * FROM mcpstate_document WHERE user = ? AND due_at <= ? AND (due_at, doc) > (?, ?) ORDER BY due_at, doc LIMIT +?",
      user,
      now,
      dueAt,
      doc,
      size,
    );
    yield* rows;
    if (rows.length < size) return;
    [dueAt, doc] = [number(rows[rows.length - 1], "due_at"), number(rows[rows.length - 1], "doc")];
  }
}

/** Removes a tombstone. Who has not seen that end yet never will, and can tell by `forgotten`. */
export function forgetTombstone(connection: Connection, user: string, doc: number, seq: number): void {
  forget(connection, doc);
  connection.run("UPDATE mcpstate_user SET forgotten = max(forgotten, ?) WHERE name = ?", seq, user);
}

/** Removes the row of a document. */
export function forget(connection: Connection, doc: number): void {
  connection.run("DELETE FROM mcpstate_document WHERE doc = ?", doc);
}

/** What is remembered of a request. */
export function findRequest(connection: Connection, user: string, id: string): RequestRecord | undefined {
  const row = connection.get("SELECT * FROM mcpstate_request WHERE user = ? AND id = ?", user, id);
  return row && toRequest(row);
}

/** Remembers a request, with the head as it left it. */
export function insertRequest(
  connection: Connection,
  { user, id }: DocumentKey,
  request: RequestDraft,
  head: Head,
  now: number,
): void {
  connection.run(
    "INSERT INTO mcpstate_request (user, id, fingerprint, meta, document_id, version, write_id, at, turn, ttl_days, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    user,
    request.id,
    request.fingerprint,
    request.meta,
    id,
    head.version,
    head.writeId,
    now,
    head.turn,
    head.ttlDays ?? null,
    head.expiresAt ?? null,
  );
}

/** Removes request ids that are older than they need be kept; answers how many. */
export function removeOldRequests(connection: Connection, user: string, now: number, limit: number): number {
  return connection.all(
    "DELETE FROM mcpstate_request WHERE (user, id) IN (SELECT user, id FROM mcpstate_request WHERE user = ? AND at < ? LIMIT +?) RETURNING id",
    user,
    now - REQUEST_MS,
    limit,
  ).length;
}
