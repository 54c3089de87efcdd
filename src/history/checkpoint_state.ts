/**
 * Reads the session state out of a checkpoint, as the graph itself would.
 *
 * @module
 */

import { isObject } from "../document/json.ts";
import type { CheckpointConfig, CheckpointSource, CheckpointTuple } from "./checkpoint_source.ts";
import type { EvictedEntry, mergeToolState, SessionState, StateEntry } from "./entry.ts";

/** Merges a write into a session: the reducer of the channel. */
export type SessionReducer = typeof mergeToolState;

/** Writes of this task are not those of a node: the graph takes them as part of the checkpoint. */
const NULL_TASK = "00000000-0000-0000-0000-000000000000";

/** Reads a channel of session state at a checkpoint. A channel that was never written is an empty session. */
export async function readSession(
  source: CheckpointSource,
  config: CheckpointConfig,
  tuple: CheckpointTuple,
  channel: string,
  reduce: SessionReducer,
): Promise<SessionState> {
  let session = await storedSession(source, config, tuple, channel, reduce);
  for (const [task, written, value] of tuple.pendingWrites ?? []) {
    if (task === NULL_TASK && written === channel) session = apply(session, value, reduce);
  }
  return session;
}

async function storedSession(
  source: CheckpointSource,
  config: CheckpointConfig,
  { checkpoint }: CheckpointTuple,
  channel: string,
  reduce: SessionReducer,
): Promise<SessionState> {
  const { channel_values: values = {}, channel_versions: versions = {} } = checkpoint;
  if (Object.hasOwn(values, channel)) return toSession(values[channel]);
  // A delta channel has versions and no value; any other that was written has both.
  if (versions[channel] === undefined || source.getDeltaChannelHistory === undefined) return {};
  const histories = await source.getDeltaChannelHistory({ config, channels: [channel] });
  const { seed, writes = [] } = histories[channel] ?? {};
  return writes.reduce((session, [, , value]) => apply(session, value, reduce), toSession(seed));
}

function apply(session: SessionState, value: unknown, reduce: SessionReducer): SessionState {
  const overwrite = overwriteOf(value);
  return overwrite === undefined ? reduce(session, toSession(value)) : toSession(overwrite.value);
}

/** An `Overwrite` of LangGraph, which bypasses the reducer, in either of the forms that savers restore. */
function overwriteOf(value: unknown): { readonly value: unknown } | undefined {
  if (!isObject(value)) return undefined;
  if ("__overwrite__" in value) return { value: value.__overwrite__ };
  return value.type === "__overwrite__" && "value" in value ? { value: value.value } : undefined;
}

/** What a saver restored, without anything that is no entry. A `DeltaSnapshot` holds the session in `value`. */
export function toSession(restored: unknown): SessionState {
  if (!isObject(restored)) return {};
  if (restored.lg_name === "DeltaSnapshot") return toSession(restored.value);
  const entries: [string, StateEntry | EvictedEntry][] = [];
  for (const [key, entry] of Object.entries<unknown>(restored)) if (isEntry(entry)) entries.push([key, entry]);
  return Object.fromEntries(entries);
}

function isEntry(entry: unknown): entry is StateEntry | EvictedEntry {
  return isObject(entry) && typeof entry.tool === "string" && ("value" in entry || entry.evicted === true);
}

/** The highest turn that an entry of a stored session names; 0 if none does. */
export function lastTurnNamed({ checkpoint }: CheckpointTuple, channel: string): number {
  let last = 0;
  for (const { turn = 0 } of Object.values(toSession(checkpoint.channel_values?.[channel]))) {
    last = Math.max(last, turn);
  }
  return last;
}
