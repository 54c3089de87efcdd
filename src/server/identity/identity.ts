/**
 * Who is asking, verified, and the three ways in which that can fail.
 *
 * @module
 */

import type { Scope } from "../scopes.ts";

/** A caller whose identity has been verified. */
export interface Identity {
  /** Whose documents are reached. No two callers share one unless they are the same. */
  readonly user: string;
  /** What the caller may do. */
  readonly scopes: readonly Scope[];
  /** Who to record as the writer, where whoever made the token said so. */
  readonly writer?: string;
  /** Who to record where neither that nor the client itself says anything. */
  readonly client?: string;
  /** When the token ends, in milliseconds since 1970. */
  readonly expiresAt?: number;
}

/** What of a request tells who is asking. */
export interface Credentials {
  /** Its headers. */
  readonly headers: Headers;
  /** The address at the other end of the connection. */
  readonly address: string;
}

/** Finds out who is asking. */
export interface IdentitySource {
  /** @throws {IdentityRefused | IdentityUnavailable} */
  identify(credentials: Credentials): Promise<Identity>;
}

/** There is no token, or none that is valid. The message says what is wrong with it and never repeats it. */
export class IdentityRefused extends Error {
  override readonly name = "IdentityRefused";
}

/** There is no token at all. */
export class IdentityMissing extends IdentityRefused {}

/** Whoever could tell is not there just now: neither a yes nor a no. */
export class IdentityUnavailable extends Error {
  override readonly name = "IdentityUnavailable";
}

/** The token of an `Authorization` header (RFC 6750, section 2.1). @throws {IdentityRefused} */
export function bearerToken(headers: Headers): string {
  const authorization = headers.get("authorization");
  if (authorization === null) throw new IdentityMissing("A bearer token is needed.");
  const [, token] = /^bearer +([\w.~+/-]+=*) *$/i.exec(authorization) ?? [];
  if (token === undefined) throw new IdentityRefused("The Authorization header holds no bearer token.");
  return token;
}
