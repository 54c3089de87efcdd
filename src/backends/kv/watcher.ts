/**
 * Learns of writes by the user's record. The `watch` of Deno KV does not see other processes, so the record is asked for
 * its versionstamp while somebody listens; this process's own writes are told at once.
 *
 * @module
 */

import { BackendError } from "../../document/errors.ts";
import type { Connection } from "./connection.ts";

/** How often the database is asked, in milliseconds. */
const INTERVAL_MS = 100;

interface Listener {
  readonly notify: () => void;
}

interface Watched {
  readonly listeners: Set<Listener>;
  /** The user's record as it was last seen. */
  seen: string | null;
}

/** Watches one connection for all who listen. */
export class Watcher {
  readonly #connection: Connection;
  readonly #users = new Map<string, Watched>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #looking: Promise<void> | undefined;
  #isClosed = false;

  constructor(connection: Connection) {
    this.#connection = connection;
    connection.onWrite = (user, versionstamp) => this.#see(user, versionstamp);
  }

  /** Calls `notify` whenever the user's record may have changed. */
  async subscribe(user: string, notify: () => void): Promise<AsyncDisposable> {
    const { versionstamp } = await this.#connection.get(this.#connection.keys.user(user));
    if (this.#isClosed) throw new BackendError("The store is closed.");
    const listener = { notify };
    const watched = this.#users.get(user) ?? { listeners: new Set(), seen: versionstamp };
    watched.listeners.add(listener);
    this.#users.set(user, watched);
    this.#timer ??= setInterval(() => this.#looking ??= this.#look(), INTERVAL_MS);
    return {
      [Symbol.asyncDispose]: () => {
        watched.listeners.delete(listener);
        if (watched.listeners.size === 0 && this.#users.get(user) === watched) this.#users.delete(user);
        return this.#users.size === 0 ? this.#stop() : Promise.resolve();
      },
    };
  }

  /** Ends all that listen. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#users.clear();
    await this.#stop();
  }

  async #stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.#looking;
  }

  async #look(): Promise<void> {
    const users = [...this.#users.keys()];
    try {
      const records = await this.#connection.getMany(users.map((user) => this.#connection.keys.user(user)));
      for (const [i, { versionstamp }] of records.entries()) this.#see(users[i], versionstamp);
    } catch {
      // Asked again in a moment; what changes meanwhile is seen then.
    } finally {
      this.#looking = undefined;
    }
  }

  #see(user: string, versionstamp: string | null): void {
    const watched = this.#users.get(user);
    if (watched === undefined || watched.seen === versionstamp) return;
    watched.seen = versionstamp;
    // Not now: a listener that throws must not fail a write that has landed.
    for (const { notify } of watched.listeners) queueMicrotask(notify);
  }
}
