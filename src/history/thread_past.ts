/**
 * The turns of a thread that is kept as a document, those of the threads that it was forked from included.
 *
 * @module
 */

import type { HandleView } from "../store/view.ts";
import type { SessionState } from "./entry.ts";
import type { Snapshots, TurnRange } from "./port.ts";
import { forkOriginOf } from "./thread_state.ts";

/** What is read of threads here. */
export interface PastSource {
  /** A thread's document as it is; `undefined` if there is none (any more). */
  view(threadId: string): Promise<HandleView | undefined>;
  /** The session as a retained turn of the thread's own ended. */
  at(threadId: string, turn: number): Promise<SessionState>;
}

/** The past of a thread, and where each part of it is kept. */
export interface ThreadPast extends Snapshots {
  /** The thread whose document holds a turn; `undefined` for a turn before anything was written. */
  ownerOf(turn: number): string | undefined;
}

const NO_PAST: ThreadPast = {
  total: 0,
  retained: [],
  ownerOf: () => undefined,
  at: () => Promise.resolve({}),
};

/**
 * What is known of a thread's turns: one look at its document, and one at each that it was forked from, one from the other.
 *
 * A document that was not created at `createdAt` is another one, which has taken the name.
 */
export async function threadPast(source: PastSource, threadId: string, createdAt?: string): Promise<ThreadPast> {
  const view = await source.view(threadId);
  if (view === undefined || createdAt !== undefined && view.snapshot.createdAt !== createdAt) return NO_PAST;
  const { snapshot: { state }, now: { turn: total }, firstTurn, oldest } = view;
  const own = { from: Math.max(oldest.turn, firstTurn), to: total };
  if (total === 0) return NO_PAST;
  const origin = forkOriginOf(state);
  if (origin === undefined) {
    const before = { from: 1, to: firstTurn - 1 };
    return past(source, total, joined([before, own]), (turn) => turn < firstTurn ? undefined : threadId);
  }
  const earlier = await threadPast(source, origin.thread, origin.createdAt);
  const retained = earlier.retained.map(({ from, to }) => ({ from, to: Math.min(to, origin.turn - 1) }));
  return past(
    source,
    total,
    joined([...retained, own]),
    (turn) => turn < origin.turn ? earlier.ownerOf(turn) : threadId,
  );
}

function past(
  source: PastSource,
  total: number,
  retained: readonly TurnRange[],
  ownerOf: (turn: number) => string | undefined,
): ThreadPast {
  return {
    total,
    retained,
    ownerOf,
    async at(turn) {
      const owner = ownerOf(turn);
      return owner === undefined ? {} : await source.at(owner, turn);
    },
  };
}

/** Ascending ranges without those that are empty, and those that touch made one. */
function joined(ranges: readonly TurnRange[]): readonly TurnRange[] {
  const result: TurnRange[] = [];
  for (const { from, to } of ranges) {
    const last = result.at(-1);
    if (from > to) continue;
    if (last !== undefined && from <= last.to + 1) result[result.length - 1] = { from: last.from, to };
    else result.push({ from, to });
  }
  return result;
}
