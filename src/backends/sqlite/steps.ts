/**
 * The atomic steps: every check first, then the writes. Each runs inside a transaction that its caller opened.
 *
 * @module
 */

import type { Keyframe, Stamp } from "../../document/journal.ts";
import type {
  Absent,
  Append,
  Appended,
  Creation,
  DocumentKey,
  Exists,
  Expected,
  Gone,
  Held,
  Lost,
  QuotaReached,
  Removal,
  Removed,
  Replayed,
  RequestDraft,
  Touch,
  Touched,
} from "../backend.ts";
import { advancedHead, firstHead, touchedHead } from "../heads.ts";
import { isPastDue, isTombstone, LEFTOVERS, toExpired } from "../records.ts";
import type { Connection } from "./driver.ts";
import { findDocument, findStamp, leadTo, type LiveRow } from "./read.ts";
import { type DocumentRow, number } from "./rows.ts";
import { sweepUser, tidy } from "./users.ts";
import {
  bury,
  findRequest,
  forgetTombstone,
  insertEntry,
  insertHead,
  insertKeyframe,
  insertRequest,
  reclaim,
  takeSeq,
  updateHead,
} from "./write.ts";

/** Step of {@link Backend.create}. */
export function createStep(
  connection: Connection,
  key: DocumentKey,
  creation: Creation,
  now: number,
): Appended | Exists | Gone | QuotaReached | Replayed {
  const { entry, request, quota } = creation;
  const there = findLive(connection, key, now);
  const live = "outcome" in there ? undefined : there;
  const first = live && findStamp(connection, live.doc, 1);
  // Before the request ids, as an append: a record would tell less.
  if (live !== undefined && first?.writeId === entry.writeId) {
    return { outcome: "appended", head: live.head, stamps: [first] };
  }
  const replayed = replay(connection, key.user, [request]);
  if (replayed !== undefined) return replayed;
  if (live !== undefined) return { outcome: "exists", found: leadTo(connection, live, { as: "head" }, undefined) };
  const ended = "row" in there ? there : undefined;
  if (ended?.row.firstWriteId === entry.writeId) return { outcome: "gone", tombstone: ended.tombstone };
  tidy(connection, key.user, now);
  let held = liveCount(connection, key.user);
  while (held >= quota && sweepUser(connection, key.user, now, LEFTOVERS) > 0) held = liveCount(connection, key.user);
  if (held >= quota) return { outcome: "quota", held };
  if (ended !== undefined) forgetTombstone(connection, key.user, ended.row.doc, ended.tombstone.seq);
  const seq = takeSeq(connection, key.user, 1, 1);
  const { writeId, writer, body, offset, turn = 0 } = entry;
  const stamp: Stamp = { version: 1, writeId, at: now, turn, writer, seq, offset };
  const head = firstHead(key.id, creation, stamp);
  const doc = insertHead(connection, key.user, head, writeId);
  insertEntry(connection, doc, stamp, body);
  if (request !== undefined) insertRequest(connection, key, request, head, now);
  return { outcome: "appended", head, stamps: [stamp] };
}

/** Step of {@link Backend.append}. */
export function appendStep(
  connection: Connection,
  key: DocumentKey,
  expected: Expected,
  append: Append,
  now: number,
): Appended | Lost | Absent | Gone | Replayed {
  const { steps, bytes, oldest, keyframe } = append;
  const row = findLive(connection, key, now);
  const isExpected = !("outcome" in row) && row.head.version === expected.version &&
    row.head.writeId === expected.writeId && row.head.turn === expected.turn;
  // Before the request ids: a batch that was sent twice is answered whole, not as a replay of one of its requests.
  const sentTwice = "outcome" in row || isExpected ? undefined : appendedBefore(connection, row, expected, append);
  if (sentTwice !== undefined) return sentTwice;
  const replayed = replay(connection, key.user, steps.map(({ request }) => request));
  if (replayed !== undefined) return replayed;
  if ("outcome" in row) return toGone(row);
  if (!isExpected) return { outcome: "lost", found: leadTo(connection, row, { as: "head" }, expected) };
  const entries = steps.filter(({ entry }) => entry !== undefined).length;
  let seq = entries === 0 ? row.head.seq : takeSeq(connection, key.user, entries, 0);
  let head = row.head;
  const at = Math.max(now, head.updatedAt);
  const stamps: Stamp[] = [];
  for (const { entry, request } of steps) {
    if (entry !== undefined) {
      const { writeId, writer, offset, turn = 0 } = entry;
      const version = head.version + 1;
      const stamp: Stamp = { version, writeId, at, turn: Math.max(turn, head.turn), writer, seq: seq++, offset };
      insertEntry(connection, row.doc, stamp, entry.body);
      head = advancedHead(head, entry, stamp);
      stamps.push(stamp);
    }
    if (request !== undefined) insertRequest(connection, key, request, head, at);
  }
  if (entries > 0) {
    head = { ...head, bytes, oldest: Math.max(oldest, head.oldest) };
    if (keyframe !== undefined) {
      head = { ...head, base: { version: head.version, bytes, offset: head.offset } };
      insertKeyframe(connection, row.doc, keyframe);
      reclaim(connection, row.doc, head.oldest);
    }
    updateHead(connection, row.doc, head);
  }
  tidy(connection, key.user, now);
  return { outcome: "appended", head, stamps };
}

