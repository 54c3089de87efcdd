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
import { onStop } from "./stop.ts";
import { jsonText, printable, timeText, tinted } from "./terminal.ts";

/** Prints until it is stopped. */
export async function watch(call: Call): Promise<number> {
  const [handle] = call.arguments;
  const user = await userOf(call);
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  const ignore = onStop(stop);
  await using store = await openStore(call);
  const events = store.watch(user, { handle, since: call.text("since"), signal: stopping.signal });
  if (handle !== undefined) await store.get(handle, { user }); // says so if there is no such document
  console.error("mcpstate: watching; Ctrl-C to stop.");
  for await (const event of events) {
    console.log(call.isSet("json") ? jsonText(await toWire(store, user, event)) : await toText(store, user, event));
  }
  ignore();
  return 0;
}

/** What is read; `undefined` where it was deleted or pruned meanwhile. */
async function unlessGone<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof StateError) return undefined;
    throw error;
  }
}

async function readPatch(store: HandleStore, user: string, { handle, version }: ChangeEvent): Promise<JsonPatch> {
  return (await store.changes(handle, { user, since: version - 1, limit: 1 })).changes[0].patch;
}

async function readBefore(store: HandleStore, user: string, { handle, version }: ChangeEvent): Promise<JsonObject> {
  return version === 1 ? {} : (await store.get(handle, { user, version: version - 1 })).state;
}

async function toText(store: HandleStore, user: string, event: WatchEvent): Promise<string> {
  switch (event.type) {
    case "change": {
      const lines =
        await unlessGone(async () =>
          changeLines(await readBefore(store, user, event), await readPatch(store, user, event))
        ) ?? [tinted("dim", "no longer retained")];
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

async function toWire(store: HandleStore, user: string, event: WatchEvent): Promise<Record<string, unknown>> {
  if (event.type !== "change") return { ...event };
  const patch = await unlessGone(() => readPatch(store, user, event));
  return { ...event, turn: event.turn || null, patch: patch ?? null };
}
