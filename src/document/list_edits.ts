/**
 * One side's edits of a list, seen from the list that both sides started from.
 *
 * @module
 */

import type { Comparison } from "./comparison.ts";
import type { JsonArray, JsonValue } from "./json.ts";
import { sequenceScript } from "./sequence.ts";

/** A list in which every item of the base still has its counterpart. */
export interface ListEdits {
  /** What was inserted before item `i` of the base, or at the end if `i` is its length. */
  insertedAt(i: number): JsonArray;
  /** What item `i` of the base is now. */
  item(i: number): JsonValue;
  /** Where it is now. */
  index(i: number): number;
}

const NOTHING: JsonArray = Object.freeze([]);

/**
 * The edits that made `side` of `base`, or `undefined` if it cannot be told what became of each item: some were removed,
 * or replaced by a different number of others.
 */
export function alignEdits(base: JsonArray, side: JsonArray, comparison: Comparison): ListEdits | undefined {
  const inserted = new Map<number, JsonArray>();
  for (const { beforeStart, beforeEnd, afterStart, afterEnd } of sequenceScript(base, side, comparison)) {
    if (beforeStart === beforeEnd) inserted.set(beforeStart, side.slice(afterStart, afterEnd));
    else if (beforeEnd - beforeStart !== afterEnd - afterStart) return undefined;
  }
  const indexes = new Int32Array(base.length);
  let shift = 0;
  for (let i = 0; i < base.length; i++) {
    shift += inserted.get(i)?.length ?? 0;
    indexes[i] = i + shift;
  }
  return {
    insertedAt: (i) => inserted.get(i) ?? NOTHING,
    item: (i) => side[indexes[i]],
    index: (i) => indexes[i],
  };
}
