/**
 * The public keys of an issuer: found by its metadata or where the operator says, kept, and fetched anew when a token
 * names one that is not there.
 *
 * @module
 */

import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from "jose";
import { isObject } from "../../document/json.ts";
import { IdentityUnavailable } from "./identity.ts";
import { isOutOfReach, type KeysAt } from "./key_places.ts";

/** When keys are asked for. */
export interface KeyTimes {
  /** How long keys are good. Default 10 min. */
  readonly cacheMs?: number;
  /** How long after fetching them they are not fetched for an unknown one. Default 30 s. */
  readonly cooldownMs?: number;
}

const TIMEOUT_MS = 5_000;

/** Finds the key of a token. Rejects with `IdentityUnavailable` if there is nobody to ask. */
export function issuerKeys(issuer: string, at: KeysAt, times: KeyTimes = {}): JWTVerifyGetKey {
  const options = {
    timeoutDuration: TIMEOUT_MS,
    cacheMaxAge: times.cacheMs,
    cooldownDuration: times.cooldownMs,
    [customFetch]: fetchWhole,
  };
  let keys: Promise<JWTVerifyGetKey> | undefined;
  const open = async () => {
    switch (at.from) {
      case "issuer":
        return createRemoteJWKSet(await discoverKeys(issuer), options);
      case "url":
        return createRemoteJWKSet(checkKeyUrl(at.url), options);
      case "file": {
        const read = async () => new Response(await Deno.readTextFile(at.path));
        return createRemoteJWKSet(new URL("file:///jwks"), { ...options, [customFetch]: read });
      }
    }
  };
  return async (header, token) => {
    try {
      keys ??= open();
      return await (await keys)(header, token);
    } catch (error) {
      if (isTokensFault(error)) throw error;
      // Metadata that could not be read, or led to keys that cannot be, is read again.
      if (at.from === "issuer") keys = undefined;
      throw unavailable(error);
    }
  };
}

/** What is no answer to go by is not left unread, or its connection would stay open. */
async function fetchWhole(url: string, options: RequestInit): Promise<Response> {
  const answer = await fetch(url, options);
  if (answer.status !== 200) await answer.body?.cancel();
  return answer;
}

/** Whether it is the token that names a key which is not there, rather than the keys that are not. */
function isTokensFault(error: unknown): boolean {
  return error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys ||
    error instanceof errors.JOSENotSupported || error instanceof errors.JOSEAlgNotAllowed;
}

function unavailable(cause: unknown): IdentityUnavailable {
  return new IdentityUnavailable("Tokens cannot be checked just now: the issuer's keys are out of reach. Try again.", {
    cause,
  });
}

/** RFC 8414, section 3.1, and OpenID Connect Discovery 1.0, section 4. */
function metadataUrls(issuer: URL): readonly URL[] {
  const path = issuer.pathname.replace(/\/$/, "");
  return [
    new URL(`/.well-known/oauth-authorization-server${path}`, issuer),
    new URL(`${path}/.well-known/openid-configuration`, issuer),
  ];
}

async function discoverKeys(issuer: string): Promise<URL> {
  const faults: unknown[] = [];
  for (const url of metadataUrls(new URL(issuer))) {
    try {
      const answer = await fetch(url, { redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS) });
      const metadata: unknown = answer.ok ? await answer.json() : await answer.body?.cancel();
      if (!isObject(metadata)) throw new Error(`${url} answered ${answer.status}`);
      // RFC 8414, section 3.3: or another issuer's keys would be taken for this one's.
      if (metadata.issuer !== issuer) throw new Error(`${url} speaks for another issuer`);
      if (typeof metadata.jwks_uri !== "string") throw new Error(`${url} names no keys`);
      return checkKeyUrl(new URL(metadata.jwks_uri));
    } catch (error) {
      faults.push(error);
    }
  }
  throw new AggregateError(faults, "the issuer's metadata could not be read");
}

/** @throws {TypeError} for an address at which somebody on the way could put keys of their own. */
export function checkKeyUrl(url: URL): URL {
  if (isOutOfReach(url)) return url;
  throw new TypeError(`${url.origin} is not reached by https`);
}
