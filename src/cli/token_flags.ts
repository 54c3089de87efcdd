/**
 * The flags of `token`, and what they come to.
 *
 * @module
 */

import { checkTtl, checkWriter } from "../document/checks.ts";
import { checkCaller } from "../server/identity/callers.ts";
import { type Scope, SCOPES } from "../server/scopes.ts";
import type { Flag } from "./command.ts";
import { UsageError } from "./usage.ts";

/** By name, in the order of the help. */
export const TOKEN_FLAGS = {
  user: { value: "NAME", check: checkCaller, does: "add: whose documents it reaches" },
  scope: { value: "LIST", check: toScopes, does: "add: what it allows: read, write or read,write (the default)" },
  writer: { value: "NAME", check: checkWriter, does: "add: who is recorded as the writer, such as phone" },
  "ttl-days": { value: "N", check: toTtl, does: "add: how long it is good (default: until it is revoked)" },
} as const satisfies Readonly<Record<string, Flag>>;

/** @throws {UsageError} for anything but read and write. */
export function toScopes(text: string): readonly Scope[] {
  return text.split(",").map((word) => {
    const scope = SCOPES.find((each) => each === `mcpstate:${word.trim()}`);
    if (scope === undefined) throw new UsageError("it is read, write or read,write.");
    return scope;
  });
}

/** @throws {InvalidInput} unless it is a number of days. */
export function toTtl(text: string): number {
  return checkTtl(text.trim() === "" ? NaN : Number(text));
}
