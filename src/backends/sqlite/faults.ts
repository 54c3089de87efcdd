/**
 * What can be wrong in a database beside the journals: its pages, counters, indices, rows of nobody.
 *
 * @module
 */

import type { Fault } from "../maintenance.ts";
import type { Connection, SqliteRow } from "./driver.ts";

/** One kind of fault: the rows that show it, and what to say of each. */
interface Check {
  readonly sql: string;
  readonly toFault: (row: SqliteRow) => Fault;
}

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
  },
  {
    sql: "SELECT name AS user, live AS counted FROM mcpstate_user WHERE live <> 0 " +
      "AND NOT EXISTS (SELECT 1 FROM mcpstate_document WHERE user = name)",
    toFault: ({ user, counted }) => ({
      user: String(user),
      problem: `The user has no documents and is counted to have ${counted}.`,
    }),
  },
  {
    sql: "SELECT DISTINCT user FROM mcpstate_document WHERE typeof(user) <> 'text'",
    toFault: () => ({ problem: "There are documents whose user is no text." }),
  },
  ...["entry", "keyframe", "turn"].map((table): Check => ({
    sql: `SELECT count(*) AS rows FROM mcpstate_${table} ` +
      "WHERE doc NOT IN (SELECT doc FROM mcpstate_document) HAVING count(*) > 0",
    toFault: ({ rows }) => ({ problem: `The table mcpstate_${table} has ${rows} rows that belong to no document.` }),
  })),
];

/** Looks for every kind of fault, each on one consistent view. */
export async function* findFaults(connection: Connection): AsyncGenerator<Fault> {
  for (const { sql, toFault } of CHECKS) {
    for (const row of await connection.single(() => connection.all(sql))) yield toFault(row);
  }
}
