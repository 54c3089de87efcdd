/**
 * The store: durable, user-keyed, versioned state behind handles.
 *
 * @module
 */

import type { Backend, DocumentKey } from "../backends/backend.ts";
import { openBackend } from "../backends/open.ts";
import type { PatchOperation } from "../document/ops.ts";
import type { Snapshot } from "../document/snapshot.ts";
import { FoldCache } from "./cache.ts";
import { type ChangePage, readChanges } from "./changes.ts";
import { startCounts, type StoreCounts } from "./counts.ts";
import { checkHandle, checkUser, checkWriter } from "../document/checks.ts";
import { type StandardSchema, type TypedKind, typedKind } from "./kind.ts";
import {
  type ChangesOptions,
  checkOptions,
  type GetOptions,
  type HandleStoreOptions,
  type ListOptions,
  type MintOptions,
  type OfKind,
  requireOptions,
  type RestoreOptions,
  type RevokeOptions,
  type SaveOptions,
  type Settings,
  toSettings,
  type TouchOptions,
  type UserOptions,
  type WriteOptions,
} from "./options.ts";
import { type HandlePage, readPage } from "./pages.ts";
import { Reader } from "./reader.ts";
import { revoke, type Revoked } from "./revoke.ts";
import { toSnapshot } from "./snapshots.ts";
import { sweep } from "./sweep.ts";
import { touch } from "./touch.ts";
import type { KeyChange, UpdateOptions } from "./update.ts";
import { type HandleView, readView } from "./view.ts";
import { toWant } from "./want.ts";
import { type Watch, type WatchOptions, watchUser } from "./watch.ts";
import { Writes } from "./writes.ts";

/** At least 128 bits, where the handle is all that protects a document. */
const UNOWNED_HANDLE_LENGTH = 26;

/**
 * Documents behind handles, each with its whole past. One store can serve any number of users and calls at once.
 *
 * ```ts
 * import { append, HandleStore } from "jsr:@mcpstate/server";
 *
 * await using store = await HandleStore.fromUrl("sqlite:///:memory:");
 * const handle = await store.mint("research", { sources: [] }, { user: "alice", ttlDays: 7 });
 * await store.patch(handle, [append("sources", "https://example.com")], { user: "alice", writer: "phone" });
 * ```
 *
 * Every method throws `InvalidInput` for a wrong argument (nothing was changed then), `HandleNotFound` and `HandleExpired`
 * where there is no such document, and `BackendError` where the engine failed.
 */
export class HandleStore implements AsyncDisposable {
  readonly #backend: Backend;
  readonly #settings: Settings;
  readonly #reader: Reader;
  readonly #writes: Writes;
  readonly #closing = new AbortController();

