/**
 * Finds what is below the prefix of a store and is none of its records.
 *
 * @module
 */

import type { Fault } from "../maintenance.ts";
import type { Connection } from "./connection.ts";
import type { KvKey } from "./database.ts";

/** How many of a kind are told at most. */
const MOST_TOLD = 100;

/** Looks between the names of the store's records. */
export async function* findForeign(connection: Connection): AsyncGenerator<Fault> {
  const { prefix } = connection.keys;
  const names = [...connection.keys.names].sort();
  const starts: KvKey[] = [[prefix], ...names.map((name) => [prefix, `${name}\0`])];
  for (const [i, start] of starts.entries()) {
    const end: KvKey = i < names.length ? [prefix, names[i]] : [`${prefix}\0`];
    for (const { key } of await connection.list({ start, end }, MOST_TOLD)) {
      yield { problem: `The key ${key.map(String).join(" / ")} is none of the store's.` };
    }
  }
}
