/**
 * Keeps what was used last, bounded by what it costs.
 *
 * @module
 */

/** A map that drops what was not used for longest. */
export class Lru<T> {
  readonly #entries = new Map<string, { readonly value: T; readonly cost: number }>();
  readonly #maxCost: number;
  #cost = 0;

  constructor(maxCost: number) {
    this.#maxCost = maxCost;
  }

  /** What is kept under a key; it counts as used. */
  get(key: string): T | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Keeps a value, in the place of the one before; one that costs more than all may is not kept. */
  set(key: string, value: T, cost: number): void {
    this.delete(key);
    if (cost > this.#maxCost) return;
    this.#entries.set(key, { value, cost });
    this.#cost += cost;
    while (this.#cost > this.#maxCost) {
      const [oldest] = this.#entries.keys();
      this.delete(oldest);
    }
  }

  /** Forgets everything. */
  clear(): void {
    this.#entries.clear();
    this.#cost = 0;
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#cost -= entry.cost;
    this.#entries.delete(key);
  }
}
