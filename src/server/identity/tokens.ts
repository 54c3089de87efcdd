/**
 * Access tokens that the operator hands out. They are kept in the store itself, as documents of a user that no caller can
 * be: so every replica on one store knows them, no file has to be shared, and expiry is a document's own.
 *
 * Only the SHA-256 of a token's secret is kept. It has 256 random bits, so there is nothing to guess that a slower hash
 * would protect.
 *
 * @module
 */

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { HandleExpired, StateError } from "../../document/errors.ts";
import type { Snapshot } from "../../document/snapshot.ts";
import { checkWriter } from "../../document/checks.ts";
import type { HandleStore } from "../../store/store.ts";
import { isScope, type Scope } from "../scopes.ts";
import { type Rate, RateLimit } from "../http/limits.ts";
import { networkOf } from "./anonymous.ts";
import { checkCaller, TOKENS_USER } from "./callers.ts";
import { bearerToken, type Identity, IdentityRefused, type IdentitySource, IdentityUnavailable } from "./identity.ts";
import { Recent } from "./recent.ts";

/** How long a revoked token may still be let in by a process that has just seen it. */
export const REVOKED_WITHIN_MS = 5_000;

/** Wrong tokens from one address, each of which costs a look into the store. */
const MISSES: Rate = { perSecond: 1, burst: 60 };

const KIND = "token";
const PREFIX = "mcpstate_";
const TOKEN = /^mcpstate_([a-z2-7]{8})_([\w-]{43})$/;

/** A token, without its secret. */
export interface TokenInfo {
  /** What it is revoked by. */
  readonly id: string;
  /** Whose documents it reaches. */
  readonly user: string;
  /** What it allows. */
  readonly scopes: readonly Scope[];
  /** Who is recorded as the writer. */
  readonly writer?: string;
  /** ISO 8601 in UTC. */
  readonly createdAt: string;
  /** ISO 8601 in UTC; absent if it does not expire. */
  readonly expiresAt?: string;
}

/** What a new token is to be. */
export interface TokenOptions {
  /** Whose documents it reaches. */
  readonly user: string;
  /** What it allows. */
  readonly scopes: readonly Scope[];
  /** Who is recorded as the writer; absent: the client's name. */
  readonly writer?: string;
  /** How long it is good, in days; absent: until it is revoked. */
  readonly ttlDays?: number;
}

/** Makes a token. Its text is answered this once and kept nowhere. @throws {InvalidInput} for a user, writer or time to live that makes no sense. */
export async function addToken(
  store: HandleStore,
  { user, scopes, writer, ttlDays }: TokenOptions,
): Promise<{ readonly token: string; readonly info: TokenInfo }> {
  checkCaller(user);
  if (writer !== undefined) checkWriter(writer);
  const secret = randomBytes(32).toString("base64url");
  const state = {
    user,
    scopes,
    hash: hash(secret).toString("hex"),
    ...(writer === undefined ? {} : { writer }),
  };
  const made = await store.create(KIND, state, {
    user: TOKENS_USER,
    title: "access token",
    writer: "token add",
    ttlDays,
  });
  const info = toInfo(made);
  return { token: `${PREFIX}${info.id}_${secret}`, info };
}

/** Every token, the newest first. */
export async function listTokens(store: HandleStore): Promise<readonly TokenInfo[]> {
  const tokens: TokenInfo[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list(TOKENS_USER, { kind: KIND, limit: 1000, cursor });
    for (const { handle } of page.handles) {
      try {
        const kept = await store.find(handle, { user: TOKENS_USER }); // it may have gone meanwhile
        if (kept !== undefined) tokens.push(toInfo(kept));
      } catch (error) {
        if (!(error instanceof HandleExpired)) throw error;
      }
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  return tokens;
}

/** Ends a token. @throws {HandleNotFound} if there is none of that id. */
export async function revokeToken(store: HandleStore, id: string): Promise<void> {
  await store.revoke(`${KIND}_${id}`, { user: TOKENS_USER });
}

/** Whether a bearer token is one of ours, by its looks. */
export function isOurToken(token: string): boolean {
  return token.startsWith(PREFIX);
}

/**
 * Lets in who holds a token of the store. From an address that sent too many wrong ones, `identify` throws `RateLimited`
 * for every token that was not let in a moment ago.
 *
 * @param rate How many wrong ones. By default one a second, 60 at once after a pause.
 */
export function tokenIdentity(store: HandleStore, rate: Rate = MISSES): IdentitySource {
  const recent = new Recent<Identity>();
  const misses = new RateLimit(rate);
  return {
    async identify({ headers, address }) {
      const token = bearerToken(headers);
      const known = recent.get(token);
      if (known !== undefined) return known;
      const [, id, secret] = TOKEN.exec(token) ?? [];
      if (id === undefined) throw refused();
      const network = networkOf(address);
      misses.check(network);
      const identity = await verify(store, id, secret).catch((error) => {
        if (error instanceof IdentityRefused) misses.take(network);
        throw error;
      });
      recent.set(token, identity, Math.min(Date.now() + REVOKED_WITHIN_MS, identity.expiresAt ?? Infinity));
      return identity;
    },
  };
}

async function verify(store: HandleStore, id: string, secret: string): Promise<Identity> {
  const kept = await read(store, id);
  const { hash: expected } = kept.state;
  if (typeof expected !== "string" || !timingSafeEqual(hash(secret), Buffer.from(expected, "hex"))) throw refused();
  const { user, scopes, writer, expiresAt } = toInfo(kept);
  return {
    user: checkCaller(user),
    scopes,
    ...(writer === undefined ? {} : { writer }),
    ...(expiresAt === undefined ? {} : { expiresAt: Date.parse(expiresAt) }),
  };
}

async function read(store: HandleStore, id: string): Promise<Snapshot> {
  try {
    const kept = await store.find(`${KIND}_${id}`, { user: TOKENS_USER });
    if (kept === undefined) throw refused();
    return kept;
  } catch (error) {
    if (error instanceof HandleExpired) throw new IdentityRefused("The token has expired.");
    if (error instanceof StateError) {
      throw new IdentityUnavailable("Tokens cannot be checked just now. Try again.", { cause: error });
    }
    throw error;
  }
}

function toInfo({ handle, state, createdAt, expiresAt }: Snapshot): TokenInfo {
  const { user, scopes, writer } = state;
  return {
    id: handle.slice(KIND.length + 1),
    user: typeof user === "string" ? user : "",
    scopes: Array.isArray(scopes) ? scopes.filter((scope) => typeof scope === "string" && isScope(scope)) : [],
    ...(typeof writer === "string" ? { writer } : {}),
    createdAt,
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}

/** The same for every fault, so that nobody learns which ids there are. */
function refused(): IdentityRefused {
  return new IdentityRefused("The token is not valid here.");
}

function hash(secret: string): Uint8Array & { toString(encoding: "hex"): string } {
  return createHash("sha256").update(secret).digest();
}
