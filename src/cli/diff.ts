/**
 * `diff`: what changed from one version to another.
 *
 * @module
 */

import { diff as difference } from "../document/diff.ts";
import { type Call, toWholeNumber } from "./call.ts";
import { changeLines } from "./change_lines.ts";
import { userOf } from "./flags.ts";
import { openStore } from "./open_store.ts";
import { jsonText, printable, tinted } from "./terminal.ts";

/** Prints the difference of two versions; of one and the current one, if only one is named. */
export async function diff(call: Call): Promise<number> {
  const [handle, a, b] = call.arguments;
  const user = await userOf(call);
  const [from, to] = [toWholeNumber("A", a, 1), b === undefined ? undefined : toWholeNumber("B", b, 1)];
  await using store = await openStore(call);
  const [before, after] = [
    await store.get(handle, { user, version: from }),
    await store.get(handle, { user, version: to }),
  ];
  const patch = difference(before.state, after.state);
  if (call.isSet("json")) {
    console.log(jsonText({ handle, from: before.version, to: after.version, patch }, 2));
    return 0;
  }
  const what = `from version ${before.version} to version ${after.version}`;
  console.log(`${tinted("strong", printable(handle))}  ${what}${patch.length === 0 ? ": no difference" : ""}`);
  for (const line of changeLines(before.state, patch)) console.log(line);
  return 0;
}
