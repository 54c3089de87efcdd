/**
 * Removes what time has made superfluous: past due documents, old tombstones and request ids, orphans, leftovers.
 *
 * @module
 */

import { isPastDue, LEFTOVERS, REQUEST_MS, toExpired } from "../records.ts";
import { abandon } from "./bodies.ts";
import type { Connection } from "./connection.ts";
import { type KvEntry, type KvKey, MOST_CHECKS, MOST_LISTED } from "./database.ts";
import { cleanUp } from "./leftovers.ts";
import { Counter, type Effort, PASSING, runStep, type Step, THOROUGH } from "./step.ts";
import { chunksOf, isLeftover, readDocument, readIntent, readUser } from "./values.ts";
import { keyAfter, walk } from "./walk.ts";
import { bury, forget } from "./write.ts";

/** How many documents one step sweeps: it checks each of them and the user's record. */
const SWEPT_AT_ONCE = MOST_CHECKS - 2;
/** How many request ids one step removes, with two or three keys each. */
export const REQUESTS_AT_ONCE = 100;

/** Sweeps a user. Answers how many records, at most about `limit` of each kind. */
export async function sweepUser(
  connection: Connection,
  user: string,
  limit: number,
  effort: Effort = THOROUGH,
): Promise<number> {
  return await sweepDue(connection, user, limit, effort) + await sweepRequests(connection, user, limit, effort) +
    await sweepOrphans(connection, user, connection.maxContentionMs, limit) +
    await sweepLeftovers(connection, user, limit, effort);
}

/** Removes some leftovers of a user, now and then. Whoever is on his way has no part in it if it fails. */
export async function tidy(connection: Connection, user: string): Promise<void> {
  if (!connection.isTurnToTidy()) return;
  try {
    await sweepUser(connection, user, LEFTOVERS, PASSING);
  } catch {
    // Busy, read-only, full: the next one may do it.
  }
}

/** Sweeps all users. */
export async function sweepAll(connection: Connection, limit: number): Promise<number> {
  let swept = await sweepOrphans(connection, undefined, connection.maxContentionMs, limit) +
    await sweepLeftovers(connection, undefined, limit);
  for await (const { value } of walk(connection, connection.keys.users(), MOST_LISTED)) {
    if (swept >= limit) return swept;
    const name = readUser(value)?.name;
    if (name === undefined) continue; // damaged: the others are swept all the same
    swept += await sweepDue(connection, name, limit - swept, THOROUGH);
    swept += await sweepRequests(connection, name, limit, THOROUGH);
  }
  return swept;
}

/** Turns past due documents into tombstones and forgets old tombstones. Goes past what is damaged. */
async function sweepDue(connection: Connection, user: string, limit: number, effort: Effort): Promise<number> {
  const prefix = connection.keys.dues(user);
  const end = [...prefix, connection.now() + 1];
  let swept = 0;
  let start: KvKey | undefined;
  while (swept < limit) {
    const due = await connection.list(start === undefined ? { prefix, end } : { start, end }, limit - swept);
    const wanted = limit - swept;
    for (let i = 0; i < due.length; i += SWEPT_AT_ONCE) {
      const part = due.slice(i, i + SWEPT_AT_ONCE);
      swept += await runStep(connection, user, (step) => sweepDocuments(connection, step, user, part), effort);
    }
    if (due.length < wanted) break;
    start = keyAfter(due[due.length - 1].key);
  }
  return swept;
}

async function sweepDocuments(
  connection: Connection,
  step: Step,
  user: string,
  due: readonly KvEntry[],
): Promise<number> {
  const { keys } = connection;
  const wanted = due.flatMap(({ value }) => typeof value === "string" ? { user, id: value } : []);
  const [record, ...entries] = await connection.getMany([keys.user(user), ...wanted.map((key) => keys.document(key))]);
  const counter = new Counter(user, record);
  const { now } = step;
  let swept = 0;
  for (const [i, entry] of entries.entries()) {
    // One that is damaged, or was renewed meanwhile, stays.
    const document = readDocument(entry.value);
    if (document === undefined) continue;
    if ("tombstone" in document) {
      if (document.dueAt > now) continue;
      forget(connection, step, counter, wanted[i], document);
    } else {
      if (!isPastDue(document.head, now)) continue;
      bury(connection, step, counter, wanted[i], document, toExpired(document.head));
    }
    step.check(entry);
    swept++;
  }
  if (swept > 0) counter.save(step, connection);
  return swept;
}

async function sweepRequests(
  connection: Connection,
  user: string,
  limit: number,
  effort: Effort,
): Promise<number> {
  let swept = 0;
  for (;;) {
    const count = Math.min(limit - swept, REQUESTS_AT_ONCE);
    const removed = await runStep(connection, user, async (step) => {
      step.check(await connection.get(connection.keys.user(user))); // nobody remembers one of them anew meanwhile
      return await removeRequests(connection, step, user, step.now - REQUEST_MS, count);
    }, effort);
    swept += removed;
    if (removed < REQUESTS_AT_ONCE || swept >= limit) return swept;
  }
}

/** Removes up to `count` of the request ids that are older than `before`; answers how many. */
export async function removeRequests(
  connection: Connection,
  step: Step,
  user: string,
  before: number,
  count: number,
): Promise<number> {
  const { keys } = connection;
  const prefix = keys.requestTimes(user);
  const old = await connection.list({ prefix, end: [...prefix, before] }, count);
  for (const { key, value } of old) {
    step.delete(key);
    step.delete([...keys.requests(user), key[key.length - 1]]);
    for (const chunks of chunksOf(value)) {
      step.leave(keys.leftover(keys.userPart(user), `${chunks.stage} ${chunks.from}`), chunks);
    }
  }
  return old.length;
}

/** Makes leftovers of the intents, of a user or of all, that are older than `age`: whoever had them is dead, or begins again. */
export async function sweepOrphans(
  connection: Connection,
  user: string | undefined,
  age: number,
  limit: number,
): Promise<number> {
  let swept = 0;
  for await (const intent of walk(connection, connection.keys.intents(user), Math.min(limit, MOST_LISTED))) {
    if (swept >= limit) break;
    const at = readIntent(intent.value)?.at ?? Infinity;
    if (connection.now() - at < age) continue;
    const leftover = await abandon(connection, intent);
    if (leftover !== undefined && await cleanUp(connection, leftover)) swept++;
  }
  return swept;
}

/** Deletes what is invisible already, of a user or of all. */
export async function sweepLeftovers(
  connection: Connection,
  user: string | undefined,
  limit: number,
  { pages }: Effort = THOROUGH,
): Promise<number> {
  let swept = 0;
  for await (const leftover of walk(connection, connection.keys.leftovers(user), Math.min(limit, MOST_LISTED))) {
    if (swept >= limit) break;
    if (isLeftover(leftover.value) && await cleanUp(connection, leftover, pages)) swept++;
  }
  return swept;
}
