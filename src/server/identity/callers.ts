/**
 * Names of users by how they were verified, so that no two callers ever share one.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { checkUser } from "../../document/checks.ts";
import { InvalidInput } from "../../document/errors.ts";

/** Users that begin so are the server's own. No caller is one. */
const RESERVED = "mcpstate:";
/** The user whose documents are the access tokens. */
export const TOKENS_USER = `${RESERVED}tokens`;

const MAX_USER_BYTES = 512;

/** @throws {InvalidInput} unless it is a user that a caller may be. */
export function checkCaller(user: unknown): string {
  const name = checkUser(user);
  if (!name.startsWith(RESERVED)) return name;
  throw new InvalidInput("user", `user begins with ${RESERVED}, which is kept for the server itself: choose another.`);
}

/**
 * The user of a subject at an issuer. Two pairs never give one user: each part is encoded without a colon, and what
 * would be too long is named by its SHA-256 under a prefix of its own.
 *
 * @throws {URIError} for a lone surrogate, which no encoding keeps.
 */
export function subjectUser(issuer: string, subject: string): string {
  const user = `oauth:${encodeURIComponent(issuer)}:${encodeURIComponent(subject)}`;
  return user.length <= MAX_USER_BYTES ? user : `oauth-sha256:${digest(user)}`;
}

/** The user whose only document is that of a handle. */
export function handleUser(handle: string): string {
  return `handle-sha256:${digest(handle)}`;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
