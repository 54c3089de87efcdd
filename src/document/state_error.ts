/**
 * What all errors have in common.
 *
 * @module
 */

/** The codes that {@link StateError.code} can hold. */
export type ErrorCode =
  | "invalid_input"
  | "handle_not_found"
  | "handle_expired"
  | "stale_write"
  | "patch_error"
  | "path_not_found"
  | "state_too_large"
  | "quota_exceeded"
  | "version_not_found"
  | "version_pruned"
  | "turn_not_found"
  | "turn_pruned"
  | "no_turn_history"
  | "unauthenticated"
  | "rate_limited"
  | "backend_error"
  | "internal_error";

/** An error in wire form: `code`, `message` and the facts of that code in snake_case. */
export type ErrorPayload = { readonly code: ErrorCode; readonly message: string; readonly [fact: string]: unknown };

/** The base of every error that this library throws for a wrong input or a state of affairs. */
export abstract class StateError<Code extends ErrorCode = ErrorCode> extends Error {
  readonly #facts: Readonly<Record<string, unknown>>;

  /** For the classes below: the literal code, the message, and the facts in wire form. */
  constructor(
    /** The literal code, for a `switch`. */
    readonly code: Code,
    message: string,
    facts: Readonly<Record<string, unknown>> = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = new.target.name;
    this.#facts = facts;
  }

  /** The error in wire form; facts that are absent are left out. */
  toPayload(): ErrorPayload {
    const facts = Object.entries(this.#facts).filter(([, value]) => value !== undefined);
    return { code: this.code, message: this.message, ...Object.fromEntries(facts) };
  }
}
