/**
 * Session state as a view that can be read.
 *
 * @module
 */

import type { JsonValue } from "../document/json.ts";
import type { KeyHistory, KeyWrites } from "../document/key_writes.ts";
import { type EvictedEntry, isEvicted, type SessionState, type StateEntry } from "./entry.ts";
import type { StateView } from "./view.ts";

/** What a session's view is made of, beside the session. */
export interface SessionViewOptions extends Pick<StateView, "where" | "readable" | "expected"> {
  /** The session as it is now; absent where that is what is viewed. */
  readonly now?: SessionState;
  /** Which keys may be seen. */
  readonly isAllowed: (key: string) => boolean;
}

/** A session as a view: of each entry its value, and its counts as the past of its key. */
export function toSessionView(session: SessionState, options: SessionViewOptions): StateView {
  const { now, isAllowed, where, readable, expected } = options;
  const state: [string, JsonValue][] = [];
  const evicted = new Map<string, { readonly turn: number; readonly writer: string }>();
  for (const [key, entry] of Object.entries(session)) {
    if (!isAllowed(key)) continue;
    if (isEvicted(entry)) evicted.set(key, { turn: entry.turn ?? 0, writer: entry.tool });
    else state.push([key, entry.value ?? null]);
  }
  return {
    state: Object.fromEntries(state),
    keys: toKeyHistory(session, isAllowed),
    where,
    ...(now === undefined ? {} : { keysNow: toKeyHistory(now, isAllowed) }),
    ...(readable === undefined ? {} : { readable }),
    evicted,
    ...(expected === undefined ? {} : { expected }),
  };
}

function toKeyHistory(session: SessionState, isAllowed: (key: string) => boolean): KeyHistory {
  return new Map(
    Object.entries(session).filter(([key]) => isAllowed(key)).map(([key, entry]) => [key, toKeyWrites(entry)]),
  );
}

function toKeyWrites(entry: StateEntry | EvictedEntry): KeyWrites {
  const { seq, tool, turn = 0, versions = 1, turnsWritten = 0, turnsChanged } = entry;
  // Of an entry that others counted, only the last turn is known.
  const recentTurns = turnsChanged ?? (turn === 0 ? [] : [turn]);
  const [before, at] = recentTurns.slice(-2);
  // Only where every turn changed it once is it known what stood before the last change.
  const isEachOnce = at !== undefined && versions === recentTurns.length;
  return {
    versions,
    turns: turnsChanged?.length ?? Math.min(versions, turnsWritten),
    first: { version: 0, turn: turnsChanged?.[0] ?? 0 },
    last: { version: seq, turn: recentTurns.at(-1) ?? 0, writer: tool },
    recentTurns,
    ...(isEachOnce ? { previous: { turn: before, until: { version: seq, turn: at } } } : {}),
  };
}
