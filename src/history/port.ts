/**
 * The port to a thread's past, and the one decision about a turn: it can be read, it is gone, or it never was.
 *
 * @module
 */

import type { SessionState } from "./entry.ts";

/** Where the past of threads is kept. */
export interface ThreadHistory {
  /** What is known of a thread's past: cheap, whatever its length. */
  snapshots(threadId: string): Promise<Snapshots>;
}

/** The past of one thread. */
export interface Snapshots {
  /** How many turns the thread has had. */
  readonly total: number;
  /** The turns that can still be read, as ascending ranges, 1-based. */
  readonly retained: readonly TurnRange[];
  /** The session state as a retained turn ended. */
  at(turn: number): Promise<SessionState>;
}

/** A closed range of turns. */
export interface TurnRange {
  /** The first. */
  readonly from: number;
  /** The last, included. */
  readonly to: number;
}

/** What becomes of the wish to read a turn. */
export type TurnReading =
  /** Here it is. `isLast` says that it may not have ended yet. */
  | { readonly outcome: "retained"; readonly turn: number; readonly isLast: boolean }
  /** It was, and is no longer kept. */
  | { readonly outcome: "pruned"; readonly turn: number; readonly retained: readonly TurnRange[] }
  /** It never was. */
  | { readonly outcome: "never"; readonly turn: number; readonly total: number }
  /** Nobody keeps turns here. */
  | { readonly outcome: "not_kept" };

/** The only place that tells a pruned turn from one that never was, and both from turns that nobody keeps. */
export function readTurn(snapshots: Pick<Snapshots, "total" | "retained"> | undefined, turn: number): TurnReading {
  if (snapshots === undefined) return { outcome: "not_kept" };
  const { total, retained } = snapshots;
  if (!Number.isInteger(turn) || turn < 1 || turn > total) return { outcome: "never", turn, total };
  return isWithin(retained, turn)
    ? { outcome: "retained", turn, isLast: turn === total }
    : { outcome: "pruned", turn, retained };
}

/** Whether one of the ranges holds a number. */
export function isWithin(ranges: readonly TurnRange[], turn: number): boolean {
  return ranges.some(({ from, to }) => from <= turn && turn <= to);
}
