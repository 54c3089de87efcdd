/**
 * One user for everyone who reaches the port, which is on this machine alone.
 *
 * @module
 */

import { isLoopback } from "../http/loopback.ts";
import { SCOPES } from "../scopes.ts";
import { checkCaller } from "./callers.ts";
import { IdentityRefused, type IdentitySource } from "./identity.ts";

/** What a proxy adds. A request with one of these began elsewhere, and may be anybody's. */
const PROXIED = ["forwarded", "x-forwarded-for", "x-real-ip", "via"] as const;

/** Everyone on this machine is `user`. @throws {InvalidInput} for a user that makes no sense. */
export function localUser(user: string): IdentitySource {
  const identity = { user: checkCaller(user), scopes: SCOPES };
  return {
    identify({ headers, address }) {
      if (!isLoopback(address) || PROXIED.some((name) => headers.has(name))) {
        return Promise.reject(
          new IdentityRefused(
            "With --user this server is for its own machine; this request comes from elsewhere. Use tokens instead.",
          ),
        );
      }
      return Promise.resolve(identity);
    },
  };
}
