/**
 * Tokens of the operator's and of an issuer's, side by side: their looks say whose they are.
 *
 * @module
 */

import { bearerToken, type IdentitySource } from "./identity.ts";
import { isOurToken } from "./tokens.ts";

/** Asks `ours` about tokens that were added here, and `issuer` about all others. */
export function eitherBearer(ours: IdentitySource, issuer: IdentitySource): IdentitySource {
  return {
    // Not by trial: a token of one kind is never shown to whoever checks the other.
    async identify(credentials) {
      const source = isOurToken(bearerToken(credentials.headers)) ? ours : issuer;
      return await source.identify(credentials);
    },
  };
}
