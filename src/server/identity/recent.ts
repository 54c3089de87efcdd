/**
 * What was verified a moment ago, so that a caller who asks often is not verified each time.
 *
 * @module
 */

import { Lru } from "../../document/lru.ts";

/** How many are remembered, those asked for last. */
const MOST = 5_000;

/** Values by text, each for a while. */
export class Recent<Value> {
  readonly #values = new Lru<{ readonly value: Value; readonly until: number }>(MOST);

  /** The value, if it is still good. */
  get(key: string): Value | undefined {
    const entry = this.#values.get(key);
    if (entry === undefined) return undefined;
    if (entry.until > Date.now()) return entry.value;
    this.#values.delete(key);
    return undefined;
  }

  /** Remembers until then, in milliseconds since 1970. */
  set(key: string, value: Value, until: number): void {
    this.#values.set(key, { value, until }, 1);
  }
}
