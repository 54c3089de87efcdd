/**
 * What a store has done, in numbers: for whoever watches over it.
 *
 * @module
 */

/** Numbers since the store was opened. None ever goes back. */
export interface StoreCounts {
  /** How often a state was in the cache and still as the backend says, so that at most what came after it was read. */
  readonly cacheHits: number;
  /** How often a state was put together from what the backend keeps. */
  readonly cacheMisses: number;
  /** Saves, restores and deletions that were refused as stale. */
  readonly conflicts: number;
  /** Writes that lost a race to another process and were planned anew, once for each race. */
  readonly retries: number;
  /** Writes with a request id that were done before, and answered with the first result. */
  readonly replays: number;
  /** Reads of versions and turns that are no longer retained. */
  readonly prunedReads: number;
}

/** The same, to count in. */
export type Counts = { -readonly [Name in keyof StoreCounts]: number };

/** Nothing done yet. */
export function startCounts(): Counts {
  return { cacheHits: 0, cacheMisses: 0, conflicts: 0, retries: 0, replays: 0, prunedReads: 0 };
}
