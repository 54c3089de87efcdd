/**
 * Forks a thread: what the new one begins with, and where its earlier turns are read.
 *
 * @module
 */

import { InvalidInput, NoTurnHistory, TurnNotFound, TurnPruned } from "../document/errors.ts";
import { equal, type JsonObject, ownValue } from "../document/json.ts";
import type { GetOptions } from "../store/options.ts";
import type { KeyUpdate } from "../store/update.ts";
import type { HandleView } from "../store/view.ts";
import { readTurn } from "./port.ts";
import { type PastSource, threadPast } from "./thread_past.ts";
import { FORK_KEY, type ForkOrigin } from "./thread_state.ts";

/** Where a thread is forked: as a turn ended (or what it has come to so far), or at a version. */
export type ForkPoint = { readonly turn: number } | { readonly version: number };

/** What is read of a store here. */
export interface ForkSource extends PastSource {
  /** A version of a thread's document. @throws as `HandleStore.view`. */
  viewAt(threadId: string, point: Omit<GetOptions, "user">): Promise<HandleView>;
}

/** What a fork begins with. */
export interface ForkStart {
  /** The state of its document. */
  readonly state: JsonObject;
  /** The turn that it is in; 0 if none was ever named. */
  readonly turn: number;
}

/**
 * What a fork of a thread begins with.
 *
 * @throws {TurnNotFound | TurnPruned | NoTurnHistory} for a turn that cannot be read; `HandleNotFound` or `HandleExpired`
 * for a thread that is not there; and as `HandleStore.get`.
 */
export async function startOf(source: ForkSource, threadId: string, point: ForkPoint): Promise<ForkStart> {
  const owner = "turn" in point ? await ownerOf(source, threadId, point.turn) : threadId;
  if (owner === undefined) {
    // Nothing had been written: the fork begins with nothing, and what is before it is as empty there.
    const view = await source.viewAt(threadId, {});
    return startAt(view.snapshot.createdAt, {}, threadId, "turn" in point ? point.turn : 0);
  }
  const view = await source.viewAt(owner, point);
  const { createdAt, state } = view.snapshot;
  return startAt(createdAt, state, owner, "turn" in point ? point.turn : view.snapshot.turn);
}

function startAt(createdAt: string, state: JsonObject, thread: string, turn: number): ForkStart {
  const origin: ForkOrigin = { thread, turn, createdAt };
  return { state: { ...state, [FORK_KEY]: { ...origin } }, turn };
}

/** The keys that make version 1 of a fork; none if that very fork was made already. @throws {InvalidInput} if the name is taken. */
export function planFork(before: JsonObject, version: number, start: JsonObject, forkId: string): KeyUpdate {
  if (version === 1) return start;
  const made = ownValue(before, FORK_KEY);
  if (made !== undefined && equal(made, start[FORK_KEY])) return {};
  throw new InvalidInput("fork", `There is a thread ${JSON.stringify(forkId)} already: name one that is new.`);
}

/** The thread that holds a turn: a fork of a fork begins where the turn was written. `undefined` for one before anything was. */
async function ownerOf(source: ForkSource, threadId: string, turn: number): Promise<string | undefined> {
  const past = await threadPast(source, threadId);
  const reading = readTurn(past, turn);
  switch (reading.outcome) {
    case "retained":
      return past.ownerOf(turn);
    case "pruned":
      throw new TurnPruned(turn, past.retained.at(-1) ?? { from: past.total, to: past.total });
    case "never":
      if (past.total > 0) throw new TurnNotFound(turn, 1, past.total);
      await source.viewAt(threadId, {}); // throws where there is no such thread
      throw new NoTurnHistory();
    case "not_kept":
      throw new NoTurnHistory();
  }
}
