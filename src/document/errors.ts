/**
 * Every way a call can fail, as a literal code with typed facts. A model reads the messages: each says what to do next.
 *
 * @module
 */

import type { JsonValue } from "./json.ts";
import { type Change, type Snapshot, toWireMetadata } from "./snapshot.ts";

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

/** A closed range of versions or turns, both ends included. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** The base of every error that this library throws for a wrong input or a state of affairs. */
export abstract class StateError<Code extends ErrorCode = ErrorCode> extends Error {
  /** The literal code, for a `switch`. */
  abstract readonly code: Code;
  override get name(): string {
    return this.constructor.name;
  }
  /** The facts of this error in wire form. */
  protected abstract facts(): Record<string, unknown>;
  /** The error in wire form, without `undefined`s. */
  toPayload(): ErrorPayload {
    const facts = Object.entries(this.facts()).filter(([, value]) => value !== undefined);
    return { code: this.code, message: this.message, ...Object.fromEntries(facts) };
  }
}

/** An argument was refused. Nothing was changed. */
export class InvalidInput extends StateError<"invalid_input"> {
  readonly code = "invalid_input";
  /** `path` is a JSON Pointer into the field, where one value in it is at fault. */
  constructor(readonly field: string, message: string, readonly path?: string) {
    super(message);
  }
  protected facts(): Record<string, unknown> {
    return { field: this.field, path: this.path };
  }
}

/** No such handle for this user: it never was, was deleted, or belongs to somebody else. The three look alike. */
export class HandleNotFound extends StateError<"handle_not_found"> {
  readonly code = "handle_not_found";
  constructor(readonly handle: string, readonly didYouMean?: string, readonly notApplied = false) {
    super(
      `There is no handle ${JSON.stringify(handle)}.` +
        (didYouMean === undefined
          ? " List the handles to see what there is, or mint a new one."
          : ` Did you mean ${JSON.stringify(didYouMean)}?`) +
        (notApplied ? " The write was not applied." : ""),
    );
  }
  protected facts(): Record<string, unknown> {
    return { handle: this.handle, did_you_mean: this.didYouMean };
  }
}

/** The document reached the end of its time to live. Its state is gone. */
export class HandleExpired extends StateError<"handle_expired"> {
  readonly code = "handle_expired";
  constructor(
    readonly handle: string,
    readonly expiredAt: string,
    readonly ttlDays: number,
    readonly notApplied = false,
  ) {
    super(
      `The handle ${JSON.stringify(handle)} expired at ${expiredAt}, after a time to live of ${ttlDays} days. ` +
        `${
          notApplied ? "The write was not applied. " : ""
        }Mint a new one, with a longer ttl_days if it should live longer.`,
    );
  }
  protected facts(): Record<string, unknown> {
    return { handle: this.handle, expired_at: this.expiredAt, ttl_days: this.ttlDays };
  }
}

/** One place where two writers changed the same thing. A side is absent where it removed the value. */
export interface Conflict {
  /** A JSON Pointer (RFC 6901). */
  readonly path: string;
  readonly base?: JsonValue;
  readonly theirs?: JsonValue;
  readonly yours?: JsonValue;
}

/** The document moved on since the version that the writer had read. Nothing was changed. */
export class StaleWrite extends StateError<"stale_write"> {
  readonly code = "stale_write";
  constructor(
    readonly expectedVersion: number,
    readonly current: Snapshot,
    /** What was written after `expectedVersion`, oldest first. */
    readonly changes: readonly Change[],
    readonly details: { readonly conflicts?: readonly Conflict[]; readonly reason?: "base_pruned" } = {},
  ) {
    super(
      `Version ${expectedVersion} is no longer current: the document is now at version ${current.version}, written by ` +
        `${current.lastWriter} at ${current.updatedAt}. Nothing was changed. ` + advice(details),
    );
  }
  protected facts(): Record<string, unknown> {
    return {
      expected_version: this.expectedVersion,
      current: { ...toWireMetadata(this.current), state: this.current.state },
      changes: this.changes,
      conflicts: this.details.conflicts,
      reason: this.details.reason,
    };
  }
}

