/**
 * Serves one verified request of `POST /mcp` through the SDK: within the caller's limits and scopes, both eras.
 *
 * @module
 */

import {
  createMcpHandler,
  type McpHttpHandler,
  type McpServer,
  type ServerEventBus,
} from "@modelcontextprotocol/server";
import type { Identity } from "../identity/identity.ts";
import { scopeOf } from "../scopes.ts";
import { TOOLS } from "../tools.ts";
import type { Push } from "../resources.ts";
import type { EventStore } from "../subscriptions.ts";
import { onlyCalled, type Tool } from "../tool.ts";
import { afterwards } from "./afterwards.ts";
import { type Body, readBody } from "./body.ts";
import { insufficientScope, type Resource } from "./challenge.ts";
import type { RateLimit, Slots } from "./limits.ts";
import { withinLimits } from "./within_limits.ts";
import type { Log } from "./log.ts";
import { Refusal } from "./refusal.ts";
import { openStream } from "./streams.ts";

/** Makes the server that answers one request: for this caller, with at least these tools and, unless it only calls one, with resources. */
export type ServerFactory = (caller: Identity, tools: readonly Tool[], push: Push | undefined) => McpServer;

interface Asked {
  readonly caller: Identity;
  readonly tools: readonly Tool[];
  /** Whether it only calls a tool. */
  readonly isCall: boolean;
}

/** What requests are held to. */
export interface ExchangeLimits {
  /** Calls of one user. */
  readonly calls: RateLimit;
  /** Calls of one user at once. */
  readonly slots: Slots;
  /** Streams of one user at once. */
  readonly streams: Slots;
}

const CALLED = TOOLS.map(onlyCalled);
const LISTEN = "subscriptions/listen";
/** Timers beyond this fire at once. A stream that is cut off earlier is opened again. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The MCP endpoint. */
export class McpEndpoint {
  readonly #handler: McpHttpHandler;
  /** What the factory is told of a request, which the SDK hands it. */
  readonly #asked = new WeakMap<Request, Asked>();
  readonly #closing = new AbortController();

  /**
   * `resource` is asked for each time, since the port may be known only once the server listens. Without `events` no
   * stream tells anything.
   */
  constructor(
    readonly createServer: ServerFactory,
    readonly limits: ExchangeLimits,
    readonly resource: () => Resource,
    readonly log: Log,
    readonly events: EventStore | undefined,
  ) {
    this.#handler = this.#handlerOf(undefined);
  }

  /** Each stream has a bus, and so a handler, of its own: nothing that is told to one can reach another. */
  #handlerOf(bus: ServerEventBus | undefined): McpHttpHandler {
    return createMcpHandler(({ requestInfo, era }) => {
      const asked = requestInfo === undefined ? undefined : this.#asked.get(requestInfo);
      if (asked === undefined) throw new Error("a request reached the server without a verified caller");
      // An older client over HTTP has no stream on which it could be told anything.
      return this.createServer(
        asked.caller,
        asked.tools,
        asked.isCall ? undefined : era === "modern" ? "listen" : "none",
      );
    }, { bus, onerror: (error) => this.log.say("debug", "rejected", { message: error.message }) });
  }

  /** Answers. @throws {Refusal} */
  async serve(request: Request, caller: Identity): Promise<Response> {
    if (request.method !== "POST") {
      throw new Refusal(405, "Only POST is served here: there are no sessions.", { headers: { allow: "POST" } });
    }
    const release = withinLimits(() => this.limits.slots.take(caller.user));
    const from = performance.now();
    try {
      const body = await readBody(request);
      withinLimits(() => this.limits.calls.take(caller.user, body.messages.length), body.id);
      this.#checkScopes(body, caller);
      return body.messages.some(({ method }) => method === LISTEN)
        ? await this.#listen(request, body, caller, release)
        : afterwards(await this.#answer(request, body, caller), () => {
          release();
          this.#tell(body, performance.now() - from);
        });
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Of tools and methods none but known names: what a caller made up may be a secret. */
  #tell({ messages }: Body, ms: number): void {
    if (!this.log.tells("debug")) return;
    for (const { tool } of messages) {
      if (TOOLS.some(({ name }) => name === tool)) {
        this.log.say("debug", "call", { tool, ms: Math.round(ms * 100) / 100 });
      }
    }
  }

  #checkScopes({ messages }: Body, { scopes }: Identity): void {
    for (const { method, tool, id } of messages) {
      const scope = scopeOf(method, tool, TOOLS);
      if (scope !== undefined && !scopes.includes(scope)) throw insufficientScope(scope, this.resource(), id);
    }
  }

  #answer(request: Request, { json, messages }: Body, caller: Identity): Promise<Response> {
    // A server is made per request: it is made with what the request is about and nothing else.
    const isCall = messages.every(({ method }) => method === "tools/call");
    const tools = isCall ? CALLED.filter(({ name }) => messages.some(({ tool }) => tool === name)) : TOOLS;
    this.#asked.set(request, { caller, tools, isCall });
    return this.#handler.fetch(request, { parsedBody: json });
  }

  /** A stream ends with the client, with the server, and with the token. */
  async #listen(request: Request, body: Body, caller: Identity, release: () => void): Promise<Response> {
    const end = withinLimits(() => this.limits.streams.take(caller.user), body.id);
    const { expiresAt } = caller;
    const ended = new AbortController();
    const timer = expiresAt === undefined
      ? undefined
      : setTimeout(() => ended.abort(), Math.min(expiresAt - Date.now(), LONGEST_TIMER_MS));
    const finish = () => {
      clearTimeout(timer);
      ended.abort();
      end();
    };
    try {
      const signal = AbortSignal.any([request.signal, this.#closing.signal, ended.signal]);
      const { method, headers } = request;
      const stream = new Request(request.url, { method, headers, signal });
      this.#asked.set(stream, { caller, tools: TOOLS, isCall: false });
      const response = await openStream({ events: this.events, user: caller.user, json: body.json, signal }, {
        serve: (parsedBody, bus) => this.#handlerOf(bus).fetch(stream, { parsedBody }),
        finish,
      });
      release();
      return response;
    } catch (error) {
      finish();
      throw error;
    }
  }

  /** Ends all streams. What else is under way goes on. */
  stopStreams(): void {
    this.#closing.abort();
  }

  /** Ends whatever is left. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#handler.close();
  }
}
