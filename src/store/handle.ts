/**
 * Handles: how they are minted, and what was probably meant by one that is wrong.
 *
 * @module
 */

/** The digits of lower-case base32 (RFC 4648, section 6). */
const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";

/** A new handle: `{kind}_` and so many base32 characters from a CSPRNG. */
export function mintHandle(kind: string, length: number): string {
  return `${kind}_${randomText(length)}`;
}

/** A random name for a write: 80 bits. */
export function mintWriteId(): string {
  return randomText(16);
}

// Asking the system for bytes costs more than using them, so they are fetched by the block and used once.
const pool = new Uint8Array(4096);
let used = pool.length;

function randomText(length: number): string {
  let text = "";
  for (let i = 0; i < length; i++) {
    if (used === pool.length) {
      crypto.getRandomValues(pool);
      used = 0;
    }
    text += BASE32[pool[used++] & 31]; // 256 is a multiple of 32: no bias
  }
  return text;
}

/** Whether one character added, left out, changed or swapped with its neighbour makes `b` of `a`. */
export function isNearMiss(a: string, b: string): boolean {
  if (a === b || Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  const [restA, restB] = [a.slice(start), b.slice(start)];
  if (a.length === b.length) {
    return restA.slice(1) === restB.slice(1) ||
      (restA[0] === restB[1] && restA[1] === restB[0] && restA.slice(2) === restB.slice(2));
  }
  return a.length > b.length ? restA.slice(1) === restB : restA === restB.slice(1);
}
