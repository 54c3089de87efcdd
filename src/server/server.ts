/**
 * The MCP server over a store, in both protocol eras.
 *
 * @module
 */

import { McpServer } from "@modelcontextprotocol/server";
import { checkUser } from "../store/checks.ts";
import type { HandleStore } from "../store/store.ts";
import { DEFAULT_MAX_ANSWER_CHARS, type ServerOptions, toCall } from "./call.ts";
import { INSTRUCTIONS } from "./instructions.ts";
import { TOOLS } from "./tools.ts";
import { VERSION } from "./version.ts";

/** How long a client may keep the list of tools, which is the same for all callers and changes with a release only. */
const LIST_TTL_MS = 60 * 60 * 1000;
/** The longest metadata and the longest error fit into this. */
const MIN_ANSWER_CHARS = 12_000;

/**
 * A server that answers for one user: made per connection on stdio, per request over HTTP. It does not own the store.
 *
 * ```ts
 * import { HandleStore } from "jsr:@mcpstate/server";
 * import { createServer } from "jsr:@mcpstate/server/server";
 *
 * await using store = await HandleStore.fromUrl("sqlite:///:memory:");
 * const server = createServer(store, { user: "alice" });
 * ```
 */
export function createServer(store: HandleStore, options: ServerOptions): McpServer {
  const hint = { ttlMs: LIST_TTL_MS, cacheScope: "public" } as const;
  const server = new McpServer(
    { name: "mcpstate", title: "Durable state", version: VERSION },
    {
      capabilities: { tools: { listChanged: false } },
      instructions: INSTRUCTIONS,
      cacheHints: { "tools/list": hint, "server/discover": hint },
    },
  );
  checkUser(options.user);
  const budget = options.maxAnswerChars ?? DEFAULT_MAX_ANSWER_CHARS;
  if (!(budget >= MIN_ANSWER_CHARS)) throw new RangeError(`maxAnswerChars must be at least ${MIN_ANSWER_CHARS}`);
  for (const { name, advertisement, answer } of TOOLS) {
    server.registerTool(
      name,
      advertisement,
      (args, request) => answer(args, () => toCall(store, options, server, request), budget),
    );
  }
  return server;
}
