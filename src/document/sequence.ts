/**
 * Lists as sequences: which stretches of one became which stretches of another.
 *
 * @module
 */

import { Comparison } from "./comparison.ts";
import type { JsonArray } from "./json.ts";
import { commonSubsequence } from "./subsequence.ts";

/** A stretch of `before` that became a stretch of `after`, ends excluded. One of them may be empty. */
export interface Hunk {
  readonly beforeStart: number;
  readonly beforeEnd: number;
  readonly afterStart: number;
  readonly afterEnd: number;
}

/**
 * How a list became another, in order; between the hunks, items are equal pair by pair. The time is bounded, so two long
 * and much reordered lists may share more than is found. If items were only inserted, every hunk is an insertion.
 */
export function sequenceScript(
  before: JsonArray,
  after: JsonArray,
  comparison: Comparison = new Comparison(),
): readonly Hunk[] {
  const whole = trim(before, after, comparison);
  const [removed, inserted] = [whole.beforeEnd - whole.beforeStart, whole.afterEnd - whole.afterStart];
  if (removed === 0 && inserted === 0) return [];
  if (removed === 0 || inserted === 0 || removed + inserted === 2) return [whole];

  const a = ids(before, whole.beforeStart, whole.beforeEnd, comparison);
  const b = ids(after, whole.afterStart, whole.afterEnd, comparison);
  const moved = bySubsequence(a, b, whole);
  if (removed !== inserted) return moved;
  // A board whose fields change in place: no item has moved, though equal fields could be paired across places.
  const inPlace = byPosition(a, b, whole);
  return editCount(inPlace) <= editCount(moved) ? inPlace : moved;
}

/** How many items were inserted, removed or replaced. */
export function editCount(script: readonly Hunk[]): number {
  let count = 0;
  for (const { beforeStart, beforeEnd, afterStart, afterEnd } of script) {
    count += Math.max(beforeEnd - beforeStart, afterEnd - afterStart);
  }
  return count;
}

function trim(before: JsonArray, after: JsonArray, comparison: Comparison): Hunk {
  let start = 0;
  let [beforeEnd, afterEnd] = [before.length, after.length];
  while (start < beforeEnd && start < afterEnd && comparison.equal(before[start], after[start])) start++;
  while (
    beforeEnd > start && afterEnd > start && comparison.equal(before[beforeEnd - 1], after[afterEnd - 1])
  ) {
    beforeEnd--;
    afterEnd--;
  }
  return { beforeStart: start, beforeEnd, afterStart: start, afterEnd };
}

function ids(list: JsonArray, start: number, end: number, comparison: Comparison): Int32Array {
  const row = new Int32Array(end - start);
  for (let i = 0; i < row.length; i++) row[i] = comparison.id(list[start + i]);
  return row;
}

function bySubsequence(a: Int32Array, b: Int32Array, whole: Hunk): Hunk[] {
  // What only one list holds has no partner. Without it, what is left is mostly alike, even if every item was edited.
  const keptA = indexesIn(a, b);
  const keptB = indexesIn(b, a);
  const partners = commonSubsequence(keptA.map((i) => a[i]), keptB.map((j) => b[j]));
  const hunks = new Hunks(whole);
  partners.forEach((partner, i) => {
    if (partner >= 0) hunks.pair(keptA[i], keptB[partner]);
  });
  return hunks.end(a.length, b.length);
}

function byPosition(a: Int32Array, b: Int32Array, whole: Hunk): Hunk[] {
  const hunks = new Hunks(whole);
  a.forEach((id, i) => {
    if (id === b[i]) hunks.pair(i, i);
  });
  return hunks.end(a.length, b.length);
}

/** The indexes of what `other` holds too. Ids are small, so a table serves as the set. */
function indexesIn(row: Int32Array, other: Int32Array): Int32Array {
  const held = new Uint8Array(other.reduce((max, id) => Math.max(max, id), 0) + 1);
  for (const id of other) held[id] = 1;
  const indexes: number[] = [];
  for (let i = 0; i < row.length; i++) if (held[row[i]] === 1) indexes.push(i);
  return Int32Array.from(indexes);
}

/** Collects what lies between pairs. */
class Hunks {
  readonly #hunks: Hunk[] = [];
  #a = 0;
  #b = 0;
  constructor(readonly whole: Hunk) {}

  pair(a: number, b: number): void {
    this.end(a, b);
    this.#a = a + 1;
    this.#b = b + 1;
  }

  end(a: number, b: number): Hunk[] {
    const { beforeStart, afterStart } = this.whole;
    if (a > this.#a || b > this.#b) {
      this.#hunks.push({
        beforeStart: beforeStart + this.#a,
        beforeEnd: beforeStart + a,
        afterStart: afterStart + this.#b,
        afterEnd: afterStart + b,
      });
    }
    return this.#hunks;
  }
}
