/**
 * Every way a call can fail, as a literal code with typed facts. A model reads the messages: each says what to do next.
 *
 * @module
 */

import type { JsonValue } from "./json.ts";
import { type Change, type Snapshot, toWireMetadata } from "./snapshot.ts";
import { StateError } from "./state_error.ts";

export { type ErrorCode, type ErrorPayload, StateError } from "./state_error.ts";
export { BackendError, type BackendErrorOptions, InternalError, RateLimited, Unauthenticated } from "./failures.ts";

/** A closed range of versions or turns. */
export interface Range {
  /** The first. */
  readonly from: number;
  /** The last, included. */
  readonly to: number;
}

/** An argument was refused. Nothing was changed. */
export class InvalidInput extends StateError<"invalid_input"> {
  /** `path` is a JSON Pointer into the field, where one value in it is at fault. */
  constructor(readonly field: string, message: string, readonly path?: string) {
    super("invalid_input", message, { field, path });
  }
}

/** No such handle for this user: it never was, was deleted, or belongs to somebody else. The three look alike. */
export class HandleNotFound extends StateError<"handle_not_found"> {
  /** With a handle of the same user that was probably meant, and whether a write was not applied because of it. */
  constructor(readonly handle: string, readonly didYouMean?: string, readonly notApplied = false) {
    const next = didYouMean === undefined
      ? "List the handles to see what there is, or mint a new one."
      : `Did you mean ${JSON.stringify(didYouMean)}?`;
    const message = `There is no handle ${JSON.stringify(handle)}. ${next}`;
    super("handle_not_found", notApplied ? `${message} The write was not applied.` : message, {
      handle,
      did_you_mean: didYouMean,
    });
  }
}

/** The document reached the end of its time to live. Its state is gone. */
export class HandleExpired extends StateError<"handle_expired"> {
  /** With the time (ISO 8601 in UTC), the time to live as last set, and whether a write was not applied because of it. */
  constructor(
    readonly handle: string,
    readonly expiredAt: string,
    readonly ttlDays: number,
    readonly notApplied = false,
  ) {
    super(
      "handle_expired",
      `The handle ${JSON.stringify(handle)} expired at ${expiredAt}, after a time to live of ${ttlDays} days. ` +
        `${
          notApplied ? "The write was not applied. " : ""
        }Mint a new one, with a longer ttl_days if it should live longer.`,
      { handle, expired_at: expiredAt, ttl_days: ttlDays },
    );
  }
}

/** One place where two writers changed the same thing. A side is absent where it has no value there. */
export interface Conflict {
  /** A JSON Pointer (RFC 6901). */
  readonly path: string;
  /** The value that both started from. */
  readonly base?: JsonValue;
  /** The value that is current. */
  readonly theirs?: JsonValue;
  /** The value that was to be saved. */
  readonly yours?: JsonValue;
}

/** Why a merge was refused. */
export interface StaleDetails {
  /** What both sides changed. */
  readonly conflicts?: readonly Conflict[];
  /** The version that the writer started from is no longer retained. */
  readonly reason?: "base_pruned";
  /** How many of the changes since there was no room for, or are no longer retained. */
  readonly changesOmitted?: number;
  /** What was tried, where it was not a save. */
  readonly tried?: "restore" | "delete";
}

/** The document moved on since the version that the writer had read. Nothing was changed. */
export class StaleWrite extends StateError<"stale_write"> {
  /** With what is current and what was written after `expectedVersion`, oldest first. */
  constructor(
    readonly expectedVersion: number,
    readonly current: Snapshot,
    readonly changes: readonly Change[],
    readonly details: StaleDetails = {},
  ) {
    super(
      "stale_write",
      `Version ${expectedVersion} is no longer current: the document is now at version ${current.version}, written by ` +
        `${current.lastWriter} at ${current.updatedAt}. Nothing was changed. ${advice(details, current.version)}`,
      {
        expected_version: expectedVersion,
        current: { ...toWireMetadata(current), state: current.state },
        changes,
        changes_omitted: details.changesOmitted || undefined,
        conflicts: details.conflicts,
        reason: details.reason,
      },
    );
  }
}

