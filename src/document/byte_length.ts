/**
 * How many bytes a text takes as UTF-8, counted without making them.
 *
 * @module
 */

import { Buffer } from "node:buffer";

/** UTF-8 bytes of a text. A lone surrogate counts as U+FFFD, 3 bytes. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text);
}
