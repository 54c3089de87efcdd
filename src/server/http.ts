/**
 * Serves a store over HTTP, to callers whose identity has been verified: stateless, in both protocol eras.
 *
 * @module
 */

import { hostAndPort } from "../document/host_and_port.ts";
import type { HandleStore } from "../store/store.ts";
import {
  insufficientScope,
  metadataPath,
  type Resource,
  resourceMetadata,
  toIdentityRefusal,
} from "./http/challenge.ts";
import { McpEndpoint, type ServerFactory } from "./http/exchange.ts";
import { health } from "./http/health.ts";
import { HostGate, preflight, shareWith } from "./http/hosts.ts";
import { type Rate, RateLimit, Slots } from "./http/limits.ts";
import type { Log } from "./http/log.ts";
import { isLoopback } from "./http/loopback.ts";
import { Refusal } from "./http/refusal.ts";
import { parseThreadRoute, serveThread, type ThreadRoute } from "./http/threads.ts";
import { withinLimits } from "./http/within_limits.ts";
import { anyone, NOBODY, unownedStore } from "./identity/anonymous.ts";
import { handleUser } from "./identity/callers.ts";
import type { Identity, IdentitySource } from "./identity/identity.ts";
import { ANONYMOUS_INSTRUCTIONS } from "./instructions.ts";
import { createServer } from "./server.ts";
import { CALL_MS } from "./deadline.ts";
import type { Telemetry } from "./telemetry.ts";

/** How a server is reached, who may reach it, and how often. */
export interface HttpOptions {
  /** The address to listen on, such as `127.0.0.1`. */
  readonly hostname: string;
  /** 0 for any that is free. */
  readonly port: number;
  /** Who is asking; or `"anonymous"`: nobody knows, and the handle is the only secret. */
  readonly identity: IdentitySource | "anonymous";
  /** Who issues tokens, to be told to callers that have none. */
  readonly issuer?: string;
  /** The address of the MCP endpoint as clients know it, where that is not the one it listens on. */
  readonly resource?: URL;
  /** Host names to be served beside those of loopback, without ports. */
  readonly hosts?: readonly string[];
  /** Origins of pages that may ask, such as `https://app.example.com`. */
  readonly origins?: readonly string[];
  /** Who to record as the writer, where neither the request nor the token says. */
  readonly writer?: string;
  /** Calls of each user. Default 100 a second, 1,000 at once after a pause. */
  readonly rate?: Rate;
  /** Mints from each address, where callers are anonymous. Default one a minute, 60 at once after a pause. */
  readonly mints?: Rate;
  /** Calls of each user that may be under way. Default 500. */
  readonly concurrency?: number;
  /** Streams of each user that may be open. Default 16. */
  readonly streams?: number;
  /** How long a call may take, in milliseconds. Default 30,000. A write that takes longer may still land. */
  readonly callMs?: number;
  /** Where to tell of what happens. */
  readonly log: Log;
  /** Who is told of each request. Default: nobody. */
  readonly telemetry?: Telemetry;
  /** Whether a proxy in front says, in `X-Forwarded-For`, where callers come from. */
  readonly forwarded?: boolean;
  /** Makes the server of a request; by default ours. */
  readonly createServer?: ServerFactory;
}

/** A server that listens. */
export interface HttpServer extends AsyncDisposable {
  /** The address of the MCP endpoint. */
  readonly url: URL;
  /** Settles when it has ended. */
  readonly finished: Promise<void>;
  /** Takes no more requests, finishes those that are under way, and ends. A second time is fine. */
  close(): Promise<void>;
}

/** How long requests that were taken may go on after the end. */
const FINISH_MS = 10_000;

