/**
 * `log`: who wrote what and when, newest first.
 *
 * @module
 */

import type { JsonObject } from "../document/json.ts";
import { applyJsonPatch } from "../document/json_patch.ts";
import type { Change, Snapshot } from "../document/snapshot.ts";
import type { HandleStore } from "../store/store.ts";
import type { Call } from "./call.ts";
import { changeLines } from "./change_lines.ts";
import { userOf } from "./flags.ts";
import { openStore } from "./open_store.ts";
import { jsonText, printable, timeText, tinted } from "./terminal.ts";
import { toWireChange } from "./wire.ts";

const DEFAULT_LIMIT = 20;

/** Prints the last changes, or those after a version. */
export async function log(call: Call): Promise<number> {
  const [handle] = call.arguments;
  const user = await userOf(call);
  const limit = call.wholeNumber("limit", 1, 1000) ?? DEFAULT_LIMIT;
  const since = call.wholeNumber("since", 0);
  await using store = await openStore(call);
  const past = await readPast(store, handle, user, limit, since);
  if (call.isSet("json")) {
    const { changes, currentVersion, oldestVersion } = past;
    console.log(
      jsonText({
        handle,
        current_version: currentVersion,
        oldest_version: oldestVersion,
        changes: changes.toReversed().map(toWireChange),
      }, 2),
    );
    return 0;
  }
  const entries: string[] = [];
  let { state } = past;
  for (const change of past.changes) {
    entries.push([changeHeading(change), ...changeLines(state, change.patch).map((line) => `  ${line}`)].join("\n"));
    state = applyJsonPatch({ state, bytes: 0 }, change.patch).state;
  }
  if (past.isCut) {
    entries.unshift(tinted("dim", `what came before version ${past.oldestVersion} is no longer retained`));
  }
  console.log(entries.toReversed().join("\n\n"));
  return 0;
}

/** A change without what it changed. */
export function changeHeading(
  { version, at, writer, turn }: Pick<Change, "version" | "at" | "writer" | "turn">,
): string {
  const where = turn === 0 ? "" : `  turn ${turn}`;
  return `${tinted("strong", `version ${version}`)}  ${timeText(at)}  by ${printable(writer)}${where}`;
}

interface Past {
  readonly changes: readonly Change[];
  /** What the first of them was made on. */
  readonly state: JsonObject;
  readonly currentVersion: number;
  readonly oldestVersion: number;
  /** Whether there was more, which is no longer retained. */
  readonly isCut: boolean;
}

async function readPast(
  store: HandleStore,
  handle: string,
  user: string,
  limit: number,
  since: number | undefined,
): Promise<Past> {
  const head: Snapshot = await store.get(handle, { user });
  // The change that made the oldest retained version is a change from one that is not retained.
  const oldest = head.oldestVersion === 1 ? 0 : head.oldestVersion;
  const from = since ?? Math.max(oldest, head.version - limit);
  const { changes, currentVersion, oldestVersion } = await store.changes(handle, { user, since: from, limit });
  const state = from === 0 ? {} : (await store.get(handle, { user, version: from })).state;
  return { changes, state, currentVersion, oldestVersion, isCut: since === undefined && from === oldest && oldest > 0 };
}
