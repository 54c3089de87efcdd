/**
 * What can be wrong in a database beside the journals: its pages, counters, indices, rows of nobody.
 *
 * @module
 */

import type { Fault, Remedy } from "../maintenance.ts";
import { TOMBSTONE_MS } from "../records.ts";
import type { Connection, SqliteRow, SqliteValue } from "./driver.ts";

/** One kind of fault: the rows that show it, and what to say of each. */
interface Check {
  readonly sql: string;
  readonly toFault: (row: SqliteRow) => Fault;
  /** What puts it right: one statement, which looks again by itself. */
  readonly remedy?: (row: SqliteRow, now: number) => readonly [does: string, sql: string, ...parameters: SqliteValue[]];
}

/** The columns of a row as parameters. */
function named(row: SqliteRow, ...columns: string[]): SqliteValue[] {
  return columns.map((column) => row[column] as SqliteValue);
}

const RECOUNT: Check["remedy"] = (row) => [
  "count the user's documents anew",
  "INSERT INTO mcpstate_user (name, seq, live) SELECT ?1, coalesce(max(seq), 0), count(*) FILTER (WHERE status = 'live') " +
  "FROM mcpstate_document WHERE user = ?1 ON CONFLICT (name) DO UPDATE SET live = excluded.live, seq = max(seq, excluded.seq)",
  ...named(row, "user"),
];

const CHECKS: readonly Check[] = [
  {
    sql: "SELECT quick_check FROM pragma_quick_check WHERE quick_check <> 'ok'",
    toFault: (row) => ({ problem: `The database file is damaged: ${row.quick_check}.` }),
  },
  {
    sql: "SELECT d.user AS user, count(*) FILTER (WHERE d.status = 'live') AS live, max(d.seq) AS seq, " +
      "u.live AS counted, u.seq AS taken FROM mcpstate_document d LEFT JOIN mcpstate_user u ON u.name = d.user GROUP BY d.user " +
      "HAVING u.name IS NULL OR u.live IS NOT count(*) FILTER (WHERE d.status = 'live') OR u.seq < max(d.seq)",
    toFault: ({ user, live, seq, counted, taken }) => ({
      user: String(user),
      problem: counted === null
        ? "The user has documents and no counters."
        : counted !== live
        ? `The user has ${live} live documents and is counted to have ${counted}.`
        : `The user's documents have sequence numbers up to ${seq}, and only ${taken} were taken.`,
    }),
    remedy: RECOUNT,
  },
  {
    sql: "SELECT name AS user, live AS counted FROM mcpstate_user WHERE live <> 0 " +
      "AND NOT EXISTS (SELECT 1 FROM mcpstate_document WHERE user = name)",
    toFault: ({ user, counted }) => ({
      user: String(user),
      problem: `The user has no documents and is counted to have ${counted}.`,
    }),
    remedy: RECOUNT,
  },
  {
    sql:
      "SELECT user, id, doc, status FROM mcpstate_document WHERE typeof(user) = 'text' AND status IN ('live', 'deleted', 'expired') " +
      "AND due_at IS NOT CASE status WHEN 'live' THEN expires_at ELSE coalesce(due_at, 0) END",
    toFault: ({ user, id }) => ({
      user: String(user),
      id: String(id),
      problem: "No sweep will find it when it ends: the index of what ends says otherwise than its record.",
    }),
    remedy: (row, now) => [
      "put the document into its place in the index",
      "UPDATE mcpstate_document SET due_at = CASE status WHEN 'live' THEN expires_at ELSE ? END WHERE doc = ? " +
      // One that is said to have ended, and has its entries still, is to be forgotten by nobody.
      "AND (status = 'live' OR doc NOT IN (SELECT doc FROM mcpstate_entry))",
      now + TOMBSTONE_MS,
      ...named(row, "doc"),
    ],
  },
  {
    sql: "SELECT DISTINCT user FROM mcpstate_document WHERE typeof(user) <> 'text'",
    toFault: () => ({ problem: "There are documents whose user is no text." }),
  },
  ...["entry", "keyframe", "turn"].map((table): Check => ({
    sql: `SELECT count(*) AS rows FROM mcpstate_${table} ` +
      "WHERE doc NOT IN (SELECT doc FROM mcpstate_document) HAVING count(*) > 0",
    toFault: ({ rows }) => ({ problem: `The table mcpstate_${table} has ${rows} rows that belong to no document.` }),
    // What was written is removed by nobody; what is made from it may go.
    ...table === "entry" ? {} : {
      remedy: () => [
        "remove the rows that belong to no document",
        `DELETE FROM mcpstate_${table} WHERE doc NOT IN (SELECT doc FROM mcpstate_document)`,
      ],
    },
  })),
];

/** Looks for every kind of fault, each on one consistent view. */
export async function* findFaults(connection: Connection, now: () => number): AsyncGenerator<Fault> {
  for (const { sql, toFault, remedy } of CHECKS) {
    for (const row of await connection.single(() => connection.all(sql))) {
      const fault = toFault(row);
      yield remedy === undefined ? fault : { ...fault, remedy: toRemedy(connection, remedy(row, now())) };
    }
  }
}

function toRemedy(
  connection: Connection,
  [does, sql, ...parameters]: ReturnType<NonNullable<Check["remedy"]>>,
): Remedy {
  return { does, apply: () => connection.write(() => connection.run(sql, ...parameters)) };
}
