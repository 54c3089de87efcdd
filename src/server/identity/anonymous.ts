/**
 * Callers whom nobody knows: whoever has a handle has the document, and nobody finds one without it.
 *
 * @module
 */

import { InvalidInput } from "../../document/errors.ts";
import type { HandleStore } from "../../store/store.ts";
import type { StateStore } from "../call.ts";
import { SCOPES } from "../scopes.ts";
import { handleUser } from "./callers.ts";
import type { IdentitySource } from "./identity.ts";

/** How long a document lives if nothing is said, and at most, in days. It always ends: nobody would come to delete it. */
const USUAL_TTL_DAYS = 30;
const MOST_TTL_DAYS = 365;

/** Stands where a user is asked for. No document is this user's. */
export const NOBODY = "anonymous";

/** Lets in everyone. What an address may do is counted for it as for a user. */
export function anyone(): IdentitySource {
  return { identify: ({ address }) => Promise.resolve({ user: networkOf(address), scopes: SCOPES }) };
}

/** Whom an address belongs to, as far as can be told: in IPv6 everyone has a whole network of 64 bits. */
export function networkOf(address: string): string {
  if (!address.includes(":") || address.includes(".")) return address;
  const [head, tail = ""] = address.split("::");
  const [before, after] = [head, tail].map((part) => part === "" ? [] : part.split(":"));
  const missing = address.includes("::") ? Array(Math.max(0, 8 - before.length - after.length)).fill("0") : [];
  return `${[...before, ...missing, ...after].slice(0, 4).join(":")}::/64`;
}

/**
 * A store in which each document has a user of its own, which follows from its handle. There is nothing across documents:
 * no list, no search, no suggestion, no request id that would find what another call has made.
 *
 * @param mayMint Called before each mint; throws `RateLimited` where there were too many.
 */
export function unownedStore(store: HandleStore, mayMint: () => void): StateStore {
  const own = <Options extends object>(handle: string, options: Options) => ({ ...options, user: handleUser(handle) });
  return {
    async create(kind, state, { user: _, requestId, ttlDays, ...options }) {
      if (requestId !== undefined) {
        throw new InvalidInput(
          "request_id",
          "request_id cannot be kept for a mint here, since nobody knows whose it is: leave it out.",
        );
      }
      const lives = { ...options, ttlDays: checkLife(ttlDays) ?? USUAL_TTL_DAYS };
      mayMint();
      return await store.createUnowned(kind, state, lives, handleUser);
    },
    get: (handle, options) => store.get(handle, own(handle, options)),
    view: (handle, options) => store.view(handle, own(handle, options)),
    patch: (handle, ops, options) => store.patch(handle, ops, own(handle, options)),
    restore: (handle, version, options) => store.restore(handle, version, own(handle, options)),
    changes: (handle, options) => store.changes(handle, own(handle, options)),
    revoke: (handle, options) => store.revoke(handle, own(handle, options)),
    async save(handle, state, options) {
      checkLife(options.ttlDays);
      return await store.save(handle, state, own(handle, options));
    },
    async touch(handle, options) {
      checkLife(options.ttlDays);
      return await store.touch(handle, own(handle, options));
    },
    list: () =>
      Promise.reject(new InvalidInput("handle", "There is no list here: pass the handle that you were given.")),
  };
}

/** @throws {InvalidInput} if it would outlive everyone's memory of it. */
function checkLife(ttlDays: number | null | undefined): number | undefined {
  if (ttlDays === null) {
    throw new InvalidInput("persist", `Nothing is kept for ever here: renew it with ttl_days, up to ${MOST_TTL_DAYS}.`);
  }
  if (ttlDays !== undefined && ttlDays > MOST_TTL_DAYS) {
    throw new InvalidInput("ttl_days", `ttl_days may be at most ${MOST_TTL_DAYS} here: nobody signs in to delete it.`);
  }
  return ttlDays;
}
