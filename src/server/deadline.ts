/**
 * How long a tool call may take: less than clients wait, so that they are told what happened and do not have to guess.
 *
 * @module
 */

import { BackendError } from "../document/errors.ts";
import type { Scope } from "./scopes.ts";

/** How long a call may take, in milliseconds. The SDK's clients wait for 60 seconds. */
export const CALL_MS = 30_000;

/** What something comes to, if it does in time; else it throws what `late` answers, and goes on behind. */
export async function inTime<Result>(running: Promise<Result>, ms: number, late: () => Error): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(late()), ms);
  try {
    return await Promise.race([running, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** The error of a call that took too long. A write goes on behind it and may land: nothing can take it back. */
export function tooLate(scope: Scope, ms: number): BackendError {
  const waited = `The store did not answer within ${ms / 1000} seconds.`;
  return scope === "mcpstate:write"
    ? new BackendError(
      `${waited} The write may have landed or may still land: load the handle, or list if you minted, before you try again.`,
      { outcomeUnknown: true, busy: true },
    )
    : new BackendError(`${waited} Nothing was changed. Try again.`, { busy: true });
}
