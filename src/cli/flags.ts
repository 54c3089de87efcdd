/**
 * The flags that several commands have, and what they come to: by flag, else by environment variable, else by default.
 *
 * @module
 */

import { DEFAULT_URL } from "../backends/open.ts";
import { checkUser, checkWriter } from "../document/checks.ts";
import { checkCaller } from "../server/identity/callers.ts";
import type { Call } from "./call.ts";
import type { Flag } from "./command.ts";
import { UsageError } from "./usage.ts";

/** Whose documents are meant if nothing is said. */
export const DEFAULT_USER = "local";

/** Where state is kept. */
export const BACKEND: Flag = {
  value: "URL",
  variable: "MCPSTATE_BACKEND",
  names: "backend",
  default: DEFAULT_URL,
  does: `where state is kept (default ${DEFAULT_URL})`,
};

/** Whose documents. */
export const USER: Flag = {
  value: "NAME",
  variable: "MCPSTATE_USER",
  does: `whose documents these are (default ${DEFAULT_USER})`,
  check: checkCaller,
};

/** Only of one user; of all if it is left out. */
export const ONLY_USER: Flag = {
  value: "NAME",
  does: "only the documents of this user (default: of all)",
  check: checkUser,
};

/** For other programs. */
export const JSON_OUTPUT: Flag = { does: "print JSON, for other programs" };

/** To judge only. */
export const DRY_RUN: Flag = { does: "only say what would come of it" };

/** How large a state may be. */
export const MAX_STATE_BYTES: Flag = {
  value: "N",
  variable: "MCPSTATE_MAX_STATE_BYTES",
  does: "the largest state, in bytes of JSON (default 1048576)",
  check: toBytes,
};

/** What a server records. */
export const WRITER: Flag = {
  value: "NAME",
  variable: "MCPSTATE_WRITER",
  does: "who is recorded as the writer (default: this host)",
  check: checkWriter,
};

/** The URL of the backend that a call is about. May hold credentials: not to be shown. */
export async function backendOf(call: Call): Promise<string> {
  return (await call.setting("backend"))?.text ?? DEFAULT_URL;
}

/** The user that a call is about. @throws {UsageError} if it can be none. */
export async function userOf(call: Call): Promise<string> {
  return await call.checked("user", checkCaller) ?? DEFAULT_USER;
}

/** The largest state that is let in; absent: the store's default. @throws {UsageError} if it is no such number. */
export async function maxStateBytesOf(call: Call): Promise<number | undefined> {
  return await call.checked("max-state-bytes", toBytes);
}

/** Who is recorded as the writer; absent if nothing is said. @throws {UsageError} if it can be none. */
export async function writerOf(call: Call): Promise<string | undefined> {
  return await call.checked("writer", checkWriter);
}

/** The largest state that a message of the protocol can carry. */
const MOST_STATE_BYTES = 4 * 1024 * 1024;

function toBytes(text: string): number {
  const bytes = Number(text);
  if (/^\d+$/.test(text) && bytes >= 2 && bytes <= MOST_STATE_BYTES) return bytes;
  throw new UsageError(`a whole number of bytes up to ${MOST_STATE_BYTES} is needed, such as 1048576.`);
}
