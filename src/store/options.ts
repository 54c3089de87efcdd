/**
 * What callers say: the options of a store and of each of its methods.
 *
 * @module
 */

import { DEFAULT_MAX_STATE_BYTES } from "../document/admit.ts";
import { InvalidInput } from "../document/errors.ts";

/** What of a document's past is kept. The current version is kept in any case. */
export interface Retention {
  /** How many of the last versions. Default 1,000; `Infinity` for all. */
  readonly versions?: number;
  /** Versions that were current within the last so many days. Default: any age. */
  readonly days?: number;
  /** As many of the last versions as their journal entries fit into so many bytes. Default: any size. */
  readonly bytes?: number;
}

/** Options of a {@link HandleStore}. */
export interface HandleStoreOptions {
  /** The largest state, in UTF-8 bytes of compact JSON. Default 1 MiB. */
  readonly maxStateBytes?: number;
  /** How many live handles a user may hold. Default 10,000. */
  readonly maxHandlesPerUser?: number;
  /** How long a call may lose races or wait for a busy database, in milliseconds. Default 5,000. */
  readonly maxContentionMs?: number;
  /** What of the past is kept. */
  readonly retention?: Retention;
  /** How many bytes of folded states the process keeps, roughly. Default 64 MiB. */
  readonly cacheBytes?: number;
  /** How many characters a handle has after its kind: 8 (the default) where callers are authenticated or local, 26 (130 bits) where the handle is the only secret. */
  readonly handleLength?: number;
  /** The writer to record where a call names none. Default `"unknown"`. */
  readonly writer?: string;
}

/** Options with every default taken. */
export interface Settings {
  readonly maxStateBytes: number;
  readonly maxHandlesPerUser: number;
  readonly maxContentionMs: number;
  readonly retention: { readonly versions: number; readonly days: number; readonly bytes: number };
  readonly cacheBytes: number;
  readonly handleLength: number;
  readonly writer: string;
}

/** Takes the defaults. @throws {RangeError} for a number that makes no sense. */
export function toSettings(options: HandleStoreOptions): Settings {
  const { versions = 1000, days = Infinity, bytes = Infinity } = options.retention ?? {};
  const settings: Settings = {
    maxStateBytes: options.maxStateBytes ?? DEFAULT_MAX_STATE_BYTES,
    maxHandlesPerUser: options.maxHandlesPerUser ?? 10_000,
    maxContentionMs: options.maxContentionMs ?? 5_000,
    retention: { versions, days, bytes },
    cacheBytes: options.cacheBytes ?? 64 * 1024 * 1024,
    handleLength: options.handleLength ?? 8,
    writer: options.writer ?? "unknown",
  };
  positive("maxStateBytes", settings.maxStateBytes, 2);
  positive("maxHandlesPerUser", settings.maxHandlesPerUser, 1);
  positive("maxContentionMs", settings.maxContentionMs, 1);
  positive("retention.versions", versions, 1);
  if (!(days > 0)) throw new RangeError(`retention.days must be above 0, got ${days}`);
  positive("retention.bytes", bytes, 0);
  positive("cacheBytes", settings.cacheBytes, 0);
  positive("handleLength", settings.handleLength, 8);
  return settings;
}

function positive(name: string, value: number, least: number): void {
  if (value >= least && (value === Infinity || Number.isSafeInteger(value))) return;
  throw new RangeError(`${name} must be a whole number of at least ${least}, got ${value}`);
}

/** Whose documents a call is about. */
export interface UserOptions {
  /** An opaque identity, 1 to 512 bytes. There is no way to reach another user's documents. */
  readonly user: string;
}

/** What every write can say. */
export interface WriteOptions extends UserOptions {
  /** Who writes, up to 256 bytes. Default: the store's. */
  readonly writer?: string;
  /** Makes the call safe to send twice: the second one with the same arguments answers the first result. Up to 200 bytes, kept for a day at least. */
  readonly requestId?: string;
  /** The turn of the conversation, a positive integer. One older than the document's is filed under the document's; default: the document's. */
  readonly turn?: number;
}

/** Options of `mint`. */
export interface MintOptions extends WriteOptions {
  /** How long it lives from now, in days: above 0, at most 36,525. Default: for ever. */
  readonly ttlDays?: number;
  /** What a person would call it, up to 256 bytes. */
  readonly title?: string;
}

/** Options of `get`: at most one of `version`, `turn` and `at`; none reads the current version. */
export interface GetOptions extends UserOptions {
  /** As of this version. */
  readonly version?: number;
  /** As this turn ended. */
  readonly turn?: number;
  /** As of this time: a `Date`, milliseconds since 1970, or ISO 8601 text. */
  readonly at?: Date | number | string;
}

/** Options of `save`. */
export interface SaveOptions extends WriteOptions {
  /** The version that the new state is based on. */
  readonly expectVersion: number;
  /** What to do if others have written since: `"fail"` (the default), or `"merge"` edits that do not clash. */
  readonly onConflict?: "fail" | "merge";
  /** A new time to live from now, in days; `null` for ever. Default: as it was. */
  readonly ttlDays?: number | null;
  /** A new title. Default: as it was. */
  readonly title?: string;
}

/** Options of `restore`. */
export interface RestoreOptions extends WriteOptions {
  /** The version that is current, to be sure that nothing newer is lost from view. */
  readonly expectVersion: number;
}

/** What the typed view of a kind adds: the kind that the handle must be of. */
export interface OfKind {
  /** Refuse a handle of another kind. */
  readonly kind?: string;
}

/** Options of `touch`. */
export interface TouchOptions extends UserOptions {
  /** A new time to live from now, in days; `null` for ever. Default: the last one again, or, with `turn`, as it was. */
  readonly ttlDays?: number | null;
  /** A turn to advance to, without a write. */
  readonly turn?: number;
}

/** Options of `revoke`. */
export interface RevokeOptions extends UserOptions {
  /** Delete only if this is still the version. */
  readonly expectVersion?: number;
  /** See {@link WriteOptions.requestId}. */
  readonly requestId?: string;
}

/** Options of `list`. */
export interface ListOptions {
  /** Only of this kind. */
  readonly kind?: string;
  /** Only those whose title or handle contains this text, whatever its case. */
  readonly query?: string;
  /** How many at most: 1 to 1,000. Default 100. */
  readonly limit?: number;
  /** The `cursor` of the page before. */
  readonly cursor?: string;
  /** Whether to answer what has expired in the last 30 days too. */
  readonly includeExpired?: boolean;
}

/** Options of `changes`. */
export interface ChangesOptions extends UserOptions {
  /** Only what was written after this version. Default: the last ones. */
  readonly since?: number;
  /** How many at most: 1 to 1,000. Default 100. */
  readonly limit?: number;
}

/** Refuses options that are no object where none are needed. */
export function checkOptions(options: unknown): void {
  if (typeof options === "object" && options !== null) return;
  throw new InvalidInput("options", "options must be an object. Leave it out where nothing is to be said.");
}

/** Refuses options that are no object, so that a forgotten `{ user }` gets a message and not a crash. */
export function requireOptions(options: unknown): void {
  if (typeof options === "object" && options !== null) return;
  throw new InvalidInput("user", "user is missing: pass { user } as the last argument.");
}
