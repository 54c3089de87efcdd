/**
 * `token`: hands out, lists and revokes the tokens that let callers in over HTTP.
 *
 * @module
 */

import { HandleNotFound } from "../document/errors.ts";
import { addToken, listTokens, revokeToken, type TokenInfo } from "../server/identity/tokens.ts";
import { SCOPES } from "../server/scopes.ts";
import { HandleStore } from "../store/store.ts";
import type { Call } from "./call.ts";
import { backendOf } from "./flags.ts";
import { jsonText, printable } from "./terminal.ts";
import { toScopes, toTtl } from "./token_flags.ts";
import { UsageError } from "./usage.ts";

/** Does one of the three. Answers the exit code. */
export async function token(call: Call): Promise<number> {
  const [action, id] = call.arguments;
  const act = toAction(call, action, id);
  await using store = await HandleStore.fromUrl(await backendOf(call));
  return await act(store);
}

/** Checks everything before the store is opened. @throws {UsageError} for an action that is none, or lacks what it needs. */
function toAction(call: Call, action: string, id: string | undefined): (store: HandleStore) => Promise<number> {
  switch (action) {
    case "add": {
      const user = call.text("user");
      if (user === undefined) throw new UsageError("token add needs --user: whose documents the token reaches.");
      return (store) => add(call, store, user);
    }
    case "list":
      return (store) => list(call, store);
    case "revoke":
      if (id === undefined) throw new UsageError("token revoke needs the ID of a token, as token list shows it.");
      return (store) => revoke(call, store, id);
    default:
      throw new UsageError("token is followed by add, list or revoke.");
  }
}

async function add(call: Call, store: HandleStore, user: string): Promise<number> {
  const [scopes = SCOPES, ttlDays] = [await call.checked("scope", toScopes), await call.checked("ttl-days", toTtl)];
  const made = await addToken(store, { user, scopes, writer: call.text("writer"), ttlDays });
  if (call.isSet("json")) {
    console.log(jsonText({ ...toWire(made.info), token: made.token }, 2));
    return 0;
  }
  console.log(made.token);
  console.error(
    `mcpstate: this is shown once. Its id is ${made.info.id}: end it with mcpstate token revoke ${made.info.id}.`,
  );
  return 0;
}

async function list(call: Call, store: HandleStore): Promise<number> {
  const tokens = await listTokens(store);
  if (call.isSet("json")) {
    console.log(jsonText(tokens.map(toWire), 2));
    return 0;
  }
  if (tokens.length === 0) {
    console.error("mcpstate: there are no tokens. Make one with mcpstate token add --user NAME.");
  }
  for (const { id, user, scopes, writer, createdAt, expiresAt } of tokens) {
    const may = scopes.map((scope) => scope.replace("mcpstate:", "")).join(",");
    console.log([id, printable(user), may, printable(writer ?? "-"), createdAt, expiresAt ?? "never"].join("\t"));
  }
  return 0;
}

async function revoke(call: Call, store: HandleStore, id: string): Promise<number> {
  try {
    await revokeToken(store, id);
  } catch (error) {
    if (!(error instanceof HandleNotFound)) throw error;
    console.error(`mcpstate: there is no token ${JSON.stringify(id)}. See mcpstate token list.`);
    return 1;
  }
  if (call.isSet("json")) console.log(jsonText({ id, revoked: true }));
  else {console.error(
      `mcpstate: ${id} is revoked. Servers that have just seen it take up to five seconds to hear of it.`,
    );}
  return 0;
}

function toWire({ id, user, scopes, writer, createdAt, expiresAt }: TokenInfo): Record<string, unknown> {
  return { id, user, scopes, writer: writer ?? null, created_at: createdAt, expires_at: expiresAt ?? null };
}
