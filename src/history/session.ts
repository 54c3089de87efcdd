/**
 * Session state as a view that can be read.
 *
 * @module
 */

import type { JsonValue } from "../document/json.ts";
import type { KeyHistory, KeyWrites } from "../document/key_writes.ts";
import { type EvictedEntry, isEvicted, type SessionState, type StateEntry } from "./entry.ts";
import type { EvictedKey, StateView } from "./view.ts";

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
  const evicted = new Map<string, EvictedKey>();
  for (const [key, entry] of Object.entries(session)) {
    if (!isAllowed(key)) continue;
    if (isEvicted(entry)) {
      const { turn = 0, droppedIn = turn + 1, tool } = entry;
      evicted.set(key, { turn, until: droppedIn, writer: tool });
    } else state.push([key, entry.value ?? null]);
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
  const { seq, tool, turn = 0, versions = 1, turnsWritten = 0, turnsChanged, lost } = entry;
  // Of an entry that others counted, only the last turn is known.
  const recentTurns = turnsChanged ?? (turn === 0 ? [] : [turn]);
  const turns = turnsChanged?.length ?? Math.min(versions, turnsWritten);
  const until = recentTurns.at(-1) ?? 0;
  const before = lost ?? (turns > 1 ? { turn: recentTurns.at(-2) ?? until - 1, until } : undefined);
  // Only where every turn changed it once is it known what stood before the last change.
  const isEachOnce = before !== undefined && versions === recentTurns.length;
  return {
    versions,
    turns,
    first: { version: 0, turn: turnsChanged?.[0] ?? 0 },
    last: { version: seq, turn: until, writer: tool },
    recentTurns,
    ...(before === undefined ? {} : { before }),
    ...(isEachOnce ? { previous: { turn: before.turn, until: { version: seq, turn: before.until } } } : {}),
  };
}
