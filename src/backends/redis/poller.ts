/**
 * Hearing of writes with a client that was handed in: by its owner's way to subscribe, if there is one, and by asking for
 * the sequence number, which also finds what a lost connection has missed.
 *
 * @module
 */

import { closed, toBackendError, Unanswered } from "./errors.ts";
import { Channels, type Ears } from "./ears.ts";
import { type Link, within } from "./link.ts";

/** Subscribes to a channel and answers how to end that. */
export type Subscribe = (channel: string, listener: () => void) => Promise<() => unknown>;

/** How often the sequence number is asked for, without and with somebody who tells. */
const ALONE_MS = 100;
const TOLD_MS = 2_000;

/** Asks while somebody listens. */
export class Poller implements Ears {
  readonly #channels = new Channels();
  readonly #seen = new Map<string, unknown>();
  readonly #ends = new Set<() => unknown>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  constructor(readonly link: Link, readonly deadlineMs: number, readonly tell?: Subscribe) {}

  async subscribe(channel: string, notify: () => void): Promise<AsyncDisposable> {
    if (this.#closed) throw closed();
    const listener = () => notify();
    const late = () => new Unanswered("no subscription in time", false);
    let end: () => unknown = () => {};
    try {
      if (this.tell !== undefined) end = await within(this.tell(channel, listener), this.deadlineMs, late);
      if (!this.#seen.has(channel)) this.#seen.set(channel, await this.#ask(channel));
    } catch (error) {
      await end();
      throw toBackendError(error, false);
    }
    this.#channels.add(channel, listener);
    this.#ends.add(end);
    this.#timer ??= this.#schedule();
    return {
      [Symbol.asyncDispose]: async () => {
        if (this.#channels.delete(channel, listener)) this.#seen.delete(channel);
        if (this.#channels.isEmpty) this.#rest();
        if (this.#ends.delete(end)) await end();
      },
    };
  }

  close(): void {
    this.#closed = true;
    this.#channels.clear();
    this.#rest();
    for (const end of this.#ends) end();
    this.#ends.clear();
  }

  #rest(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #schedule(): ReturnType<typeof setTimeout> {
    return setTimeout(async () => {
      await Promise.all(this.#channels.names.map((channel) => this.#look(channel)));
      if (!this.#channels.isEmpty) this.#timer = this.#schedule();
    }, this.tell === undefined ? ALONE_MS : TOLD_MS);
  }

  async #look(channel: string): Promise<void> {
    let seq: unknown;
    try {
      seq = await this.#ask(channel);
    } catch {
      seq = Symbol("missed"); // differs from whatever is seen next
    }
    if (!this.#seen.has(channel) || this.#seen.get(channel) === seq) return;
    this.#seen.set(channel, seq);
    if (typeof seq !== "symbol") this.#channels.notify(channel);
  }

  /** A user's channel bears the name of the key that holds the sequence number. */
  #ask(channel: string): Promise<unknown> {
    return this.link.send(["HGET", channel, "seq"], channel, this.deadlineMs);
  }
}
