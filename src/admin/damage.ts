/**
 * What is wrong with a journal, from the error that folding it ended with.
 *
 * @module
 */

import { InvalidInput } from "../document/errors.ts";

/** The reason that a record does not fold, as the end of a sentence. @throws the error itself if it is about something else. */
export function damageOf(error: unknown): string {
  if (
    error instanceof TypeError || error instanceof SyntaxError || error instanceof InvalidInput ||
    error instanceof RangeError // nested deeper than the stack
  ) {
    return error.message.replace(/\.$/, "");
  }
  throw error;
}
