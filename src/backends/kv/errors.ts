/**
 * What becomes of the errors of Deno KV. They carry no codes, so their messages are looked at.
 *
 * @module
 */

import { BackendError } from "../../document/errors.ts";

/** Whether others hold the database just now, or have written between two statements. Nothing was written then. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && /database (table |schema )?is locked/i.test(error.message);
}

/** What each message means to a caller, and whether a commit that it ended is known to have changed nothing. */
const MEANINGS: readonly (readonly [pattern: RegExp, message: string, isHarmless: boolean])[] = [
  [/readonly|read-only/i, "The database cannot be written: it, or its directory, is read-only.", true],
  [/disk i\/o error/i, "The disk failed while the database was being read or written.", false],
  [/malformed/i, "The database file is damaged. Nothing was overwritten; restore it from a backup.", false],
  [/disk is full/i, "The disk is full, or the database has reached its size limit. Nothing was changed.", true],
  [/unable to open/i, "The database file cannot be opened.", true],
  [/not a database/i, "The file is not a Deno KV database. Nothing was overwritten; name another file.", true],
  [/too large|too many|max \d+ bytes/i, "This is more than Deno KV can hold in one place. Nothing was changed.", true],
];

/**
 * Wraps an error once. The message never holds a path; the `cause` may.
 *
 * @param isCommit Whether it ended a commit: then a write may have landed, unless the error says otherwise.
 */
export function toBackendError(error: unknown, isCommit = false): BackendError {
  if (error instanceof BackendError) return error;
  if (error instanceof Deno.errors.NotCapable || error instanceof Deno.errors.PermissionDenied) {
    return new BackendError("Deno was not given permission to use the database.", { cause: error });
  }
  if (error instanceof Deno.errors.BadResource) return new BackendError("The store is closed.", { cause: error });
  const text = error instanceof Error ? error.message : "";
  const meaning = MEANINGS.find(([pattern]) => pattern.test(text));
  const [, message, isHarmless] = meaning ?? [undefined, "The database could not be used.", false];
  return new BackendError(isCommit && !isHarmless ? `${message} Load to see whether the write landed.` : message, {
    cause: error,
    outcomeUnknown: isCommit && !isHarmless,
  });
}
