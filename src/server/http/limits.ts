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

interface Bucket {
  tokens: number;
  /** When it was filled last. */
  at: number;
}

/** A bucket of tokens for each key, filled as time goes by. */
export class RateLimit {
  readonly #buckets = new Map<string, Bucket>();

  constructor(readonly rate: Rate) {}

  /** @throws {RateLimited} with how long to wait. */
  take(key: string, count = 1): void {
    const bucket = this.#filled(key);
    const wanted = Math.min(count, this.rate.burst);
    this.#require(bucket, wanted);
    bucket.tokens -= wanted;
  }

  /** Takes nothing. @throws {RateLimited} if one could not be taken. */
  check(key: string): void {
    this.#require(this.#filled(key), 1);
  }

  #require({ tokens }: Bucket, wanted: number): void {
    if (tokens < wanted) throw new RateLimited(Math.ceil((wanted - tokens) / this.rate.perSecond * 1000));
  }

  #filled(key: string): Bucket {
    const now = performance.now();
    const { perSecond, burst } = this.rate;
    const bucket = this.#buckets.get(key) ?? this.#add(key, now);
    bucket.tokens = Math.min(burst, bucket.tokens + (now - bucket.at) / 1000 * perSecond);
    bucket.at = now;
    return bucket;
  }

  #add(key: string, now: number): Bucket {
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
