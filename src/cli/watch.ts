/**
 * `watch`: what happens to a user's documents, as it happens.
 *
 * @module
 */

import { StateError } from "../document/errors.ts";
import type { JsonPatch } from "../document/json_patch.ts";
import type { JsonObject } from "../document/json.ts";
import type { HandleStore } from "../store/store.ts";
import type { ChangeEvent, WatchEvent } from "../store/watch.ts";
import type { Call } from "./call.ts";
import { changeLines } from "./change_lines.ts";
import { userOf } from "./flags.ts";
import { changeHeading } from "./log.ts";
import { openStore } from "./open_store.ts";
import { STOP_SIGNALS } from "./stop.ts";
import { jsonText, printable, timeText, tinted } from "./terminal.ts";

/** Prints until it is stopped. */
export async function watch(call: Call): Promise<number> {
  const [handle] = call.arguments;
  const user = await userOf(call);
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  for (const signal of STOP_SIGNALS) Deno.addSignalListener(signal, stop);
  await using store = await openStore(call);
  const events = store.watch(user, { handle, since: call.text("since"), signal: stopping.signal });
  if (handle !== undefined) await store.get(handle, { user }); // says so if there is no such document
  console.error("mcpstate: watching; Ctrl-C to stop.");
  for await (const event of events) {
    const change = event.type === "change" ? await readChange(store, user, event) : undefined;
    console.log(call.isSet("json") ? jsonText(toWire(event, change)) : toText(event, change));
  }
  for (const signal of STOP_SIGNALS) Deno.removeSignalListener(signal, stop);
  return 0;
}

/** What an event changed, if that can still be read. */
interface Read {
  readonly before: JsonObject;
  readonly patch: JsonPatch;
}

async function readChange(
  store: HandleStore,
  user: string,
  { handle, version }: ChangeEvent,
): Promise<Read | undefined> {
  try {
    const since = version - 1;
    const { changes } = await store.changes(handle, { user, since, limit: 1 });
    const before = since === 0 ? {} : (await store.get(handle, { user, version: since })).state;
    return { before, patch: changes[0].patch };
  } catch (error) {
    if (error instanceof StateError) return undefined; // deleted or pruned meanwhile
    throw error;
  }
}

function toText(event: WatchEvent, read: Read | undefined): string {
  switch (event.type) {
    case "change": {
      const lines = read === undefined ? [tinted("dim", "no longer retained")] : changeLines(read.before, read.patch);
      return [`${printable(event.handle)}  ${changeHeading(event)}`, ...lines.map((line) => `  ${line}`)].join("\n");
    }
    case "deleted":
    case "expired":
      return `${printable(event.handle)}  ${tinted("warning", event.type)}  ${timeText(event.at)}`;
    case "gap":
      return tinted(
        "warning",
        `something was missed (${event.reason})${event.handle === undefined ? "" : `: ${printable(event.handle)}`}`,
      );
  }
}

function toWire(event: WatchEvent, read: Read | undefined): Record<string, unknown> {
  if (event.type !== "change") return { ...event };
  return { ...event, turn: event.turn || null, patch: read?.patch ?? null };
}