/** Listens. The store stays open and is yours to close. @throws {Deno.errors.AddrInUse} and its like. */
export function serveHttp(store: HandleStore, options: HttpOptions): HttpServer {
  const { hostname, log, rate = { perSecond: 100, burst: 1_000 }, concurrency = 500, streams = 16 } = options;
  const gate = new HostGate({
    loopback: isLoopback(hostname),
    // Its own address too: a name of somebody else's, by which a page could get here, is none.
    hosts: [hostname, ...options.hosts ?? [], ...(options.resource === undefined ? [] : [options.resource.hostname])],
    origins: [...options.origins ?? [], ...(options.resource === undefined ? [] : [options.resource.origin])],
  });
  const { identity, makeServer } = options.identity === "anonymous"
    ? anonymousAccess(store, options)
    : { identity: options.identity, makeServer: serverOfCaller(store, options) };
  const limits = { calls: new RateLimit(rate), slots: new Slots(concurrency), streams: new Slots(streams) };
  const endpoint = new McpEndpoint(
    options.createServer ?? makeServer,
    limits,
    () => resource,
    log,
    options.identity === "anonymous" ? undefined : store,
  );

  const route = async (request: Request, address: string): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (pathname === "/health") return await health(store, log);
    gate.checkHost(request.headers);
    const origin = gate.checkOrigin(request.headers);
    const answered = request.method === "OPTIONS"
      ? preflight()
      : await serve(request, pathname, address).catch(toAnswer);
    return origin === undefined ? answered : shareWith(origin, answered);
  };
  const serve = async (request: Request, pathname: string, address: string): Promise<Response> => {
    if (pathname === metadata) return resourceMetadata(resource);
    const thread = parseThreadRoute(pathname);
    if (pathname !== "/mcp" && thread === undefined) {
      throw new Refusal(404, "There is nothing here. The MCP endpoint is /mcp.");
    }
    const caller = await identify(request, address);
    return thread === undefined ? await endpoint.serve(request, caller) : await readThread(thread, caller, request);
  };
  const readThread = async (thread: ThreadRoute, { user, scopes }: Identity, request: Request): Promise<Response> => {
    if (!scopes.includes("mcpstate:read")) throw insufficientScope("mcpstate:read", resource, undefined);
    const release = withinLimits(() => limits.slots.take(user));
    try {
      withinLimits(() => limits.calls.take(user));
      const owner = options.identity === "anonymous" ? handleUser(thread.handle) : user;
      return await serveThread(store, owner, thread, request, options.callMs ?? CALL_MS);
    } finally {
      release();
    }
  };
  const identify = async ({ headers }: Request, address: string) => {
    try {
      return await identity.identify({ headers, address });
    } catch (error) {
      throw toIdentityRefusal(error, resource);
    }
  };
  const toAnswer = (error: unknown): Response => {
    if (!(error instanceof Refusal)) throw error;
    log.say("debug", "refused", { status: error.status, message: error.message });
    return error.toResponse();
  };

  const server = Deno.serve(
    {
      hostname,
      port: options.port,
      onListen: () => {},
      onError(error) {
        log.say("error", "failed", { message: error instanceof Error ? error.message : String(error) });
        return new Refusal(500, "Something went wrong inside the server.").toResponse();
      },
    },
    (request, { remoteAddr }) =>
      route(request, addressOf(request, remoteAddr, options.forwarded ?? false)).catch(toAnswer),
  );
  const { port } = server.addr;
  const url = new URL(`http://${hostAndPort(hostname, port)}/mcp`);

  // Of the address it listens on, so not known before; no request is answered before either.
  const resource: Resource = { url: options.resource ?? url, issuer: options.issuer };
  const metadata = metadataPath(resource);

  let closing: Promise<void> | undefined;
  const close = () =>
    closing ??= (async () => {
      endpoint.stopStreams();
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, FINISH_MS);
      await Promise.race([server.shutdown(), late]);
      clearTimeout(timer);
      await endpoint.close();
    })();
  return { url, finished: server.finished, close, [Symbol.asyncDispose]: close };
}

/** Each caller reaches what is theirs. */
function serverOfCaller(store: HandleStore, options: HttpOptions): ServerFactory {
  const { telemetry, callMs } = options;
  return ({ user, client, writer = options.writer }, tools, push) =>
    createServer(store, { user, client, writer, telemetry, callMs }, { tools, push });
}

/** Each caller reaches what they have the handle of. */
function anonymousAccess(
  store: HandleStore,
  { writer, telemetry, callMs, mints: rate = { perSecond: 1 / 60, burst: 60 } }: HttpOptions,
): { readonly identity: IdentitySource; readonly makeServer: ServerFactory } {
  const mints = new RateLimit(rate);
  return {
    identity: anyone(),
    makeServer({ user }, tools) {
      const reached = unownedStore(store, () => mints.take(user));
      const offered = tools.filter(({ takesHandle }) => takesHandle);
      const offering = { tools: offered, instructions: ANONYMOUS_INSTRUCTIONS };
      return createServer(reached, { user: NOBODY, writer, telemetry, callMs }, offering);
    },
  };
}

/** Where a caller comes from: what the nearest proxy says, if there is one. */
function addressOf(request: Request, remote: Deno.NetAddr, forwarded: boolean): string {
  const said = forwarded ? request.headers.get("x-forwarded-for") : null;
  return said?.split(",").at(-1)?.trim() || remote.hostname;
}