  /** A store on a backend that was opened already; closing the store closes the backend. */
  constructor(backend: Backend, options: HandleStoreOptions = {}) {
    this.#backend = backend;
    this.#settings = toSettings(options);
    checkWriter(this.#settings.writer);
    this.#reader = new Reader(backend, new FoldCache(this.#settings.cacheBytes), startCounts());
    this.#writes = new Writes(this.#reader, this.#settings);
  }

  /**
   * A store on the backend of a URL. Default: `sqlite:///~/.mcpstate/state.db`.
   *
   * @throws {InvalidInput} for a URL that is not understood.
   */
  static async fromUrl(url?: string, options: HandleStoreOptions = {}): Promise<HandleStore> {
    const { maxContentionMs } = toSettings(options);
    return new HandleStore(await openBackend(url, { maxContentionMs }), options);
  }

  /** The largest state, in UTF-8 bytes of compact JSON. */
  get maxStateBytes(): number {
    return this.#settings.maxStateBytes;
  }

  /** What it has done so far, in numbers. */
  get counts(): StoreCounts {
    return { ...this.#reader.counts };
  }

  /**
   * Makes a document and answers its handle, for the model to carry.
   *
   * @throws {StateTooLarge} beyond `maxStateBytes`, {@link QuotaExceeded} beyond `maxHandlesPerUser`.
   */
  async mint(kind: string, state: unknown, options: MintOptions): Promise<string> {
    return (await this.create(kind, state, options)).handle;
  }

  /** The same, answering version 1 with its metadata. */
  async create(kind: string, state: unknown, options: MintOptions): Promise<Snapshot> {
    requireOptions(options);
    const user = checkUser(options.user);
    return await this.#writes.make(kind, state, options, this.#settings.handleLength, () => user);
  }

  /**
   * The same where nobody knows who is asking: the handle is the only secret, so it has 26 characters after its kind (130
   * bits) whatever `handleLength` is, and whose document it is follows from it.
   */
  async createUnowned(
    kind: string,
    state: unknown,
    options: Omit<MintOptions, "user">,
    userOf: (handle: string) => string,
  ): Promise<Snapshot> {
    return await this.#writes.make(kind, state, options, UNOWNED_HANDLE_LENGTH, userOf);
  }

  /**
   * Reads a document, now or as of a version, a turn or a time. The three outcomes are apart: a snapshot; `VersionNotFound`
   * or `TurnNotFound` (that never was); `VersionPruned` or `TurnPruned` (no longer retained).
   *
   * @throws {NoTurnHistory} if a turn is asked for and no write ever named one.
   */
  async get(handle: string, options: GetOptions): Promise<Snapshot> {
    const key = this.#key(handle, options);
    const { head, folded, stamp } = await this.#reader.version(key, toWant(options));
    return toSnapshot(head, folded, stamp);
  }

  /** What {@link get} answers; `undefined` where there is no such document and never was, or it was deleted. */
  async find(handle: string, options: GetOptions): Promise<Snapshot | undefined> {
    const current = await this.#reader.find(this.#key(handle, options), toWant(options));
    return current && toSnapshot(current.head, current.folded, current.stamp);
  }

  /** Whether there is such a document. Reads no state. */
  async has(handle: string, options: UserOptions): Promise<boolean> {
    return (await this.#backend.entries(this.#key(handle, options), undefined, 1)).outcome === "found";
  }

  /** What {@link get} answers, with how often each top-level key was written, up to then and up to now. */
  async view(handle: string, options: GetOptions): Promise<HandleView> {
    const key = this.#key(handle, options);
    return await readView(this.#reader, key, toWant(options)) ?? await this.#reader.notFound(key);
  }

  /** The same; `undefined` where there is no such document and never was, or it was deleted. */
  async findView(handle: string, options: GetOptions): Promise<HandleView | undefined> {
    return await readView(this.#reader, this.#key(handle, options), toWant(options));
  }

  /**
   * Replaces the state of a document, if `expectVersion` is still current or, with `onConflict: "merge"`, if the edits since
   * do not clash. Makes a new version in any case.
   *
   * @throws {StaleWrite} with the current state, what was written since and, for a merge, what clashes.
   */
  async save(handle: string, state: unknown, options: SaveOptions & OfKind): Promise<Snapshot> {
    return await this.#writes.save(this.#key(handle, options), state, options);
  }

  /**
   * Edits a document in place. Never stale: every writer's edits land, all of a call or none. If nothing would change,
   * nothing is written and the current version is answered.
   *
   * @throws {PatchError} naming the operation, its path and the reason.
   */
  async patch(handle: string, ops: readonly PatchOperation[], options: WriteOptions & OfKind): Promise<Snapshot> {
    return await this.#writes.patch(this.#key(handle, options), ops, options);
  }

  /**
   * Writes an old state as a new version.
   *
   * @throws {StaleWrite} if `expectVersion` is not current, `VersionNotFound` or `VersionPruned` for `version`.
   */
  async restore(handle: string, version: number, options: RestoreOptions & OfKind): Promise<Snapshot> {
    return await this.#writes.restore(this.#key(handle, options), version, options);
  }

  /**
   * Sets top-level keys of a document to what `change` works out from its state, and with `create` makes the document in
   * the same step if there is none. Never stale: after a lost race `change` is asked again, on what stands then.
   *
   * @throws {StateTooLarge} beyond `maxStateBytes`, {@link QuotaExceeded} beyond `maxHandlesPerUser`, and what `change` throws.
   */
  async update(handle: string, change: KeyChange, options: UpdateOptions): Promise<Snapshot> {
    return await this.#writes.update(this.#key(handle, options), change, options);
  }

  /** Renews, sets or clears the time to live, or advances the turn. No version, no entry, and `updatedAt` stays. */
  touch(handle: string, options: TouchOptions): Promise<Snapshot> {
    return touch(this.#reader, this.#key(handle, options), options);
  }

  /** A page of a user's documents, newest first. Reads no state. */
  async list(user: string, options: ListOptions = {}): Promise<HandlePage> {
    checkOptions(options);
    return await readPage(this.#backend, checkUser(user), options);
  }

  /** What was written after a version, oldest first: who, when, in which turn, and as a JSON Patch (RFC 6902). */
  async changes(handle: string, options: ChangesOptions): Promise<ChangePage> {
    return await readChanges(this.#reader, this.#key(handle, options), options);
  }

  /** Deletes a document with its past. Afterwards it answers as if it never was. */
  revoke(handle: string, options: RevokeOptions): Promise<Revoked> {
    return revoke(this.#reader, this.#key(handle, options), options);
  }

  /**
   * What happens to a user's documents from now on, or after the `cursor` of an event: across processes and replicas, none
   * missed, none twice. Where entries are no longer retained, or the store has lost writes, a `gap` says so.
   */
  watch(user: string, options: WatchOptions = {}): Watch {
    checkOptions(options);
    const signals = [this.#closing.signal, ...(options.signal === undefined ? [] : [options.signal])];
    return watchUser(this.#backend, checkUser(user), options, AbortSignal.any(signals));
  }

  /** Removes what of a user's has expired, and what of the past is beyond its retention by age. Answers how many records. */
  async sweep(user: string): Promise<number> {
    return await sweep(this.#reader, checkUser(user), this.#settings.retention);
  }

  /** The same of all users: with a retention by age it looks at every document that is older. */
  async sweepAll(): Promise<number> {
    return await sweep(this.#reader, undefined, this.#settings.retention);
  }

  /** Deletes everything of a user: documents, history, tombstones and request ids. Answers how many documents. */
  async purge(user: string): Promise<number> {
    const purged = await this.#backend.purge(checkUser(user));
    this.#reader.cache.clear();
    return purged;
  }

  /**
   * A typed view on one kind. From now on every write of this store to a document of that kind must satisfy the schema,
   * folded: patches, merges and restores too, whichever method makes them.
   *
   * @throws {TypeError} if the kind has another schema in this store already.
   */
  kind<State>(name: string, schema: StandardSchema<State>): TypedKind<State> {
    this.#writes.hold(name, schema);
    return typedKind(this, name);
  }

  /** Closes the backend. Final; a second time is fine. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#reader.cache.clear();
    await this.#backend[Symbol.asyncDispose]();
  }

  /** Closes the backend, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #key(handle: unknown, options: { readonly user: string }): DocumentKey {
    requireOptions(options);
    return { user: checkUser(options.user), id: checkHandle(handle) };
  }
}
