/**
 * The failures that are nobody's wrong input: who is asking, how often, and what lies below.
 *
 * @module
 */

import { StateError } from "./state_error.ts";

/** The caller's identity could not be verified. */
export class Unauthenticated extends StateError<"unauthenticated"> {
  /** With a message that says what to send. */
  constructor(message = "The caller could not be identified. Sign in, or send a valid token.") {
    super("unauthenticated", message);
  }
}

/** Too many calls in a short time. */
export class RateLimited extends StateError<"rate_limited"> {
  /** With how long to wait, in milliseconds. */
  constructor(readonly retryAfterMs: number) {
    super("rate_limited", `Too many calls. Try again in ${Math.ceil(retryAfterMs / 1000)} s.`, {
      retry_after_ms: retryAfterMs,
    });
  }
}

/** What a {@link BackendError} can say beside its message. */
export interface BackendErrorOptions extends ErrorOptions {
  /** A write may have landed: load to see. */
  readonly outcomeUnknown?: boolean;
  /** Others held the store for longer than the contention limit; trying again may work. */
  readonly busy?: boolean;
}

/** The engine below failed. Credentials and paths are never in the message; the driver's error is the `cause`. */
export class BackendError extends StateError<"backend_error"> {
  /** Whether a write may have landed. */
  readonly outcomeUnknown: boolean;
  /** Whether others held the store for too long. */
  readonly busy: boolean;

  /** With what a caller may be told, and the driver's error as the `cause`. */
  constructor(message: string, options: BackendErrorOptions = {}) {
    const { outcomeUnknown = false, busy = false } = options;
    super("backend_error", message, { outcome_unknown: outcomeUnknown || undefined, busy: busy || undefined }, options);
    this.outcomeUnknown = outcomeUnknown;
    this.busy = busy;
  }
}

/** A fault of this library. The message never carries the text of what went wrong inside; the `cause` does. */
export class InternalError extends StateError<"internal_error"> {
  /** With the error that was not expected as the `cause`. */
  constructor(options?: ErrorOptions) {
    super(
      "internal_error",
      "Something went wrong inside the store. Nothing more is known; try again, and report it if it stays.",
      {},
      options,
    );
  }
}
