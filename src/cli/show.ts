/**
 * `show`: a document as it is, or as of a version, a turn or a time.
 *
 * @module
 */

import { parsePath, resolvePath } from "../document/path.ts";
import type { Snapshot } from "../document/snapshot.ts";
import type { GetOptions } from "../store/options.ts";
import type { Call } from "./call.ts";
import { userOf } from "./flags.ts";
import { openStore } from "./open_store.ts";
import { bytesText, jsonText, printable, timeText, tinted } from "./terminal.ts";
import { toWireInfo } from "./wire.ts";

/** Prints one. */
export async function show(call: Call): Promise<number> {
  const [handle] = call.arguments;
  const options: GetOptions = {
    user: await userOf(call),
    version: call.wholeNumber("version", 1),
    turn: call.wholeNumber("turn", 1),
    at: call.text("at"),
  };
  const path = call.text("path");
  await using store = await openStore(call);
  const snapshot = await store.get(handle, options);
  const value = path === undefined ? snapshot.state : resolvePath(snapshot.state, parsePath(path));
  if (call.isSet("json")) {
    const what = path === undefined ? { state: value } : { path, value };
    const { currentVersion, oldestVersion } = snapshot;
    const versions = { current_version: currentVersion, oldest_version: oldestVersion };
    console.log(jsonText({ ...toWireInfo(snapshot), ...versions, ...what }, 2));
    return 0;
  }
  console.log(`${heading(snapshot)}\n\n${jsonText(value, 2)}`);
  return 0;
}

function heading(snapshot: Snapshot): string {
  const { handle, title, version, currentVersion, oldestVersion, updatedAt, lastWriter, turn, bytes, expiresAt } =
    snapshot;
  const isCurrent = version === currentVersion;
  const which = isCurrent ? `version ${version}, the current one` : `version ${version} of ${currentVersion}`;
  return [
    `${tinted("strong", printable(handle))}${title === undefined ? "" : `  ${printable(title)}`}`,
    tinted(isCurrent ? "dim" : "warning", which),
    tinted(
      "dim",
      `${timeText(updatedAt)} by ${printable(lastWriter)}${turn === 0 ? "" : `, turn ${turn}`}, ${bytesText(bytes)}`,
    ),
    ...oldestVersion > 1 ? [tinted("dim", `versions from ${oldestVersion} are retained`)] : [],
    ...expiresAt === undefined ? [] : [tinted("warning", `expires ${timeText(expiresAt)}`)],
  ].join("\n");
}
