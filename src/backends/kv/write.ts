/**
 * The parts of an atomic step that writes: each adds to it, none of them commits.
 *
 * @module
 */

import type { Keyframe, Stamp } from "../../document/journal.ts";
import {
  type DocumentKey,
  type Head,
  isPastDue,
  type RequestDraft,
  toExpired,
  type Tombstone,
  TOMBSTONE_MS,
} from "../records.ts";
import type { Absent, Gone } from "../backend.ts";
import type { Connection } from "./connection.ts";
import { firstVersion, newestKeyframe } from "./read.ts";
import type { Counter, Loaded, Step } from "./step.ts";
import type { Buried, Live, StoredEntry, StoredKeyframe, StoredRequest, StoredText } from "./values.ts";

/** The live document; or what to answer if it is none, after burying one that is past due. */
export function findLive(
  connection: Connection,
  step: Step,
  key: DocumentKey,
  { entry, document, counter }: Loaded,
): Live | Absent | Gone {
  if (document === undefined) return { outcome: "absent" };
  if ("tombstone" in document) return { outcome: "gone", tombstone: document.tombstone };
  if (!isPastDue(document.head, step.now)) {
    step.check(entry);
    return document;
  }
  step.check(entry);
  const { tombstone } = bury(connection, step, counter, key, document, toExpired(document.head));
  counter.save(step, connection);
  return { outcome: "gone", tombstone };
}

/** Puts an entry into the journal, and its turn into the index. */
export function addEntry(
  connection: Connection,
  step: Step,
  journal: string,
  stamp: Stamp,
  body: StoredText,
): void {
  const value: StoredEntry = { ...stamp, body };
  step.set([...connection.keys.entries(journal), stamp.version], value);
  if (stamp.turn > 0) step.set([...connection.keys.turns(journal), stamp.turn], stamp.version);
}

/** Keeps a keyframe; the same one twice is fine. */
export function addKeyframe(
  connection: Connection,
  step: Step,
  journal: string,
  { version, writeId, bytes }: Keyframe,
  body: StoredText,
): void {
  const value: StoredKeyframe = { version, writeId, bytes, body };
  step.set([...connection.keys.keyframes(journal), version], value);
}

/** Puts the head in its places, and takes the one before out of those that it leaves. */
export function putHead(connection: Connection, step: Step, user: string, live: Live, before?: Head): void {
  const { keys } = connection;
  const { head } = live;
  const key = { user, id: head.id };
  if (before !== undefined && before.seq !== head.seq) step.delete(keys.listed(user, before.seq));
  if (before?.expiresAt !== head.expiresAt) {
    if (before?.expiresAt !== undefined) step.delete(keys.due(key, before.expiresAt));
    if (head.expiresAt !== undefined) step.set(keys.due(key, head.expiresAt), head.id);
  }
  step.set(keys.listed(user, head.seq), live);
  step.set(keys.document(key), live);
}

/** Makes a document's journal invisible and leaves its tombstone, which takes the user's next sequence number. */
export function bury(
  connection: Connection,
  step: Step,
  counter: Counter,
  key: DocumentKey,
  { journal, head, firstWriteId }: Live,
  end: Tombstone,
): Buried {
  const { keys } = connection;
  const buried: Buried = {
    tombstone: { ...end, seq: counter.take(1, -1), writeId: end.writeId || crypto.randomUUID() },
    dueAt: step.now + TOMBSTONE_MS,
    version: head.version,
    firstWriteId,
  };
  step.delete(keys.listed(key.user, head.seq));
  if (head.expiresAt !== undefined) step.delete(keys.due(key, head.expiresAt));
  step.set(keys.due(key, buried.dueAt), key.id);
  step.set(keys.listed(key.user, buried.tombstone.seq), buried);
  step.set(keys.document(key), buried);
  leaveJournal(connection, step, key.user, journal, Infinity);
  return buried;
}

/** Removes a tombstone. Who has not seen that end yet never will, and can tell by `forgotten`. */
export function forget(
  connection: Connection,
  step: Step,
  counter: Counter,
  key: DocumentKey,
  { tombstone, dueAt }: Buried,
): void {
  const { keys } = connection;
  step.delete(keys.listed(key.user, tombstone.seq));
  step.delete(keys.due(key, dueAt));
  step.delete(keys.document(key));
  counter.forget(tombstone.seq);
}

/** Remembers a request, with the head as it left it. */
export function addRequest(
  connection: Connection,
  step: Step,
  { user, id }: DocumentKey,
  request: RequestDraft,
  meta: StoredText,
  head: Head,
): void {
  const at = step.now;
  const { fingerprint } = request;
  const { version, writeId, turn, ttlDays, expiresAt } = head;
  const value: StoredRequest = {
    id: request.id,
    fingerprint,
    meta,
    documentId: id,
    version,
    writeId,
    at,
    turn,
    ttlDays,
    expiresAt,
  };
  step.set(connection.keys.request(user, request.id), value);
  const chunks = meta instanceof Uint8Array ? undefined : meta;
  step.set(connection.keys.requested(user, request.id, at), { id: request.id, chunks });
}

/** Lets the bytes before the newest keyframe at or before `oldest` go. `laid` is a keyframe of this very step. */
export async function reclaim(
  connection: Connection,
  step: Step,
  user: string,
  journal: string,
  oldest: number,
  laid: number,
): Promise<void> {
  const older = (await newestKeyframe(connection, journal, oldest))?.version ?? 0;
  const before = laid <= oldest ? Math.max(laid, older) : older;
  const first = before === 0 ? undefined : await firstVersion(connection, journal);
  if (first !== undefined && first < before) leaveJournal(connection, step, user, journal, before);
}

/** Leaves the part of a journal before a version to be deleted. */
export function leaveJournal(
  connection: Connection,
  step: Step,
  user: string,
  journal: string,
  before: number,
): void {
  const { keys } = connection;
  step.leave(keys.leftover(keys.userPart(user), journal), { journal, before });
}
