/**
 * `purge`: deletes everything of a user.
 *
 * @module
 */

import { checkUser } from "../document/checks.ts";
import type { Call } from "./call.ts";
import { openStore } from "./open_store.ts";
import { printable } from "./terminal.ts";
import { UsageError } from "./usage.ts";

/** Deletes, once it is sure. Answers 1 if the answer was no. */
export async function purge(call: Call): Promise<number> {
  const user = await call.checked("user", checkUser);
  if (user === undefined) throw new UsageError("purge needs --user: whose documents are to be deleted.");
  const name = printable(user);
  await using store = await openStore(call);
  if (!call.isSet("yes")) {
    if (!Deno.stdin.isTerminal()) throw new UsageError("purge deletes for good: say --yes if that is meant.");
    if (!confirm(`Delete everything of ${name}, for good?`)) {
      console.error("mcpstate: nothing was deleted.");
      return 1;
    }
  }
  const purged = await store.purge(user);
  console.log(`Deleted ${purged} documents of ${name} with all their history.`);
  return 0;
}
