/**
 * A database with the patience that Deno KV lacks: reads that meet a lock are repeated, everything has a deadline, and
 * steps of one user go one after another, since all of them move the user's sequence number.
 *
 * @module
 */

import { BackendError } from "../../document/errors.ts";
import type { Place } from "../database_file.ts";
import { TIDY_EVERY } from "../records.ts";
import { type KvDatabase, type KvEntry, type KvKey, type KvSelector, MOST_KEYS, MOST_LISTED } from "./database.ts";
import { isBusy, toBackendError } from "./errors.ts";
import { Keys } from "./keys.ts";

/** How long a single operation may take. Deno KV itself waits up to 5 s for a lock. */
const OPERATION_MS = 20_000;

/** One write or deletion. */
export type Mutation = { readonly key: KvKey; readonly value: unknown } | { readonly deleted: KvKey };

/** What is written at once, if all that was looked at is still as it was. */
export interface Change {
  readonly checks: readonly Pick<KvEntry, "key" | "versionstamp">[];
  readonly mutations: readonly Mutation[];
}

/** What a connection must know. */
export interface ConnectionOptions {
  readonly prefix: string;
  readonly maxContentionMs: number;
  readonly now: () => number;
  /** Whether a commit may arrive more than once, since a client or the network repeats what got no answer. */
  readonly mayResend: boolean;
  /** Where the file was opened, if there is one. */
  readonly place?: Place;
}

/** One open database. */
export class Connection {
  readonly keys: Keys;
  readonly now: () => number;
  readonly maxContentionMs: number;
  /** See {@link ConnectionOptions.mayResend}. */
  readonly mayResend: boolean;
  /** Called after each step that wrote a user's record. */
  onWrite: (user: string, versionstamp: string) => void = () => {};
  readonly #kv: KvDatabase;
  readonly #place: Place | undefined;
  readonly #running = new Set<Promise<unknown>>();
  readonly #queues = new Map<string, Promise<unknown>>();
  #isClosed = false;
  #steps = 0;

  constructor(kv: KvDatabase, { prefix, maxContentionMs, now, mayResend, place }: ConnectionOptions) {
    this.#kv = kv;
    this.#place = place;
    this.keys = new Keys(prefix);
    this.maxContentionMs = maxContentionMs;
    this.now = now;
    this.mayResend = mayResend;
  }

  /** The record as it is now. */
  get(key: KvKey): Promise<KvEntry> {
    return this.#read(() => this.#kv.get(key));
  }

  /** Records in the order of their keys; up to ten are seen at one moment. */
  async getMany(keys: readonly KvKey[]): Promise<KvEntry[]> {
    const parts: Promise<KvEntry[]>[] = [];
    for (let i = 0; i < keys.length; i += MOST_KEYS) {
      const part = keys.slice(i, i + MOST_KEYS);
      parts.push(this.#read(() => this.#kv.getMany(part)));
    }
    return (await Promise.all(parts)).flat();
  }

  /** Up to `limit` records of a range, fetched in parts, each of which is seen at one moment. */
  list(
    selector: KvSelector,
    limit: number,
    options: { reverse?: boolean; batchSize?: number } = {},
  ): Promise<KvEntry[]> {
    if (limit < 1) return Promise.resolve([]);
    const batchSize = Math.min(limit, options.batchSize ?? MOST_LISTED);
    const bounded = { ...options, batchSize, ...limit === Infinity ? {} : { limit } };
    return this.#read(() => Array.fromAsync(this.#kv.list(selector, bounded)));
  }

  /** Writes, once. Answers the new versionstamp; `undefined` if nothing was written because others were faster or hold the database. */
  commit(change: Change): Promise<string | undefined> {
    return this.#write(change, true);
  }

  /** The same for what nobody sees yet: where it fails, whatever has landed of it has changed nothing. */
  stage(change: Change): Promise<string | undefined> {
    return this.#write(change, false);
  }

  /** Repeats `attempt` until it answers something. @throws {BackendError} `busy`, if that takes too long. */
  async insist<T>(attempt: () => Promise<T | undefined>, since = Date.now()): Promise<T> {
    for (let pauseMs = 1;; pauseMs = Math.min(pauseMs * 2, 50)) {
      const answer = await attempt();
      if (answer !== undefined) return answer;
      if (Date.now() - since >= this.maxContentionMs) throw this.#busy();
      await new Promise((resolve) => setTimeout(resolve, pauseMs * Math.random()));
    }
  }

  /** Runs `work` when all earlier work of the user, in this process, is done. */
  async inTurn<T>(user: string, work: () => Promise<T>): Promise<T> {
    const before = this.#queues.get(user);
    const mine = before === undefined ? work() : before.then(work);
    const settled = mine.then(() => {}, () => {});
    this.#queues.set(user, settled);
    this.#running.add(settled);
    try {
      return await mine;
    } finally {
      this.#running.delete(settled);
      if (this.#queues.get(user) === settled) this.#queues.delete(user);
    }
  }

  /** True for every so many calls. */
  isTurnToTidy(): boolean {
    return this.#steps++ % TIDY_EVERY === 0;
  }

  /** Refuses what comes, waits for what is under way, and closes the database. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
    try {
      this.#kv.close(); // twice throws, and its owner may have been faster
    } catch (error) {
      if (!(error instanceof Deno.errors.BadResource)) throw toBackendError(error);
    }
  }

  async #write({ checks, mutations }: Change, isSeen: boolean): Promise<string | undefined> {
    const atomic = this.#kv.atomic();
    for (const { key, versionstamp } of checks) atomic.check({ key, versionstamp });
    for (const mutation of mutations) {
      if ("deleted" in mutation) atomic.delete(mutation.deleted);
      else atomic.set(mutation.key, mutation.value);
    }
    this.#place?.look();
    try {
      const result = await this.#run(() => atomic.commit(), isSeen);
      return result.ok ? result.versionstamp : undefined;
    } catch (error) {
      if (isBusy(error)) return undefined;
      throw toBackendError(error, isSeen);
    }
  }

  #read<T>(operation: () => Promise<T>): Promise<T> {
    return this.insist(async () => {
      this.#place?.lookNowAndThen();
      try {
        return await this.#run(operation, false);
      } catch (error) {
        if (isBusy(error)) return undefined;
        throw toBackendError(error);
      }
    });
  }

  async #run<T>(operation: () => Promise<T>, isCommit: boolean): Promise<T> {
    if (this.#isClosed) throw new BackendError("The store is closed.");
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(tooLate(isCommit)), OPERATION_MS);
    });
    const running = Promise.race([operation(), late]).finally(() => clearTimeout(timer));
    const settled = running.then(() => {}, () => {});
    this.#running.add(settled);
    try {
      return await running;
    } finally {
      this.#running.delete(settled);
    }
  }

  #busy(): BackendError {
    return new BackendError(
      `The database was held by others for ${this.maxContentionMs} ms. Nothing was changed: try again.`,
      { busy: true },
    );
  }
}

function tooLate(isCommit: boolean): BackendError {
  return new BackendError(
    `The database did not answer for ${OPERATION_MS / 1000} s.${
      isCommit ? " Load to see whether the write landed." : " Try again."
    }`,
    { busy: !isCommit, outcomeUnknown: isCommit },
  );
}
