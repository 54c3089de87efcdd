/**
 * Texts to fill states with: the same for the same seed, and nothing that compresses well.
 *
 * @module
 */

/** A text of so many ASCII letters. */
export function text(bytes: number, seed = 0): string {
  let random = seed + 1;
  return Array.from({ length: bytes }, () => String.fromCharCode(97 + (random = random * 48271 % 0x7fffffff) % 26))
    .join("");
}
