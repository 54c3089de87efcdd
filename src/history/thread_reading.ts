/**
 * A thread's session as of some point, or why there is none: for routes and hosts, decided where the tool decides it too.
 *
 * @module
 */

import { type Range, TurnPruned, VersionNotFound, VersionPruned } from "../document/errors.ts";
import type { JsonValue } from "../document/json.ts";
import type { HandleView } from "../store/view.ts";
import { isEvicted, type SessionState } from "./entry.ts";
import { readTurn, type TurnReading } from "./port.ts";
import type { ForkSource } from "./thread_fork.ts";
import { threadPast } from "./thread_past.ts";
import { toSession } from "./thread_state.ts";

/** A point in a thread's past: at most one of both; none is now. */
export interface ThreadPoint {
  /** As this turn ended. */
  readonly turn?: number;
  /** As of this version. */
  readonly version?: number;
}

/** A key with its value, and what wrote it. */
export interface ThreadValue {
  /** The key. */
  readonly key: string;
  /** The tool that wrote it. */
  readonly tool: string;
  /** Its place among all writes of the session. */
  readonly seq: number;
  /** The turn that wrote it; absent if none was ever named. */
  readonly turn?: number;
  /** The version that wrote it. */
  readonly version: number;
  /** The value. */
  readonly value: JsonValue;
}

/** What reading a thread at a point comes to. */
export type ThreadReading =
  /** Here it is. */
  | ThreadFound
  /** The turn never was, is no longer retained, or turns are not kept. */
  | Exclude<TurnReading, { readonly outcome: "retained" }>
  /** The version never was. */
  | { readonly outcome: "version_never"; readonly version: number; readonly currentVersion: number }
  /** The version is no longer retained. */
  | { readonly outcome: "version_pruned"; readonly version: number; readonly retained: Range };

/** A session as of some point. */
export interface ThreadFound {
  /** Which answer this is. */
  readonly outcome: "here";
  /** The session, the memory of evicted entries included. */
  readonly session: SessionState;
  /** What stands there, in the order of its keys. */
  readonly values: readonly ThreadValue[];
  /** The turn that was read, or in which this was written; 0 if none was ever named. */
  readonly turn: number;
  /** The version of the document that holds it; 0 for a turn before anything was written. */
  readonly version: number;
  /** Whether this will never read otherwise: a version, or a turn that has ended. */
  readonly isFinal: boolean;
}

/** What reading one key of it comes to. */
export type ThreadKeyReading =
  | { readonly outcome: "value"; readonly value: ThreadValue }
  /** It was dropped for want of room: no longer retained. */
  | { readonly outcome: "evicted"; readonly key: string; readonly tool: string }
  /** There was no such key at that point. */
  | { readonly outcome: "never"; readonly key: string };

/** One key of a session. */
export function readThreadKey({ session, values }: ThreadFound, key: string): ThreadKeyReading {
  const value = values.find((each) => each.key === key);
  if (value !== undefined) return { outcome: "value", value };
  if (!Object.hasOwn(session, key)) return { outcome: "never", key };
  return { outcome: "evicted", key, tool: session[key].tool };
}

/** The session at a point. @throws {HandleNotFound} where there is no such thread. */
export async function readThread(
  source: ForkSource,
  threadId: string,
  { turn, version }: ThreadPoint,
): Promise<ThreadReading> {
  if (turn !== undefined) return await readTurnOf(source, threadId, turn);
  try {
    const view = await source.viewAt(threadId, { version });
    return found(view, view.snapshot.turn, version !== undefined);
  } catch (error) {
    if (version === undefined) throw error;
    if (error instanceof VersionNotFound) {
      return { outcome: "version_never", version, currentVersion: error.currentVersion };
    }
    if (error instanceof VersionPruned) return { outcome: "version_pruned", version, retained: error.retained };
    throw error;
  }
}

async function readTurnOf(source: ForkSource, threadId: string, turn: number): Promise<ThreadReading> {
  const past = await threadPast(source, threadId);
  if (past.total === 0) await source.viewAt(threadId, {}); // throws where there is no such thread
  const reading = readTurn(past, turn);
  if (reading.outcome !== "retained") return reading;
  const owner = past.ownerOf(turn);
  if (owner === undefined) return { outcome: "here", session: {}, values: [], turn, version: 0, isFinal: true };
  try {
    return found(await source.viewAt(owner, { turn }), turn, !reading.isLast);
  } catch (error) {
    // Pruned between the two looks.
    if (!(error instanceof TurnPruned)) throw error;
    return { outcome: "pruned", turn, retained: (await threadPast(source, threadId)).retained };
  }
}

function found({ snapshot, keys }: HandleView, turn: number, isFinal: boolean): ThreadFound {
  const session = toSession(snapshot.state);
  const values = Object.entries(session).flatMap(([key, entry]): ThreadValue[] => {
    if (isEvicted(entry)) return [];
    const last = keys.get(key)?.last ?? { version: snapshot.version, turn: 0, writer: entry.tool };
    const { version } = last;
    // What no tool has published is as good as its writer's: any document can be read as a thread.
    const { tool, seq, turn = 0, value } = entry.seq > 0
      ? entry
      : { tool: last.writer, seq: version, turn: last.turn, value: entry.value };
    return [{ key, tool, seq, ...(turn === 0 ? {} : { turn }), version, value }];
  });
  return { outcome: "here", session, values, turn, version: snapshot.version, isFinal };
}
