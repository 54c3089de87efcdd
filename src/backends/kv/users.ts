/**
 * What concerns a user as a whole: the list, and the end of everything.
 *
 * @module
 */

import type { ListPage, ListRange } from "../backend.ts";
import { type Head, isPastDue, isTombstone, toExpired, type Tombstone } from "../records.ts";
import type { Connection } from "./connection.ts";
import { DELETED_AT_ONCE, type KvEntry, type KvSelector } from "./database.ts";
import { Counter, runStep, type Step, THOROUGH } from "./step.ts";
import { removeRequests, REQUESTS_AT_ONCE, sweepLeftovers, sweepOrphans } from "./sweep.ts";
import { type Buried, type Live, readDocument, toUser, type UserRecord } from "./values.ts";
import { leaveJournal } from "./write.ts";

/** How often a page is read again because the user's record has moved meanwhile. */
const ATTEMPTS = 8;
/** How many documents a step of a purge removes. */
const PURGED_AT_ONCE = 50;

/** A page of a user's documents, in the order of `seq`. */
export async function listDocuments(connection: Connection, user: string, range: ListRange): Promise<ListPage> {
  const { direction, from, limit, tombstones } = range;
  const { keys } = connection;
  const prefix = keys.list(user);
  const selector: KvSelector = direction === "down"
    ? { prefix, end: [...prefix, from] }
    : { prefix, start: [...prefix, from + 1] };
  const now = connection.now();
  for (let attempt = 1;; attempt++) {
    const before = await connection.get(keys.user(user));
    const records = await connection.list(selector, limit, { reverse: direction === "down" });
    const after = await connection.get(keys.user(user));
    const isSteady = before.versionstamp === after.versionstamp;
    if (!isSteady && attempt < ATTEMPTS) continue;
    const documents: (Head | Tombstone)[] = [];
    for (const { value } of records) {
      const document = readDocument(value);
      if (document === undefined) continue; // a damaged record must not hide the others
      const record = "tombstone" in document ? document.tombstone : document.head;
      const seen = !isTombstone(record) && isPastDue(record, now) ? toExpired(record) : record;
      if (tombstones || !isTombstone(seen)) documents.push(seen);
    }
    const page = { documents, seq: counted(before).seq, forgotten: counted(after).forgotten };
    if (isSteady && records.length < limit) return page;
    // Not taken for the end while documents move: they may be where the reader thinks it has been.
    return { ...page, next: placeOf(records[records.length - 1]) ?? from };
  }
}

/** Where a record is in the list. */
function placeOf(record: KvEntry | undefined): number | undefined {
  const place = record?.key[record.key.length - 1];
  return typeof place === "number" ? place : undefined;
}

function counted({ value, versionstamp }: KvEntry): Pick<UserRecord, "seq" | "forgotten"> {
  return versionstamp === null ? { seq: 0, forgotten: 0 } : toUser(value);
}

/** Removes everything of a user, a few documents at a time so that others can write between. */
export async function purgeUser(connection: Connection, user: string): Promise<number> {
  let purged = 0;
  for (;;) {
    const live = await runStep(connection, user, (step) => purgeSome(connection, step, user), THOROUGH);
    if (live === undefined) break;
    purged += live;
  }
  await sweepOrphans(connection, user, -Infinity, Infinity);
  await sweepLeftovers(connection, user, Infinity);
  return purged;
}

/** Removes some documents and answers how many were alive; then what else there is; `undefined` when nothing was left. */
async function purgeSome(connection: Connection, step: Step, user: string): Promise<number | undefined> {
  const { keys } = connection;
  const record = await connection.get(keys.user(user));
  const counter = new Counter(user, record);
  const documents = await connection.list({ prefix: keys.documents(user) }, PURGED_AT_ONCE);
  let live = 0;
  for (const { key, value } of documents) {
    step.delete(key);
    const document = readDocument(value);
    if (document === undefined) continue;
    // With the document, so that a purge that is cut short leaves nothing in the list that cannot be read.
    const { id, seq, at } = placesOf(document);
    step.delete(keys.listed(user, seq));
    if (at !== undefined) step.delete(keys.due({ user, id }, at));
    if ("tombstone" in document) continue;
    live++;
    leaveJournal(connection, step, user, document.journal, Infinity);
  }
  if (documents.length > 0) {
    counter.count(-live);
    counter.save(step, connection);
    return live;
  }
  // From here on the step fails if anybody has made a document meanwhile.
  step.check(record);
  if (await removeRequests(connection, step, user, Infinity, REQUESTS_AT_ONCE) > 0) return 0;
  // What a damaged record, or a touch meanwhile, has left.
  for (const prefix of [keys.list(user), keys.dues(user), keys.requests(user)]) {
    const strays = await connection.list({ prefix }, DELETED_AT_ONCE);
    for (const { key } of strays) step.delete(key);
    if (strays.length > 0) return 0;
  }
  if (record.versionstamp === null) return undefined;
  step.delete(record.key);
  return 0;
}

/** Where a document is in the list and, if it will end or be forgotten, among the due. */
function placesOf(document: Live | Buried): { readonly id: string; readonly seq: number; readonly at?: number } {
  if ("tombstone" in document) return { ...document.tombstone, at: document.dueAt };
  return { ...document.head, at: document.head.expiresAt };
}
