/**
 * A world in which nothing happens by itself: time, timers and every step of every process wait until they are chosen,
 * by a seeded generator. So a run is decided by its plan alone, and can be had again.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { setImmediate } from "node:timers";

/** Numbers from 0 to below 1, the same ones for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = state + 0x6d2b79f5 | 0;
    let t = Math.imul(state ^ state >>> 15, 1 | state);
    t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t;
    return ((t ^ t >>> 14) >>> 0) / 4294967296;
  };
}

/** What `setTimeout` answers, in the form that Node has. */
interface Timer {
  at: number;
  readonly every: number | undefined;
  readonly ring: () => void;
  readonly unref: () => Timer;
}

function digestOf(algorithm: string, data: BufferSource): ArrayBuffer {
  const bytes = ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : data;
  return new Uint8Array(createHash(algorithm.replace("-", "")).update(new Uint8Array(bytes)).digest()).buffer;
}

/** Something that is ready to happen. */
interface Event {
  readonly process: string;
  readonly happen: () => Promise<void> | void;
  /** Of a request that is under way: what its process, or the wire, may make of it. */
  readonly lose?: () => void;
  readonly isReply?: boolean;
}

/** What befalls the message that is chosen at a step. */
export type Mishap = "lose" | "double";

/** Loses a message on its way: whoever sent it cannot know. */
export type Lost = () => unknown;

/** The times at which everything happens, from its making until it is disposed of: nobody meets the real ones meanwhile. */
export class World implements Disposable {
  /** Which step this is: the clock of histories. */
  step = 0;
  /** Milliseconds that have passed. */
  time = Date.UTC(2026, 6, 1);
  readonly #events: Event[] = [];
  readonly #timers = new Set<Timer>();
  readonly #random: () => number;
  readonly #dead = new Set<string>();
  #mishap: Mishap | undefined;
  readonly #putBack: () => void;

  /** @param paceOf how fast a process is, of which an event is: at twice the pace, twice as likely to be next. */
  constructor(seed: number, readonly paceOf: (process: string) => number = () => 1) {
    this.#random = randomOf(seed);
    this.#putBack = this.#takeOver();
  }

  [Symbol.dispose](): void {
    this.#putBack();
  }

  /** Carries a request to a server and its reply back. Each way is a step, and either can be lost. */
  carry<T>(process: string, serve: () => Promise<T>, lost: Lost): Promise<T> {
    if (this.#dead.has(process)) return new Promise(() => {});
    return new Promise((resolve, reject) => {
      const fail = () => reject(lost());
      const reply = (answer: { value: T } | { error: unknown }) => {
        if (this.#dead.has(process)) return;
        this.#events.push({
          process,
          isReply: true,
          lose: fail,
          happen: () => "value" in answer ? resolve(answer.value) : reject(answer.error),
        });
      };
      const attempt = () => serve().then((value) => ({ value }), (error) => ({ error }));
      this.#events.push({
        process,
        lose: fail,
        happen: async () => {
          const isDoubled = this.#mishap === "double";
          const answer = await attempt();
          reply(isDoubled ? await attempt() : answer);
        },
      });
    });
  }

  /** Ends a process: its replies go nowhere, and each of its requests may or may not arrive. */
  crash(process: string): void {
    this.#dead.add(process);
    const own = this.#events.filter((event) => event.process === process);
    for (const event of own) {
      if (event.isReply || this.#random() < 0.5) this.#events.splice(this.#events.indexOf(event), 1);
    }
  }

  /** Lets things happen until `isOver`, or nothing can. `before` is called before each step. Answers whether it is over. */
  async run(isOver: () => boolean, mostSteps: number, before: () => Mishap | undefined): Promise<boolean> {
    for (const end = this.step + mostSteps; this.step < end; this.step++) {
      await new Promise((resolve) => setImmediate(resolve));
      if (isOver()) return true;
      this.#mishap = before();
      this.time++;
      if (this.#events.length === 0 || this.#random() < 0.005) this.#ring();
      if (this.#events.length === 0) continue;
      const [event] = this.#events.splice(this.#choose(), 1);
      if (this.#mishap === "lose" && event.lose !== undefined) event.lose();
      else await event.happen();
    }
    return false;
  }

  /** The place of the event that is next. */
  #choose(): number {
    const paces = this.#events.map(({ process }) => this.paceOf(process));
    let rest = this.#random() * paces.reduce((sum, pace) => sum + pace, 0);
    const chosen = paces.findIndex((pace) => (rest -= pace) < 0);
    return chosen === -1 ? paces.length - 1 : chosen;
  }

  /** Lets the next timer go off. */
  #ring(): void {
    const [next] = [...this.#timers].toSorted((a, b) => a.at - b.at);
    if (next === undefined) return;
    this.time = Math.max(this.time, next.at);
    if (next.every === undefined) this.#timers.delete(next);
    else next.at = this.time + next.every;
    next.ring();
  }

  /** Puts this world's clock, timers and chance in the place of the real ones, and answers how to put them back. */
  #takeOver(): () => void {
    const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;
    const { now } = Date;
    const { random } = Math;
    const { digest } = crypto.subtle;
    const begun = this.time;
    const set = (ring: () => void, delay = 0, isRepeated = false) => {
      const every = isRepeated ? Math.max(delay, 1) : undefined;
      const timer: Timer = { at: this.time + delay, every, ring, unref: () => timer };
      this.#timers.add(timer);
      return timer;
    };
    const clear = (timer?: Timer) => void (timer && this.#timers.delete(timer));
    Object.assign(globalThis, {
      setTimeout: (ring: () => void, delay?: number) => set(ring, delay),
      clearTimeout: clear,
      setInterval: (ring: () => void, delay?: number) => set(ring, delay, true),
      clearInterval: clear,
    });
    Date.now = () => this.time;
    performance.now = () => this.time - begun;
    Math.random = this.#random;
    // On a thread of its own it would be done at a moment that no seed decides.
    crypto.subtle.digest = (algorithm, data) => Promise.resolve(digestOf(String(algorithm), data));
    return () => {
      Object.assign(globalThis, { setTimeout, clearTimeout, setInterval, clearInterval });
      Date.now = now;
      delete (performance as Partial<Performance>).now; // the prototype has it
      Math.random = random;
      crypto.subtle.digest = digest;
    };
  }
}
