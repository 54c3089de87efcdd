/**
 * What concerns a user as a whole: the list, leftovers, and the end of everything.
 *
 * @module
 */

import { BackendError } from "../../document/errors.ts";
import type { ListPage, ListRange } from "../backend.ts";
import { type Head, isPastDue, isTombstone, LEFTOVERS, toExpired, type Tombstone } from "../records.ts";
import type { Connection } from "./driver.ts";
import { number, text, toDocument } from "./rows.ts";
import { bury, findLeftovers, forget, forgetTombstone, removeJournal, removeOldRequests } from "./write.ts";

/** A page of a user's documents, in the order of `seq`. Inside a transaction. */
export function listDocuments(connection: Connection, user: string, range: ListRange, now: number): ListPage {
  const { direction, from, limit, tombstones } = range;
  const order = direction === "down" ? "seq < ? ORDER BY seq DESC" : "seq > ? ORDER BY seq";
  const rows = connection.all(
    `SELECT * FROM mcpstate_document WHERE user = ? AND ${order} LIMIT +?`,
    user,
    from,
    limit,
  );
  const documents: (Head | Tombstone)[] = [];
  for (const row of rows) {
    const record = readable(row);
    if (record === undefined) continue;
    const seen = !isTombstone(record) && isPastDue(record, now) ? toExpired(record) : record;
    if (tombstones || !isTombstone(seen)) documents.push(seen);
  }
  const counters = connection.get("SELECT seq, forgotten FROM mcpstate_user WHERE name = ?", user);
  const page = {
    documents,
    seq: counters === undefined ? 0 : number(counters, "seq"),
    forgotten: counters === undefined ? 0 : number(counters, "forgotten"),
  };
  return rows.length < limit ? page : { ...page, next: number(rows[rows.length - 1], "seq") };
}

/** A damaged record must not hide the others. */
function readable(row: Readonly<Record<string, unknown>>): Head | Tombstone | undefined {
  try {
    return toDocument(row).record;
  } catch (error) {
    if (error instanceof BackendError) return undefined;
    throw error;
  }
}

/** Every user that has documents or tombstones, in order: a seek for each, since documents have an index by user. */
export function userNames(connection: Connection): AsyncGenerator<string> {
  return walkNames(
    connection,
    "SELECT user AS name FROM mcpstate_document WHERE user > ? AND user < x'' ORDER BY user",
  );
}

/** Also those of whom nothing but request ids may be left. */
export function countedNames(connection: Connection): AsyncGenerator<string> {
  return walkNames(connection, "SELECT name FROM mcpstate_user WHERE name > ? AND name < x'' ORDER BY name");
}

/** Names that are no text stand behind all that are, and are left out. */
async function* walkNames(connection: Connection, next: string): AsyncGenerator<string> {
  for (let after = "";;) {
    const row = await connection.single(() => connection.get(`${next} LIMIT 1`, after));
    if (row === undefined) return;
    yield after = text(row, "name");
  }
}

/**
 * Buries past due documents and forgets old tombstones and request ids of a user, all of it or `only` one document.
 * Inside a transaction. Answers how many.
 */
export function sweepUser(connection: Connection, user: string, now: number, limit: number, only?: string): number {
  const rows = only === undefined
    ? findLeftovers(connection, user, now, limit)
    : connection.all("SELECT * FROM mcpstate_document WHERE user = ? AND id = ? AND due_at <= ?", user, only, now);
  let swept = 0;
  for (const row of rows) {
    if (swept >= limit) break;
    const record = readable(row);
    if (record === undefined) continue; // and so is in nobody's way
    if (isTombstone(record)) forgetTombstone(connection, user, number(row, "doc"), record.seq);
    else bury(connection, user, number(row, "doc"), toExpired(record), now);
    swept++;
  }
  return only === undefined ? swept + removeOldRequests(connection, user, now, limit) : swept;
}

/** Removes some leftovers of a user, now and then. Inside a transaction. */
export function tidy(connection: Connection, user: string, now: number): void {
  if (connection.isTurnToTidy()) sweepUser(connection, user, now, LEFTOVERS);
}

/** Removes everything of a user, a few documents at a time so that others can write between. */
export async function purgeUser(connection: Connection, user: string): Promise<number> {
  let purged = 0;
  for (;;) {
    const live = await connection.write(() => {
      const rows = connection.all("SELECT doc, status FROM mcpstate_document WHERE user = ? LIMIT 50", user);
      for (const row of rows) {
        removeJournal(connection, number(row, "doc"));
        forget(connection, number(row, "doc"));
      }
      if (rows.length > 0) {
        const live = rows.filter(({ status }) => status === "live").length;
        // With each part, so that a purge that is killed half way leaves a count that is right.
        connection.run("UPDATE mcpstate_user SET live = live - ? WHERE name = ?", live, user);
        return live;
      }
      connection.run("DELETE FROM mcpstate_request WHERE user = ?", user);
      connection.run("DELETE FROM mcpstate_user WHERE name = ?", user);
      return undefined;
    });
    if (live === undefined) return purged;
    purged += live;
  }
}