function advice({ conflicts, reason }: StaleWrite["details"]): string {
  if (conflicts !== undefined) {
    const paths = conflicts.slice(0, 5).map(({ path }) => JSON.stringify(path)).join(", ");
    return `Both sides changed ${paths}${
      conflicts.length > 5 ? ", …" : ""
    }: decide on these, apply your change to the current state, and save again.`;
  }
  if (reason === "base_pruned") {
    return "The version you started from is no longer retained, so the edits cannot be merged: load the current state, apply your change, and save again.";
  }
  return "Apply your change to the current state and save again with its version, or use a patch, which is never stale.";
}

/** Why a patch operation could not be applied. */
export type PatchReason =
  | "path_not_found"
  | "expected_array"
  | "expected_object"
  | "expected_number"
  | "not_finite"
  | "missing_field"
  | "bad_field_type"
  | "unknown_field"
  | "unknown_op"
  | "not_an_object";

/** A patch operation could not be applied; none of the list was. */
export class PatchError extends StateError<"patch_error"> {
  readonly code = "patch_error";
  constructor(
    readonly op: string,
    readonly path: string | undefined,
    readonly reason: PatchReason,
    message: string,
    /** The position in the list of operations, from 0. */
    readonly index?: number,
  ) {
    super(message);
  }
  protected facts(): Record<string, unknown> {
    return { op: this.op, path: this.path, reason: this.reason, index: this.index };
  }
}

/** A path leads nowhere in this state. */
export class PathNotFound extends StateError<"path_not_found"> {
  readonly code = "path_not_found";
  constructor(
    readonly path: string,
    /** The part of the path that could not be followed, as a JSON Pointer. */
    readonly failedAt: string,
    /** What is there instead: the keys, or the range of indexes. At most 20. */
    readonly available: readonly string[],
  ) {
    super(
      `There is nothing at ${JSON.stringify(failedAt)}` +
        (available.length === 0
          ? ": what is above it is empty or no container."
          : `. Available there: ${available.map((key) => JSON.stringify(key)).join(", ")}.`),
    );
  }
  protected facts(): Record<string, unknown> {
    return { path: this.path, failed_at: this.failedAt, available: this.available };
  }
}

/** The state would be larger than the limit. Nothing was changed. */
export class StateTooLarge extends StateError<"state_too_large"> {
  readonly code = "state_too_large";
  constructor(readonly sizeBytes: number, readonly limitBytes: number) {
    super(
      `The state would be ${sizeBytes} bytes of JSON, ${
        sizeBytes - limitBytes
      } more than the limit of ${limitBytes}. ` +
        "Nothing was changed. Move part of it to another handle, or keep only what is needed.",
    );
  }
  protected facts(): Record<string, unknown> {
    return { size_bytes: this.sizeBytes, limit_bytes: this.limitBytes };
  }
}

/** The user holds as many live handles as are allowed. */
export class QuotaExceeded extends StateError<"quota_exceeded"> {
  readonly code = "quota_exceeded";
  constructor(readonly held: number, readonly limit: number) {
    super(`${held} handles are held and ${limit} are allowed. Delete some that are no longer needed, or reuse one.`);
  }
  protected facts(): Record<string, unknown> {
    return { held: this.held, limit: this.limit };
  }
}

/** That version never was. */
export class VersionNotFound extends StateError<"version_not_found"> {
  readonly code = "version_not_found";
  constructor(
    /** The version asked for; absent where a time before the first version was. */
    readonly version: number | undefined,
    readonly currentVersion: number,
    message = `There never was a version ${version}: the versions are 1 to ${currentVersion}.`,
  ) {
    super(message);
  }
  protected facts(): Record<string, unknown> {
    return { version: this.version ?? null, current_version: this.currentVersion };
  }
}

