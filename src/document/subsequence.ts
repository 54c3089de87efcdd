/**
 * The longest common subsequence of two rows of numbers: exact while they are close, near enough and still fast when not.
 *
 * @module
 */

/** For each index of one row its partner's index in another, or −1. Partners ascend. */
export type Partners = Int32Array;

const MAX_EDITS = 512;
const MAX_STEPS = 1 << 23;

/**
 * Pairs equal numbers of two rows, in order, as many as can be. Where one row is a subsequence of the other, all of it is
 * paired, whatever the lengths; where hundreds of edits separate them, some pairs may be missed.
 */
export function commonSubsequence(a: Int32Array, b: Int32Array): Partners {
  return fewestEdits(a, b) ?? contained(a, b) ?? increasing(a, b);
}

/** The greedy algorithm of Myers (1986): time and space follow the number of edits. */
function fewestEdits(a: Int32Array, b: Int32Array): Partners | undefined {
  const furthest: Int32Array[] = [];
  let steps = 0;
  for (let edits = 0; edits <= MAX_EDITS && steps <= MAX_STEPS; edits++) {
    const row = new Int32Array(edits + 1);
    for (let i = 0; i <= edits; i++) {
      const diagonal = 2 * i - edits;
      const start = edits === 0 ? 0 : Math.max(inserted(furthest[edits - 1], i), removed(furthest[edits - 1], i));
      let x = start;
      while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x++;
      steps += x - start + 1;
      row[i] = x;
      if (x >= a.length && x - diagonal >= b.length) return retrace(a.length, furthest, i);
    }
    furthest.push(row);
  }
  return undefined;
}

/** How far along `a` a path to diagonal `i` gets by an insertion from the row of one edit less. */
function inserted(row: Int32Array, i: number): number {
  return i < row.length ? row[i] : -1;
}

/** The same by a removal. */
function removed(row: Int32Array, i: number): number {
  return i > 0 ? row[i - 1] + 1 : -1;
}

function retrace(length: number, furthest: readonly Int32Array[], last: number): Partners {
  const partners = new Int32Array(length).fill(-1);
  let x = length;
  let i = last;
  for (let edits = furthest.length; edits > 0; edits--) {
    const down = inserted(furthest[edits - 1], i);
    const right = removed(furthest[edits - 1], i);
    const diagonal = 2 * i - edits;
    while (x > Math.max(down, right)) partners[--x] = x - diagonal;
    if (down < right) {
      i--;
      x--;
    }
  }
  while (x > 0) partners[--x] = x;
  return partners;
}

/** All of the shorter row, if it is a subsequence of the longer one. */
function contained(a: Int32Array, b: Int32Array): Partners | undefined {
  const partners = new Int32Array(a.length).fill(-1);
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) partners[i++] = j++;
    else if (a.length <= b.length) j++;
    else i++;
  }
  return i === a.length || j === b.length ? partners : undefined;
}

/** The longest run of pairs that ascends, where the nth of equal numbers is paired with the nth only. */
function increasing(a: Int32Array, b: Int32Array): Partners {
  const targets = nthWithNth(a, b);
  const ends: number[] = [];
  const previous = new Int32Array(a.length).fill(-1);
  for (let i = 0; i < a.length; i++) {
    if (targets[i] < 0) continue;
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (targets[ends[middle]] < targets[i]) low = middle + 1;
      else high = middle;
    }
    if (low > 0) previous[i] = ends[low - 1];
    ends[low] = i;
  }
  const partners = new Int32Array(a.length).fill(-1);
  for (let i = ends.at(-1) ?? -1; i >= 0; i = previous[i]) partners[i] = targets[i];
  return partners;
}

function nthWithNth(a: Int32Array, b: Int32Array): Int32Array {
  const places = new Map<number, number[]>();
  for (let j = b.length - 1; j >= 0; j--) {
    const known = places.get(b[j]);
    if (known === undefined) places.set(b[j], [j]);
    else known.push(j);
  }
  return a.map((id) => places.get(id)?.pop() ?? -1);
}
