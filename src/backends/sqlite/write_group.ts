/**
 * Writes that come in one turn of the event loop share a transaction: to begin and to commit costs more than all else.
 *
 * @module
 */

import { setImmediate } from "node:timers";
import { BackendError } from "../../document/errors.ts";

/** How many share one at most. Other processes wait meanwhile. */
const MOST = 64;

interface Write {
  readonly step: () => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** The writes of one connection. */
export class WriteGroup {
  readonly #waiting: Write[] = [];

  /** @param transact runs a step as one atomic write, or as if it never was. */
  constructor(readonly transact: <T>(step: () => T) => Promise<T>) {}

  /** Runs `step` as one atomic write. It is synchronous, may be run more than once, and is answered for when it is kept. */
  add<T>(step: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const write = { step, resolve: resolve as (result: unknown) => void, reject };
      if (this.#waiting.push(write) === 1) setImmediate(() => this.flush());
    });
  }

  /** Begins all that waits. Who reads does so first: one who only reads leaves the event loop no turn. */
  flush(): void {
    while (this.#waiting.length > 0) void this.#keep(this.#waiting.splice(0, MOST));
  }

  async #keep(writes: readonly Write[]): Promise<void> {
    try {
      const results = await this.transact(() => writes.map(({ step }) => step()));
      for (const [i, { resolve }] of writes.entries()) resolve(results[i]);
    } catch (error) {
      // What one of them met the others may not meet; what held all of them up, or nobody knows of, would only do so again.
      const isShared = writes.length === 1 || error instanceof BackendError && (error.busy || error.outcomeUnknown);
      for (const write of writes) {
        if (isShared) write.reject(error);
        else await this.transact(write.step).then(write.resolve, write.reject);
      }
    }
  }
}
