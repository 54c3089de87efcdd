/**
 * The MCP server over a store, in both protocol eras.
 *
 * @module
 */

import { McpServer, type ServerContext } from "@modelcontextprotocol/server";
import { DEFAULT_MAX_ANSWER_CHARS, type ServerOptions, type StateStore, toCall, toMeta } from "./call.ts";
import { checkCaller } from "./identity/callers.ts";
import { INSTRUCTIONS } from "./instructions.ts";
import { addResources, type Push, RESOURCE_HINTS, RESOURCES } from "./resources.ts";
import type { Tool } from "./tool.ts";
import { TOOLS } from "./tools.ts";
import { VERSION } from "./version.ts";

/** How long a client may keep the list of tools, which is the same for all callers and changes with a release only. */
const LIST_TTL_MS = 60 * 60 * 1000;
/** The longest metadata and the longest error fit into this. */
const MIN_ANSWER_CHARS = 12_000;

/** The part of the SDK's `McpServer` that tools are added to. */
export interface ToolHost {
  /** Adds a tool. */
  registerTool(name: string, config: object, callback: (...args: never[]) => unknown): unknown;
  /** The connection below. */
  readonly server: {
    /** Who is there, by the `initialize` handshake. */
    getClientVersion(): { readonly name: string } | undefined;
  };
}

/**
 * Adds the `state_*` tools to a server of your own: an `McpServer` of `npm:@modelcontextprotocol/server` that answers for
 * one user, made per connection on stdio and per request over HTTP. The store stays yours to close.
 *
 * ```ts
 * import { HandleStore } from "jsr:@mcpstate/server";
 * import { addStateTools } from "jsr:@mcpstate/server/server";
 * import { McpServer, type ServerContext } from "@modelcontextprotocol/server";
 *
 * await using store = await HandleStore.fromUrl("sqlite:///:memory:");
 * const server = new McpServer({ name: "my-server", version: "1.0.0" });
 * addStateTools(server, store, { user: "alice" });
 * ```
 *
 * @throws {InvalidInput} for a user that makes no sense, `RangeError` for a `maxAnswerChars` below 12,000.
 */
export function addStateTools(host: ToolHost, store: StateStore, options: ServerOptions): void {
  addTools(host, store, options, TOOLS);
}

function addTools(host: ToolHost, store: StateStore, options: ServerOptions, tools: readonly Tool[]): void {
  checkCaller(options.user);
  const budget = options.maxAnswerChars ?? DEFAULT_MAX_ANSWER_CHARS;
  if (!(budget >= MIN_ANSWER_CHARS)) throw new RangeError(`maxAnswerChars must be at least ${MIN_ANSWER_CHARS}`);
  const { telemetry } = options;
  for (const { name, advertisement, answer } of tools) {
    host.registerTool(name, advertisement, (args: unknown, request: ServerContext) => {
      const answering = () => answer(args, () => toCall(store, options, host, request), budget);
      return telemetry === undefined
        ? answering()
        : telemetry.served({ method: "tools/call", tool: name, meta: toMeta(request) }, answering);
    });
  }
}

/** What our own server has beside the tools. */
export interface ServerParts {
  /** All of them, or those that a request is about. */
  readonly tools?: readonly Tool[];
  /** What a client tells its model. */
  readonly instructions?: string;
  /** How the client is told of changes of resources. Without it there are no resources. */
  readonly push?: Push;
}

/** Our own server. */
export function createServer(store: StateStore, options: ServerOptions, parts: ServerParts = {}): McpServer {
  const { tools = TOOLS, instructions = INSTRUCTIONS, push } = parts;
  const hint = { ttlMs: LIST_TTL_MS, cacheScope: "public" } as const;
  const server = new McpServer(
    { name: "mcpstate", title: "Durable state", version: VERSION },
    {
      capabilities: { tools: { listChanged: false }, ...(push === undefined ? {} : RESOURCES[push]) },
      instructions,
      cacheHints: { "tools/list": hint, "server/discover": hint, ...RESOURCE_HINTS },
    },
  );
  addTools(server, store, options, tools);
  if (push !== undefined) {
    addResources(server, (request) => toCall(store, options, server, request), options.telemetry);
  }
  return server;
}
