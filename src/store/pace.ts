/**
 * Begins what is queued some at a time, so that an engine far away works on the first while the next are made ready.
 *
 * @module
 */

import { setImmediate } from "node:timers";

/** How many begin in one turn of the event loop. */
const AT_ONCE = 16;

/** Work that begins soon, in its order. */
export class Pace {
  #waiting: (() => void)[] = [];

  /** Begins work once the caller has come to a pause, or some turns of the event loop later if there is a lot. */
  begin(work: () => void): void {
    if (this.#waiting.push(work) === 1) queueMicrotask(() => this.#next());
  }

  #next(): void {
    const begun = this.#waiting.slice(0, AT_ONCE);
    this.#waiting = this.#waiting.slice(AT_ONCE);
    // Before any of it begins: what it queues itself waits for this, or begins anew.
    // Not in the very next turn: in that a client writes what begins now, and would first wait for what begins then.
    if (this.#waiting.length > 0) setImmediate(() => setImmediate(() => this.#next()));
    for (const work of begun) work();
  }
}
