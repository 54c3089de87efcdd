/**
 * A server over HTTP in this process, with tokens of its store.
 *
 * @module
 */

import { type HttpOptions, type HttpServer, serveHttp } from "../../src/server/http.ts";
import type { Log } from "../../src/server/http/log.ts";
import { addToken, tokenIdentity } from "../../src/server/identity/tokens.ts";
import { type Scope, SCOPES } from "../../src/server/scopes.ts";
import type { HandleStoreOptions } from "../../src/store/options.ts";
import { HandleStore } from "../../src/store/store.ts";
import type { Reach } from "./http_client.ts";

/** What a log was told. */
export interface Told extends Log {
  readonly lines: { readonly level: string; readonly event: string; readonly [field: string]: unknown }[];
}

/** A log that keeps what it is told. */
export function keepLog(): Told {
  const lines: Told["lines"] = [];
  return {
    lines,
    tells: () => true,
    say: (level, event, fields) => void lines.push({ level, event, ...fields }),
  };
}

/** A server of a test. */
export interface Site extends AsyncDisposable {
  readonly store: HandleStore;
  readonly server: HttpServer;
  readonly url: URL;
  readonly log: Told;
  /** A caller with a new token. */
  caller(user: string, options?: { readonly scopes?: readonly Scope[]; readonly writer?: string }): Promise<Reach>;
}

/** Opens one on a free port, by default over a store in memory. */
export async function openSite(
  options: Partial<HttpOptions> & { readonly backend?: string } & Pick<HandleStoreOptions, "retention"> = {},
): Promise<Site> {
  const { backend = "sqlite:///:memory:", retention, ...rest } = options;
  const store = await HandleStore.fromUrl(backend, { retention });
  const log = keepLog();
  const server = serveHttp(store, { hostname: "127.0.0.1", port: 0, identity: tokenIdentity(store), log, ...rest });
  return {
    store,
    server,
    url: server.url,
    log,
    caller: async (user, { scopes = SCOPES, writer } = {}) => {
      const { token } = await addToken(store, { user, scopes, writer });
      return { url: server.url, token };
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      await store.close();
    },
  };
}
