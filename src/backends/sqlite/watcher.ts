/**
 * Learns of writes by the user's sequence number: SQLite tells nobody, so it is asked while somebody listens.
 *
 * `PRAGMA data_version` says cheaply whether another connection has written; it does not see this connection's own
 * writes, so those are told apart by `total_changes()`.
 *
 * @module
 */

import type { Connection } from "./driver.ts";
import { number } from "./rows.ts";

/** How often the database is asked, in milliseconds. */
const INTERVAL_MS = 50;

interface Listener {
  readonly user: string;
  readonly notify: () => void;
}

/** Watches one connection for all who listen. */
export class Watcher {
  readonly #connection: Connection;
  readonly #listeners = new Set<Listener>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #seen = "";

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Calls `notify` whenever anything was written. */
  subscribe(user: string, notify: () => void): AsyncDisposable {
    const listener = { user, notify };
    this.#listeners.add(listener);
    this.#start();
    return {
      [Symbol.asyncDispose]: () => {
        this.#listeners.delete(listener);
        if (this.#listeners.size === 0) this.close();
        return Promise.resolve();
      },
    };
  }

  /** Stops asking. */
  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #start(): void {
    if (this.#timer !== undefined) return;
    this.#seen = this.#state();
    this.#timer = setInterval(() => this.#look(), INTERVAL_MS);
  }

  #look(): void {
    const state = this.#state();
    if (state === this.#seen) return;
    this.#seen = state;
    for (const { notify } of this.#listeners) notify();
  }

  /** Changes whenever this connection or another has written. */
  #state(): string {
    try {
      const others = number(this.#connection.get("PRAGMA data_version") ?? {}, "data_version");
      const own = number(this.#connection.get("SELECT total_changes() AS changes") ?? {}, "changes");
      return `${others} ${own}`;
    } catch {
      return this.#seen; // busy: asked again in a moment
    }
  }
}
