/**
 * A command line that makes no sense, and what was probably meant.
 *
 * @module
 */

/** Ends the program with exit code 2 and its message. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** " Did you mean …?" for a word that is close to one of the known ones, else nothing. */
export function didYouMean(word: string, known: readonly string[]): string {
  const [nearest] = known
    .map((candidate) => ({ candidate, edits: distance(word, candidate) }))
    .filter(({ candidate, edits }) => edits <= Math.max(1, Math.floor(candidate.length / 3)))
    .sort((a, b) => a.edits - b.edits);
  return nearest === undefined ? "" : ` Did you mean ${nearest.candidate}?`;
}

/** How many characters have to be put in, taken out or changed (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[b.length];
}
