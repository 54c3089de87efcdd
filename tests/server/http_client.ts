/**
 * Real clients of both protocol eras over HTTP, and bare requests for what no client would send.
 *
 * @module
 */

import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from "@modelcontextprotocol/client";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacyTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { assertEquals } from "@std/assert";
import { type Connected, type Connection, toConnection } from "./client.ts";

/** Where a server is, and what lets in. */
export interface Reach {
  readonly url: URL;
  readonly token?: string;
}

/** How to connect a client. */
export type ConnectHttp = (reach: Reach) => Promise<Connection>;

function requestInit({ token }: Reach): RequestInit {
  return token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } };
}

/** The 1.x client, which opens with `initialize`. */
export async function connectHttpLegacy(reach: Reach): Promise<Connected<LegacyClient>> {
  const client = new LegacyClient({ name: "legacy-laptop", version: "1.0.0" });
  await client.connect(new LegacyTransport(reach.url, { requestInit: requestInit(reach) }));
  return await toConnection(client);
}

/** The 2.x client, which speaks nothing but 2026-07-28. */
export async function connectHttpModern(reach: Reach): Promise<Connected<ModernClient>> {
  const client = new ModernClient(
    { name: "modern-phone", version: "1.0.0" },
    { versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  await client.connect(new ModernTransport(reach.url, { requestInit: requestInit(reach) }));
  assertEquals(client.getNegotiatedProtocolVersion(), "2026-07-28");
  return await toConnection(client);
}

/** Both of them. */
export const CLIENTS: Readonly<Record<string, ConnectHttp>> = {
  "the 1.x client": connectHttpLegacy,
  "the 2.x client at 2026-07-28": connectHttpModern,
};

/** The protocol's own part of a request's `_meta`. */
export const MODERN_META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "bare", version: "1.0.0" },
};

/** What a bare call has of its own. */
interface CallOptions {
  readonly id?: number | string;
  readonly headers?: Record<string, string>;
}

/** A bare call of a tool at 2026-07-28. */
export function callTool(reach: Reach, name: string, args: Record<string, unknown>, options: CallOptions = {}) {
  const era = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": name };
  return post(reach, era, { _meta: MODERN_META, name, arguments: args }, options);
}

/** The same as an older client sends it. */
export function callToolLegacy(reach: Reach, name: string, args: Record<string, unknown>, options: CallOptions = {}) {
  return post(reach, { "mcp-protocol-version": "2025-11-25" }, { name, arguments: args }, options);
}

function post(
  { url, token }: Reach,
  era: Record<string, string>,
  params: Record<string, unknown>,
  { id = 1, headers = {} }: CallOptions,
): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "accept": "application/json, text/event-stream",
      ...era,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params }),
  });
}

/** Bare calls by the revision that they are of. */
export const BARE_CALLS = { "2026-07-28": callTool, "2025-11-25": callToolLegacy } as const;

/** What the tool said, once it is certain that the call was served. */
export async function readCall(answer: Response): Promise<Record<string, unknown>> {
  const text = await answer.text();
  assertEquals(answer.status, 200, text);
  const [, event = text] = /^data: (.*)$/m.exec(text) ?? [];
  return JSON.parse(JSON.parse(event).result.content[0].text);
}