/** That version existed and is no longer retained. */
export class VersionPruned extends StateError<"version_pruned"> {
  readonly code = "version_pruned";
  constructor(
    /** The version asked for; absent where a time was, and what was current then is gone. */
    readonly version: number | undefined,
    readonly retained: Range,
  ) {
    super(
      `${version === undefined ? "What was current at that time" : `Version ${version}`} is no longer retained. ` +
        `Versions ${retained.from} to ${retained.to} can be read.`,
    );
  }
  protected facts(): Record<string, unknown> {
    return { version: this.version ?? null, retained: this.retained };
  }
}

/** That turn never was for this document. */
export class TurnNotFound extends StateError<"turn_not_found"> {
  readonly code = "turn_not_found";
  constructor(readonly turn: number, readonly firstTurn: number, readonly turnsSoFar: number) {
    super(`There is no turn ${turn} here: the turns so far are ${firstTurn} to ${turnsSoFar}.`);
  }
  protected facts(): Record<string, unknown> {
    return { turn: this.turn, first_turn: this.firstTurn, turns_so_far: this.turnsSoFar };
  }
}

/** That turn existed and is no longer retained. */
export class TurnPruned extends StateError<"turn_pruned"> {
  readonly code = "turn_pruned";
  constructor(readonly turn: number, readonly retained: Range) {
    super(`Turn ${turn} is no longer retained. Turns ${retained.from} to ${retained.to} can be read.`);
  }
  protected facts(): Record<string, unknown> {
    return { turn: this.turn, retained: this.retained };
  }
}

/** A turn was asked for where turns are not kept. */
export class NoTurnHistory extends StateError<"no_turn_history"> {
  readonly code = "no_turn_history";
  constructor() {
    super("Turns are not kept here. Read by version instead, or read the current state.");
  }
  protected facts(): Record<string, unknown> {
    return {};
  }
}

/** The caller's identity could not be verified. */
export class Unauthenticated extends StateError<"unauthenticated"> {
  readonly code = "unauthenticated";
  constructor(message = "The caller could not be identified. Sign in, or send a valid token.") {
    super(message);
  }
  protected facts(): Record<string, unknown> {
    return {};
  }
}

/** Too many calls in a short time. */
export class RateLimited extends StateError<"rate_limited"> {
  readonly code = "rate_limited";
  constructor(readonly retryAfterMs: number) {
    super(`Too many calls. Try again in ${Math.ceil(retryAfterMs / 1000)} s.`);
  }
  protected facts(): Record<string, unknown> {
    return { retry_after_ms: this.retryAfterMs };
  }
}

/** The engine below failed. Credentials and paths are never in the message; the driver's error is the `cause`. */
export class BackendError extends StateError<"backend_error"> {
  readonly code = "backend_error";
  constructor(
    message: string,
    options: ErrorOptions & {
      /** A write may have landed: load to see. */
      readonly outcomeUnknown?: boolean;
      /** Others held the store for longer than the contention limit; trying again may work. */
      readonly busy?: boolean;
    } = {},
  ) {
    super(message, options);
    this.outcomeUnknown = options.outcomeUnknown ?? false;
    this.busy = options.busy ?? false;
  }
  readonly outcomeUnknown: boolean;
  readonly busy: boolean;
  protected facts(): Record<string, unknown> {
    return { outcome_unknown: this.outcomeUnknown || undefined, busy: this.busy || undefined };
  }
}

/** A fault of this library. The message never carries the text of what went wrong inside; the `cause` does. */
export class InternalError extends StateError<"internal_error"> {
  readonly code = "internal_error";
  constructor(options?: ErrorOptions) {
    super(
      "Something went wrong inside the store. Nothing more is known; try again, and report it if it stays.",
      options,
    );
  }
  protected facts(): Record<string, unknown> {
    return {};
  }
}
