/**
 * `serve --transport http`: the MCP server over HTTP, until the system says stop.
 *
 * @module
 */

import { hostAndPort } from "../document/host_and_port.ts";
import { type HttpServer, serveHttp } from "../server/http.ts";
import { openLog } from "../server/http/log.ts";
import { eitherBearer } from "../server/identity/bearer.ts";
import type { IdentitySource } from "../server/identity/identity.ts";
import type { KeysAt } from "../server/identity/key_places.ts";
import { localUser } from "../server/identity/local_user.ts";
import { oauthIdentity } from "../server/identity/oauth.ts";
import { tokenIdentity } from "../server/identity/tokens.ts";
import { HandleStore } from "../store/store.ts";
import type { Call } from "./call.ts";
import { backendOf, maxStateBytesOf, writerOf } from "./flags.ts";
import { type Access, accessOf, keysOf, limitsOf, listenAt, namesOf } from "./http_flags.ts";
import { onStop } from "./stop.ts";
import { sweepInBackground } from "./sweeper.ts";
import { openTelemetry } from "./telemetry.ts";
import { UsageError } from "./usage.ts";

/** Serves. Answers the exit code. */
export async function serveOverHttp(call: Call): Promise<number> {
  const { hostname, port } = await listenAt(call);
  const access = await accessOf(call);
  const { hosts, origins, resource } = await namesOf(call);
  const { logLevel, ...limits } = await limitsOf(call);
  const [maxStateBytes, writer, keys] = [await maxStateBytesOf(call), await writerOf(call), await keysOf(call)];
  const url = resource ?? new URL(`http://${hostAndPort(hostname, port)}/mcp`);
  const log = openLog(logLevel);
  const store = await HandleStore.fromUrl(await backendOf(call), maxStateBytes === undefined ? {} : { maxStateBytes });
  using told = openTelemetry(store, "tcp");
  const stopSweeping = sweepInBackground(store);
  try {
    const server = listen(() =>
      serveHttp(store, {
        ...limits,
        hostname,
        port,
        hosts,
        origins,
        resource,
        writer,
        log,
        telemetry: told.telemetry,
        forwarded: call.isSet("behind-proxy"),
        identity: identityOf(access, store, url, keys),
        issuer: access.by === "issuer" ? access.issuer : undefined,
      })
    );
    if (access.by === "handle") {
      log.say("info", "anonymous", {
        message:
          "Nobody is asked who they are: whoever has a handle has the document. Handles are long and always expire.",
      });
    }
    const stop = () => {
      log.say("info", "stopping");
      void server.close();
    };
    // Before it says that it listens: whoever waits for that may tell it to stop at once.
    const ignore = onStop(stop);
    log.say("info", "listening", { url: server.url.href, access: access.by });
    await server.finished;
    await server.close();
    ignore();
  } finally {
    stopSweeping();
    await store.close();
  }
  return 0;
}

function identityOf(
  access: Access,
  store: HandleStore,
  url: URL,
  keys: KeysAt | undefined,
): IdentitySource | "anonymous" {
  switch (access.by) {
    case "user":
      return localUser(access.user);
    case "token":
      return tokenIdentity(store);
    case "issuer": {
      const { issuer, audience = [url.href] } = access;
      return eitherBearer(tokenIdentity(store), oauthIdentity({ issuer, audience, keys }));
    }
    case "handle":
      return "anonymous";
  }
}

/** @throws {UsageError} where the address is taken or not this machine's. */
function listen(start: () => HttpServer): HttpServer {
  try {
    return start();
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse || error instanceof Deno.errors.AddrNotAvailable) {
      throw new UsageError(
        "The address is taken, or is none of this machine's. Choose another with --host and --port.",
      );
    }
    throw error;
  }
}