/** The answer to a batch that has been written already: its last version carries its last write id. */
function appendedBefore(connection: Connection, row: LiveRow, expected: Held, append: Append): Appended | undefined {
  const drafts = append.steps.flatMap(({ entry }) => entry ?? []);
  if (drafts.length === 0) return undefined;
  const stamps = drafts.flatMap((_, i) => findStamp(connection, row.doc, expected.version + 1 + i) ?? []);
  const last = stamps[stamps.length - 1];
  if (stamps.length !== drafts.length || last.writeId !== drafts[drafts.length - 1].writeId) return undefined;
  return { outcome: "appended", head: row.head, stamps };
}

/** Step of {@link Backend.touch}. */
export function touchStep(
  connection: Connection,
  key: DocumentKey,
  touch: Touch,
  now: number,
): Touched | Absent | Gone {
  const row = findLive(connection, key, now);
  if ("outcome" in row) return toGone(row);
  const head = touchedHead(row.head, touch, now);
  updateHead(connection, row.doc, head);
  return { outcome: "touched", head };
}

/** Step of {@link Backend.remove}. */
export function removeStep(
  connection: Connection,
  key: DocumentKey,
  { writeId, expected, request }: Removal,
  now: number,
): Removed | Lost | Absent | Gone | Replayed {
  const row = findLive(connection, key, now);
  if ("row" in row && row.tombstone.writeId === writeId) return { outcome: "removed", version: row.row.version };
  const replayed = replay(connection, key.user, [request]);
  if (replayed !== undefined) return replayed;
  if ("outcome" in row) return toGone(row);
  if (expected !== undefined && row.head.version !== expected) {
    return { outcome: "lost", found: leadTo(connection, row, { as: "head" }, undefined) };
  }
  const { id, kind, ttlDays, seq, createdSeq, version } = row.head;
  const end = { id, kind, status: "deleted", goneAt: now, ttlDays, seq, createdSeq, writeId } as const;
  bury(connection, key.user, row.doc, end, now);
  if (request !== undefined) insertRequest(connection, key, request, row.head, now);
  tidy(connection, key.user, now);
  return { outcome: "removed", version };
}

/** Step of {@link Backend.trim}. */
export function trimStep(connection: Connection, key: DocumentKey, oldest: Held, keyframe: Keyframe): void {
  const row = findDocument(connection, key);
  if (row === undefined || isTombstone(row.record) || row.record.oldest >= oldest.version) return;
  const head = row.record;
  if (findStamp(connection, row.doc, oldest.version)?.writeId !== oldest.writeId) return;
  insertKeyframe(connection, row.doc, keyframe);
  const isNewer = keyframe.version > head.base.version;
  const stamp = findStamp(connection, row.doc, keyframe.version);
  const base = isNewer && stamp !== undefined
    ? { version: keyframe.version, bytes: keyframe.bytes, offset: stamp.offset }
    : head.base;
  updateHead(connection, row.doc, { ...head, oldest: oldest.version, base });
  reclaim(connection, row.doc, oldest.version);
}

/** What is left of a document, and its row. */
interface Ended extends Gone {
  readonly row: DocumentRow;
}

/** The live document; or what to answer if it is none, after burying one that is past due. */
function findLive(connection: Connection, key: DocumentKey, now: number): LiveRow | Absent | Ended {
  const row = findDocument(connection, key);
  if (row === undefined) return { outcome: "absent" };
  if (isTombstone(row.record)) return { outcome: "gone", tombstone: row.record, row };
  if (!isPastDue(row.record, now)) return { doc: row.doc, head: row.record };
  return { outcome: "gone", tombstone: bury(connection, key.user, row.doc, toExpired(row.record), now), row };
}

function toGone(answer: Absent | Ended): Absent | Gone {
  return answer.outcome === "absent" ? answer : { outcome: "gone", tombstone: answer.tombstone };
}

function replay(
  connection: Connection,
  user: string,
  requests: readonly (RequestDraft | undefined)[],
): Replayed | undefined {
  for (const request of requests) {
    const record = request && findRequest(connection, user, request.id);
    if (record !== undefined) return { outcome: "replayed", record };
  }
  return undefined;
}

function liveCount(connection: Connection, user: string): number {
  const row = connection.get("SELECT live FROM mcpstate_user WHERE name = ?", user);
  return row === undefined ? 0 : number(row, "live");
}
