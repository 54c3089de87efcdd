/**
 * What to say of a journal that cannot be read: neither "never was" nor "pruned".
 *
 * @module
 */

import { BackendError } from "../document/errors.ts";

/** The error for an entry that is missing or unreadable. */
export function damaged(cause?: unknown): BackendError {
  return new BackendError(
    "The journal of this document is damaged: an entry is missing or unreadable. Run doctor to see which.",
    { cause },
  );
}
