/**
 * A walk over the keys of every server.
 *
 * @module
 */

import type { Caller } from "./caller.ts";
import { list, text } from "./records.ts";

/** How many keys a scan looks at in one step. */
const SCAN_STEP = 1_000;

/** All keys that match, in no order, some perhaps twice. @throws {BackendError} */
export async function* scan(caller: Caller, pattern: string): AsyncGenerator<string> {
  for await (const keys of scanPages(caller, pattern)) yield* keys;
}

/** The same, as they come. */
export async function* scanPages(caller: Caller, pattern: string): AsyncGenerator<readonly string[]> {
  for (const node of await caller.nodes()) {
    let cursor = "0";
    do {
      const command = ["SCAN", cursor, "MATCH", pattern, "COUNT", String(SCAN_STEP)];
      const [next, keys] = list(await caller.ask(command, undefined, node));
      cursor = text(next);
      yield list(keys).map(text);
    } while (cursor !== "0");
  }
}
