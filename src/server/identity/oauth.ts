/**
 * Access tokens of an OAuth issuer: JSON Web Tokens, signed with a key of the issuer's, for this server.
 *
 * @module
 */

import { errors, type JWTPayload, jwtVerify } from "jose";
import { toWriter } from "../call.ts";
import { isScope, type Scope } from "../scopes.ts";
import { subjectUser } from "./callers.ts";
import { bearerToken, type Identity, IdentityRefused, type IdentitySource } from "./identity.ts";
import type { KeysAt } from "./key_places.ts";
import { issuerKeys, type KeyTimes } from "./keys.ts";
import { Recent } from "./recent.ts";

/** Whose tokens are taken. */
export interface OAuthOptions {
  /** The issuer, exactly as tokens name it. */
  readonly issuer: string;
  /** The audiences of which a token must name one. */
  readonly audience: readonly string[];
  /** Where the issuer's keys are. Default: where its metadata says. */
  readonly keys?: KeysAt;
  /** When keys are asked for. */
  readonly times?: KeyTimes;
}

/** Signatures that need a private key. With a shared one, whoever can check tokens could make them. */
const ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];
/** How far clocks may differ, in seconds. */
const SKEW_S = 5;
/** How long a token is not verified again: as long as a key that was withdrawn may still count. */
const RECENT_MS = 60_000;

/** Lets in who holds a token of the issuer. */
export function oauthIdentity({ issuer, audience, keys = { from: "issuer" }, times }: OAuthOptions): IdentitySource {
  const find = issuerKeys(issuer, keys, times);
  const recent = new Recent<Identity>();
  const checks = {
    issuer,
    audience: [...audience],
    algorithms: ALGORITHMS,
    requiredClaims: ["sub", "exp"],
    clockTolerance: SKEW_S,
  };
  return {
    async identify({ headers }) {
      const token = bearerToken(headers);
      const known = recent.get(token);
      if (known !== undefined) return known;
      const { payload } = await jwtVerify(token, find, checks).catch(refuse);
      const identity = toIdentity(issuer, payload);
      recent.set(token, identity, Math.min(Date.now() + RECENT_MS, identity.expiresAt ?? 0));
      return identity;
    },
  };
}

function refuse(error: unknown): never {
  if (error instanceof errors.JWTExpired) throw new IdentityRefused("The token has expired.", { cause: error });
  if (error instanceof errors.JWTClaimValidationFailed) {
    throw new IdentityRefused(`The token's claim "${error.claim}" is missing or not as it must be.`, { cause: error });
  }
  if (error instanceof errors.JOSEError) throw new IdentityRefused("The token is not valid here.", { cause: error });
  throw error;
}

function toIdentity(issuer: string, payload: JWTPayload): Identity {
  const { sub, exp, azp, client_id: clientId } = payload;
  if (typeof sub !== "string" || sub === "" || exp === undefined) {
    throw new IdentityRefused('The token\'s claim "sub" is missing or not as it must be.');
  }
  const client = [azp, clientId].find((claim) => typeof claim === "string");
  return {
    user: toUser(issuer, sub),
    scopes: scopesIn(payload),
    expiresAt: exp * 1000,
    ...(typeof client === "string" ? { client: toWriter(client) } : {}),
  };
}

function toUser(issuer: string, subject: string): string {
  try {
    return subjectUser(issuer, subject);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    throw new IdentityRefused('The token\'s claim "sub" is not well-formed text.');
  }
}

/** RFC 9068, section 2.2.3: a text with blanks between. Some issuers write `scp`, as a text or a list. */
function scopesIn({ scope, scp }: JWTPayload): readonly Scope[] {
  const said: unknown = scope ?? scp;
  const words: readonly unknown[] = typeof said === "string" ? said.split(" ") : Array.isArray(said) ? said : [];
  return words.filter((word) => typeof word === "string" && isScope(word));
}
