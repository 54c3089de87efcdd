/**
 * How often and how many at once, for each user. Counted in this process alone: behind a balancer every replica allows
 * so much.
 *
 * @module
 */

import { RateLimited } from "../../document/errors.ts";

/** How much a key may do. */
export interface Rate {
  /** How many a second in the long run. */
  readonly perSecond: number;
  /** How many at once after a pause. */
  readonly burst: number;
}

/** How many keys are looked at for being idle, each time one is added. */
const TIDY = 4;

/** A bucket of tokens for each key, filled as time goes by. */
export class RateLimit {
  readonly #buckets = new Map<string, { tokens: number; at: number }>();

  constructor(readonly rate: Rate, readonly now: () => number = () => performance.now()) {}

  /** @throws {RateLimited} with how long to wait. */
  take(key: string, count = 1): void {
    const now = this.now();
    const { perSecond, burst } = this.rate;
    const bucket = this.#buckets.get(key) ?? this.#add(key, now);
    bucket.tokens = Math.min(burst, bucket.tokens + (now - bucket.at) / 1000 * perSecond);
    bucket.at = now;
    const wanted = Math.min(count, burst);
    if (bucket.tokens < wanted) throw new RateLimited(Math.ceil((wanted - bucket.tokens) / perSecond * 1000));
    bucket.tokens -= wanted;
  }

  /** Takes nothing. @throws {RateLimited} if one could not be taken. */
  check(key: string): void {
    this.take(key, 0);
    const { tokens = this.rate.burst } = this.#buckets.get(key) ?? {};
    if (tokens < 1) throw new RateLimited(Math.ceil((1 - tokens) / this.rate.perSecond * 1000));
  }

  /** How many keys are remembered. */
  get size(): number {
    return this.#buckets.size;
  }

  #add(key: string, now: number): { tokens: number; at: number } {
    // A bucket that has filled up again is as good as none: the map stays as small as what is going on.
    let looked = 0;
    for (const [idle, { tokens, at }] of this.#buckets) {
      if (tokens + (now - at) / 1000 * this.rate.perSecond >= this.rate.burst) this.#buckets.delete(idle);
      if (++looked === TIDY) break;
    }
    const bucket = { tokens: this.rate.burst, at: now };
    this.#buckets.set(key, bucket);
    return bucket;
  }
}

/** How many of something each key has at once. */
export class Slots {
  readonly #taken = new Map<string, number>();

  constructor(readonly most: number) {}

  /** Takes one. Answers how to give it back, once. @throws {RateLimited} if all are taken. */
  take(key: string): () => void {
    const taken = this.#taken.get(key) ?? 0;
    if (taken >= this.most) throw new RateLimited(1000);
    this.#taken.set(key, taken + 1);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      const left = (this.#taken.get(key) ?? 1) - 1;
      if (left === 0) this.#taken.delete(key);
      else this.#taken.set(key, left);
    };
  }
}