function advice({ conflicts, reason, tried }: StaleDetails, version: number): string {
  if (tried !== undefined) {
    return `Look at what was written since; if you still want to ${tried}, do it with expect_version ${version}.`;
  }
  if (conflicts !== undefined) {
    const paths = conflicts.slice(0, 5).map(({ path }) => JSON.stringify(path)).join(", ");
    return `Both sides changed ${paths}${conflicts.length > 5 ? ", …" : ""}: decide on these, ` +
      `apply your change to the current state, and save again with expect_version ${version}.`;
  }
  if (reason === "base_pruned") {
    return "The version you started from is no longer retained, so the edits cannot be merged: " +
      "load the current state, apply your change, and save again.";
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
  /** With the operation, its path and its position in the list, from 0. */
  constructor(
    readonly op: string,
    readonly path: string | undefined,
    readonly reason: PatchReason,
    message: string,
    readonly index?: number,
  ) {
    super("patch_error", message, { op, path, reason, index });
  }
}

/** A path as a message shows it, in quotation marks: of one that is long, its beginning and its end. */
export function shownPath(path: string): string {
  const shown = path.length <= 200 ? path : `${path.slice(0, 100)}…${path.slice(-99)}`;
  return JSON.stringify(shown.toWellFormed());
}

/** A path leads nowhere in this state. */
export class PathNotFound extends StateError<"path_not_found"> {
  /** With the part of the path that could not be followed, as a JSON Pointer, and at most 20 of what is there instead. */
  constructor(readonly path: string, readonly failedAt: string, readonly available: readonly string[]) {
    const there = available.map((key) => JSON.stringify(key)).join(", ");
    super(
      "path_not_found",
      `There is nothing at ${shownPath(failedAt)}` +
        (available.length === 0 ? ": what is above it is empty or no container." : `. Available there: ${there}.`),
      { path, failed_at: failedAt, available },
    );
  }
}

/** The state would be larger than the limit. Nothing was changed. */
export class StateTooLarge extends StateError<"state_too_large"> {
  /** Both in UTF-8 bytes of compact JSON. `path` is a JSON Pointer to what alone is that large, if it is not the whole state. */
  constructor(readonly sizeBytes: number, readonly limitBytes: number, readonly path?: string) {
    super(
      "state_too_large",
      `${
        path === undefined ? "The state" : `What is at ${JSON.stringify(path)} alone`
      } would be ${sizeBytes} bytes of JSON, ${sizeBytes - limitBytes} more than the limit of ${limitBytes}. ` +
        "Nothing was changed. Move part of it to another handle, or keep only what is needed.",
      { size_bytes: sizeBytes, limit_bytes: limitBytes, path },
    );
  }
}

/** The user holds as many live handles as are allowed. */
export class QuotaExceeded extends StateError<"quota_exceeded"> {
  /** With how many are held and allowed. */
  constructor(readonly held: number, readonly limit: number) {
    super(
      "quota_exceeded",
      `${held} handles are held and ${limit} are allowed. Delete some that are no longer needed, or reuse one.`,
      { held, limit },
    );
  }
}

/** That version never was. */
export class VersionNotFound extends StateError<"version_not_found"> {
  /** `version` is absent where a time before the first version was asked for. */
  constructor(
    readonly version: number | undefined,
    readonly currentVersion: number,
    message = `There never was a version ${version}: the versions are 1 to ${currentVersion}.`,
  ) {
    super("version_not_found", message, { version: version ?? null, current_version: currentVersion });
  }
}

/** That version existed and is no longer retained. */
export class VersionPruned extends StateError<"version_pruned"> {
  /** `version` is absent where a time was asked for, and what was current then is gone. */
  constructor(readonly version: number | undefined, readonly retained: Range) {
    const what = version === undefined ? "What was current at that time" : `Version ${version}`;
    super(
      "version_pruned",
      `${what} is no longer retained. Versions ${retained.from} to ${retained.to} can be read.`,
      { version: version ?? null, retained },
    );
  }
}

/** That turn never was for this document. */
export class TurnNotFound extends StateError<"turn_not_found"> {
  /** With the turns that were: from `firstTurn` to `turnsSoFar`. */
  constructor(readonly turn: number, readonly firstTurn: number, readonly turnsSoFar: number) {
    super(
      "turn_not_found",
      `There is no turn ${turn} here: the turns so far are ${firstTurn} to ${turnsSoFar}.`,
      { turn, first_turn: firstTurn, turns_so_far: turnsSoFar },
    );
  }
}

/** That turn existed and is no longer retained. */
export class TurnPruned extends StateError<"turn_pruned"> {
  /** With the turns that can still be read. */
  constructor(readonly turn: number, readonly retained: Range) {
    super(
      "turn_pruned",
      `Turn ${turn} is no longer retained. Turns ${retained.from} to ${retained.to} can be read.`,
      { turn, retained },
    );
  }
}

/** A turn was asked for where turns are not kept. */
export class NoTurnHistory extends StateError<"no_turn_history"> {
  /** Without facts. */
  constructor() {
    super("no_turn_history", "Turns are not kept here. Read by version instead, or read the current state.");
  }
}
