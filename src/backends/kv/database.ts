/**
 * The part of Deno KV that the adapter uses. It is unstable in Deno, so nothing here needs its types.
 *
 * @module
 */

/** One part of a key. Parts of different types never equal each other. */
export type KvKeyPart = Uint8Array | string | number | bigint | boolean | symbol;
/** The name of a record. Keys are in the order of their parts; numbers by value. */
export type KvKey = readonly KvKeyPart[];

/** A record, or that there is none: then `versionstamp` is `null`. */
export interface KvEntry {
  /** Its name. */
  readonly key: KvKey;
  /** What it holds; `null` if there is none. */
  readonly value: unknown;
  /** Another one after each write. */
  readonly versionstamp: string | null;
}

/** Which keys are wanted. `start` is included, `end` is not. */
export type KvSelector =
  | { readonly prefix: KvKey }
  | { readonly prefix: KvKey; readonly start: KvKey }
  | { readonly prefix: KvKey; readonly end: KvKey }
  | { readonly start: KvKey; readonly end: KvKey };

/** An atomic operation that is being put together. */
export interface KvAtomic {
  /** Lets it fail if the record is no longer as it was read. */
  check(check: { key: KvKey; versionstamp: string | null }): KvAtomic;
  /** Writes a record. */
  set(key: KvKey, value: unknown): KvAtomic;
  /** Deletes a record. */
  delete(key: KvKey): KvAtomic;
  /** Does all of it, or nothing if a check fails. */
  commit(): Promise<{ ok: true; versionstamp: string } | { ok: false }>;
}

/** A database: the part of `Deno.Kv` that is read here. */
export interface KvDatabase {
  /** A record as it is now. */
  get(key: KvKey): Promise<KvEntry>;
  /** Up to ten records as they are at one moment. */
  getMany(keys: readonly KvKey[]): Promise<KvEntry[]>;
  /** Records in the order of their keys. */
  list(
    selector: KvSelector,
    options: { limit?: number; reverse?: boolean; batchSize?: number },
  ): AsyncIterable<KvEntry>;
  /** Begins an atomic operation. */
  atomic(): KvAtomic;
  /** Closes it. Twice throws. */
  close(): void;
}

/** The most keys of one `getMany`. */
export const MOST_KEYS = 10;
/** The most records that a list fetches at a time. */
export const MOST_LISTED = 500;
/** The most checks of an atomic operation: Deno allows 100, a self-hosted `denokv` only 10. */
export const MOST_CHECKS = 10;
/** The most bytes that an atomic operation may write, keys and values. */
export const MOST_BYTES = 819_200;
/** How many records are deleted in one atomic operation, which may have 1,000 mutations and 80 KiB of keys. */
export const DELETED_AT_ONCE = 250;
