/**
 * What happens to a user's documents, as it happens, in whatever process: none missed, none twice.
 *
 * A backend only says that something may have happened. What did is read from the journals, in the order of the user's
 * sequence numbers, so a listener that was away catches up just the same.
 *
 * @module
 */

import type { Backend } from "../backends/backend.ts";
import { isUnburied } from "../backends/records.ts";
import { StateError } from "../document/errors.ts";
import { markOf, readEvents } from "./events.ts";
import { type Cursor, decodeWatchCursor, encodeWatchCursor } from "./watch_cursor.ts";

/** A version was written. */
export interface ChangeEvent {
  /** What happened. */
  readonly type: "change";
  /** To which document. */
  readonly handle: string;
  /** The version that was written. */
  readonly version: number;
  /** Who wrote it. */
  readonly writer: string;
  /** When, ISO 8601 in UTC. */
  readonly at: string;
  /** In which turn; 0 if none was ever named. */
  readonly turn: number;
  /** Pass it as `since` to go on after this event. */
  readonly cursor: string;
}

/** A document is no more. What was written to it right before is not told any more. */
export interface EndEvent {
  /** What happened. */
  readonly type: "deleted" | "expired";
  /** To which document. */
  readonly handle: string;
  /** When, ISO 8601 in UTC. */
  readonly at: string;
  /** Pass it as `since` to go on after this event. */
  readonly cursor: string;
}

/** Something was missed and cannot be told any more: load what you hold. */
export interface GapEvent {
  /** What happened. */
  readonly type: "gap";
  /** To which document; absent if it may be any. */
  readonly handle?: string;
  /** `"pruned"`: the entries are no longer retained. `"rewound"`: the store has lost writes, as after a failover or a restored backup. */
  readonly reason: "pruned" | "rewound";
  /** Pass it as `since` to go on after this event. */
  readonly cursor: string;
}

/** What can happen to a user's documents. */
export type WatchEvent = ChangeEvent | EndEvent | GapEvent;

/** Events as they come. */
export interface Watch extends AsyncIterable<WatchEvent> {
  /** Settles once whatever is written from then on will be told. Rejects where that cannot be. */
  readonly ready: Promise<void>;
}

/** Options of `watch`. */
export interface WatchOptions {
  /** Only of this document. */
  readonly handle?: string;
  /** The `cursor` of the last event that was seen. Default: from now on. */
  readonly since?: string;
  /** Ends the watch. */
  readonly signal?: AbortSignal;
}

/** How often what is past due is looked for while somebody listens, in milliseconds: expiry tells nobody by itself. */
const DUE_EVERY_MS = 2_000;

/** Begins at once; events wait until they are asked for. Ends when `signal` says so. */
export function watchUser(
  backend: Backend,
  user: string,
  options: WatchOptions,
  signal: AbortSignal,
): Watch {
  const since = options.since === undefined ? undefined : decodeWatchCursor(options.since, user);
  const listener = new Listener(signal);
  // The place is taken at once; what comes before the subscription is ready is read on the first round.
  const start = Promise.all([since ?? placeNow(backend, user), backend.subscribe(user, () => listener.notify())])
    .then(([cursor, subscription]) => ({ cursor, subscription }));
  const ready = start.then(() => {});
  ready.catch(() => {}); // told to the one who iterates
  return { ready, [Symbol.asyncIterator]: () => iterate(backend, user, options.handle, start, listener) };
}

interface Start {
  readonly subscription: AsyncDisposable;
  readonly cursor: Cursor;
}

async function placeNow(backend: Backend, user: string): Promise<Cursor> {
  const range = { direction: "down", from: Number.MAX_SAFE_INTEGER, limit: 1, tombstones: true } as const;
  let { seq, documents: [newest] } = await backend.list(user, range);
  if (newest !== undefined && isUnburied(newest)) {
    await backend.sweep(user, 64);
    ({ seq, documents: [newest] } = await backend.list(user, range));
  }
  return newest === undefined ? { seq } : { seq, last: markOf(newest) };
}

async function* iterate(
  backend: Backend,
  user: string,
  handle: string | undefined,
  start: Promise<Start>,
  listener: Listener,
): AsyncGenerator<WatchEvent> {
  const begun = await start.catch((error) => {
    if (listener.aborted) return undefined; // closed before it began
    throw error;
  });
  if (begun === undefined) return;
  const { subscription } = begun;
  let { cursor } = begun;
  const sweeper = setInterval(() => void backend.sweep(user, 64).catch(() => {}), DUE_EVERY_MS);
  let ended: Promise<void> | undefined;
  const end = () => {
    if (ended === undefined) {
      clearInterval(sweeper);
      listener.end();
      ended = Promise.resolve(subscription[Symbol.asyncDispose]());
    }
    return ended;
  };
  // At once, since whoever iterates may never ask for another event: nothing may hold the process then.
  listener.atEnd(() => void end().catch(() => {}));
  try {
    while (!listener.aborted) {
      listener.expect();
      const { events, next, isComplete } = await reading(backend, user, cursor, listener);
      for (const { event, place } of events) {
        if (listener.aborted) return;
        if (handle !== undefined && event.handle !== undefined && event.handle !== handle) continue;
        yield { ...event, cursor: encodeWatchCursor(place, user) };
      }
      cursor = next;
      if (isComplete) await listener.wait();
    }
  } finally {
    await end();
  }
}

/** Reads on; while the backend fails, waits for a sign of life. A closed store ends the watch. */
async function reading(backend: Backend, user: string, cursor: Cursor, listener: Listener) {
  try {
    return await readEvents(backend, user, cursor);
  } catch (error) {
    if (!(error instanceof StateError)) throw error;
    await listener.wait(500);
    return { events: [], next: cursor, isComplete: false };
  }
}

/** Remembers a notification that came while nobody was waiting. */
class Listener {
  #isDue = true;
  #wake: () => void = () => {};
  #atEnd: () => void = () => {};
  readonly #onAbort = () => {
    this.notify();
    this.#atEnd();
  };

  constructor(readonly signal: AbortSignal) {
    signal.addEventListener("abort", this.#onAbort);
  }

  get aborted(): boolean {
    return this.signal.aborted;
  }

  notify(): void {
    this.#isDue = true;
    this.#wake();
  }

  /** What to do when the watch is told to end. */
  atEnd(act: () => void): void {
    this.#atEnd = act;
  }

  /** From here on a notification counts. */
  expect(): void {
    this.#isDue = false;
  }

  wait(mostMs?: number): Promise<void> {
    if (this.#isDue || this.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = mostMs === undefined ? undefined : setTimeout(resolve, mostMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  end(): void {
    this.signal.removeEventListener("abort", this.#onAbort);
  }
}
