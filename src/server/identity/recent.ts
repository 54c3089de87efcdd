/**
 * What was verified a moment ago, so that a caller who asks often is not verified each time.
 *
 * @module
 */

/** How many are remembered. */
const MOST = 5_000;

/** Values by text, each for a while. */
export class Recent<Value> {
  readonly #values = new Map<string, { readonly value: Value; readonly until: number }>();

  constructor(readonly now: () => number = Date.now) {}

  /** The value, if it is still good. */
  get(key: string): Value | undefined {
    const entry = this.#values.get(key);
    if (entry === undefined) return undefined;
    if (entry.until > this.now()) return entry.value;
    this.#values.delete(key);
    return undefined;
  }

  /** Remembers until then, in milliseconds since 1970. */
  set(key: string, value: Value, until: number): void {
    if (this.#values.size >= MOST) {
      for (const [oldest] of this.#values) {
        this.#values.delete(oldest);
        break;
      }
    }
    this.#values.set(key, { value, until });
  }
}
