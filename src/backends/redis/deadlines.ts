/**
 * Ends waits that take too long, with one timer for all of them: a timer of its own for each command costs as much as
 * what the server does for it.
 *
 * @module
 */

interface Wait {
  /** On the clock of `performance.now`. */
  readonly until: number;
  readonly expire: () => void;
}

/** The deadlines of one way to Redis. */
export class Deadlines {
  readonly #waits = new Set<Wait>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #wakeAt = Infinity;
  #closed = false;

  /**
   * Settles as the promise does, or rejects with what `late` answers when the time is over.
   *
   * @param failed what to reject with instead of what the promise does.
   */
  within<T>(
    promise: Promise<T>,
    timeoutMs: number,
    late: () => Error,
    failed: (error: unknown) => unknown = (error) => error,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const wait: Wait = { until: performance.now() + timeoutMs, expire: () => reject(late()) };
      this.#waits.add(wait);
      if (wait.until < this.#wakeAt) this.#wake(wait.until);
      promise.then((value) => {
        this.#end(wait);
        resolve(value);
      }, (error) => {
        this.#end(wait);
        reject(failed(error));
      });
    });
  }

  /** Stops the timer as soon as nothing is waited for. */
  close(): void {
    this.#closed = true;
    if (this.#waits.size === 0) this.#stop();
  }

  #end(wait: Wait): void {
    this.#waits.delete(wait);
    if (this.#closed && this.#waits.size === 0) this.#stop();
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#wakeAt = Infinity;
  }

  /** What was waited for is usually there long before, and the timer stays: most of what begins later is due later. */
  #wake(at: number): void {
    clearTimeout(this.#timer);
    this.#wakeAt = at;
    this.#timer = setTimeout(() => this.#expire(), Math.max(0, Math.ceil(at - performance.now())));
    this.#timer.unref(); // what is waited for keeps the process alive, not this
  }

  #expire(): void {
    const now = performance.now();
    this.#wakeAt = Infinity;
    let next = Infinity;
    for (const wait of this.#waits) {
      if (wait.until <= now) {
        this.#waits.delete(wait);
        wait.expire();
      } else next = Math.min(next, wait.until);
    }
    if (next < this.#wakeAt) this.#wake(next);
  }
}
