/**
 * Hearing of writes: over a connection of its own, or, with a client that cannot listen, by asking for the sequence number.
 *
 * @module
 */

import { connect, type NodeRedis, type Server } from "./connection.ts";
import { closed, isPassing, replyCode, toBackendError, Unanswered } from "./errors.ts";
import { within } from "./link.ts";

/** Whoever hears. */
export interface Ears {
  /** Calls `notify` after each message on a channel, and whenever some may have been missed. */
  subscribe(channel: string, notify: () => void): Promise<AsyncDisposable>;
  close(): void;
}

/** Channels with those who listen to them. */
export class Channels {
  readonly #listeners = new Map<string, Set<() => void>>();

  get names(): readonly string[] {
    return [...this.#listeners.keys()];
  }

  /** Whether nobody listens. */
  get isEmpty(): boolean {
    return this.#listeners.size === 0;
  }

  add(channel: string, notify: () => void): void {
    const there = this.#listeners.get(channel);
    if (there === undefined) this.#listeners.set(channel, new Set([notify]));
    else there.add(notify);
  }

  /** Whether this was the last one of its channel. */
  delete(channel: string, notify: () => void): boolean {
    const there = this.#listeners.get(channel);
    if (there === undefined || !there.delete(notify) || there.size > 0) return false;
    return this.#listeners.delete(channel);
  }

  notify(channel: string): void {
    for (const notify of this.#listeners.get(channel) ?? []) notify();
  }

  clear(): void {
    this.#listeners.clear();
  }
}

/** How often a connection that hears nothing is tried. */
const HEARTBEAT_MS = 3_000;

interface Waiting {
  readonly channel: string;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Listens over a connection of its own, made anew whenever it is lost. On a cluster every server hears every message. */
export class Listener implements Ears {
  readonly #channels = new Channels();
  /** What the connection was asked to listen to, and has confirmed when it settles. */
  readonly #heard = new Map<string, Promise<unknown>>();
  #waiting: Waiting[] = [];
  #client: NodeRedis | undefined;
  #isRunning = false;
  #stop: () => void = () => {};
  #closed = false;

  constructor(readonly servers: () => readonly Server[], readonly deadlineMs: number) {}

  async subscribe(channel: string, notify: () => void): Promise<AsyncDisposable> {
    if (this.#closed) throw closed();
    const listener = () => notify(); // the same function may listen twice
    this.#channels.add(channel, listener);
    const heard = new Promise<void>((resolve, reject) => this.#waiting.push({ channel, resolve, reject }));
    const dispose = () => {
      if (this.#channels.delete(channel, listener)) this.#leave(channel);
      return Promise.resolve();
    };
    try {
      if (this.#client !== undefined) this.#listen(this.#client).catch(() => this.#stop());
      else if (!this.#isRunning) this.#run();
      await within(heard, this.deadlineMs, () => new Unanswered("no subscription in time", false));
    } catch (error) {
      await dispose();
      throw toBackendError(error, false);
    }
    return { [Symbol.asyncDispose]: dispose };
  }

  close(): void {
    this.#closed = true;
    this.#channels.clear();
    for (const { reject } of this.#waiting.splice(0)) reject(closed());
    this.#stop();
  }

  #leave(channel: string): void {
    this.#heard.delete(channel);
    if (this.#channels.isEmpty) this.#stop();
    else this.#client?.unsubscribe(channel).catch(() => {}); // a connection that is lost has forgotten it anyway
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let failures = 0; !this.#channels.isEmpty && !this.#closed;) {
      try {
        await this.#hear(failures);
        failures = 0;
      } catch (error) {
        failures++;
        if (replyCode(error) !== undefined && !isPassing(error)) {
          for (const { reject } of this.#waiting.splice(0)) reject(error);
        }
      }
      if (this.#channels.isEmpty) break;
      await this.#pause(Math.min(2 ** failures * 10, 500) * (0.5 + Math.random()));
    }
    this.#isRunning = false;
    if (!this.#channels.isEmpty && !this.#closed) this.#run(); // somebody came just now
  }

  /** Connects and listens until the connection is lost. */
  async #hear(failures: number): Promise<void> {
    const servers = this.servers();
    const client = await connect(servers[failures % servers.length], this.deadlineMs / 2);
    let heartbeat: ReturnType<typeof setInterval> | undefined;
    try {
      const lost = new Promise<void>((resolve) => {
        this.#stop = resolve;
        client.on("terminated", resolve);
        client.on("end", resolve);
      });
      this.#client = client;
      this.#heard.clear();
      await this.#listen(client);
      // Whatever was told while nobody listened was missed.
      for (const channel of this.#channels.names) this.#channels.notify(channel);
      heartbeat = setInterval(() => {
        within(client.sendCommand(["PING"]), HEARTBEAT_MS, () => new Unanswered("silence", false))
          .catch(() => this.#stop());
      }, HEARTBEAT_MS);
      if (this.#channels.isEmpty || this.#closed) return;
      await lost;
    } finally {
      clearInterval(heartbeat);
      this.#client = undefined;
      client.destroy();
    }
  }

  async #listen(client: NodeRedis): Promise<void> {
    const names = new Set(this.#channels.names);
    for (const channel of names) {
      if (this.#heard.has(channel)) continue;
      const late = () => new Unanswered("no subscription in time", false);
      const asked = client.subscribe(channel, () => this.#channels.notify(channel));
      this.#heard.set(channel, within(asked, this.deadlineMs / 2, late));
    }
    await Promise.all(this.#heard.values());
    const done = this.#waiting.filter(({ channel }) => names.has(channel));
    this.#waiting = this.#waiting.filter(({ channel }) => !names.has(channel));
    for (const { resolve } of done) resolve();
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#stop = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
