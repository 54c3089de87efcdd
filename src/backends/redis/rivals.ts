/**
 * Documents that others were seen to write to: of these it is asked at once what has happened, and of all others only
 * whether anything has.
 *
 * @module
 */

import type { DocumentKey } from "../backend.ts";

/** How many are remembered, the latest. */
const MOST = 4096;
/** How often a document must be found unchanged until it counts as one's own again. */
const PATIENCE = 8;

/** The documents of one backend. */
export class Rivals {
  readonly #left = new Map<string, number>();

  /** Whether others were seen to write to a document of late. */
  has(key: DocumentKey): boolean {
    return this.#left.size > 0 && this.#left.has(name(key));
  }

  /** Others have written to it. */
  seen(key: DocumentKey): void {
    const document = name(key);
    this.#left.delete(document);
    this.#left.set(document, PATIENCE);
    if (this.#left.size <= MOST) return;
    const [longest] = this.#left.keys();
    this.#left.delete(longest);
  }

  /** Nobody else has. */
  unseen(key: DocumentKey): void {
    if (this.#left.size === 0) return;
    const document = name(key);
    const left = this.#left.get(document);
    if (left === undefined) return;
    if (left > 1) this.#left.set(document, left - 1);
    else this.#left.delete(document);
  }
}

// Neither part can hold a NUL.
function name({ user, id }: DocumentKey): string {
  return `${user}\0${id}`;
}
