/**
 * Options of the Redis backend, and how a URL becomes some. No message repeats a URL: it may hold a password.
 *
 * @module
 */

import { InvalidInput } from "../../document/errors.ts";
import type { Server } from "./connection.ts";
import type { RedisClient } from "./link.ts";
import type { Subscribe } from "./poller.ts";

/** Options of {@link openRedisBackend}. */
export interface RedisBackendOptions {
  /**
   * `redis://[user:password@]host[:port][/database]`, or `rediss://…` for TLS. `?cluster=true` for Redis Cluster, then with
   * further hosts after commas if wanted; `?prefix=name`; `?ca=/path/to/ca.pem`. Default `redis://127.0.0.1:6379`.
   */
  readonly url?: string;
  /** The certificates to trust with `rediss://`, as PEM. Default: those that Deno trusts. */
  readonly caCert?: string;
  /** A client of your own instead of a URL. It stays open when the backend is closed. */
  readonly client?: RedisClient;
  /** With a cluster client of your own: one client for each primary, for what looks at all users. */
  readonly nodes?: () => readonly RedisClient[];
  /** With a client of your own: how to hear of a channel. Without it the server is asked ten times a second while somebody listens. */
  readonly subscribe?: Subscribe;
  /** What all keys begin with. Default `mcpstate`. */
  readonly prefix?: string;
  /** How long a call may take at most, in milliseconds. Default 5,000. */
  readonly deadlineMs?: number;
  /** How long making a connection may take, in milliseconds. Default 2,000. */
  readonly connectTimeoutMs?: number;
  /** Hears of a server that is set up so that it may lose state. Default: one line on stderr. */
  readonly onWarning?: (message: string) => void;
}

/** What a URL says. */
export interface Address {
  readonly servers: readonly Server[];
  readonly isCluster: boolean;
  readonly prefix?: string;
  /** The file with the certificates to trust. */
  readonly caPath?: string;
}

/** @throws {InvalidInput} for a URL that is not understood. It is not repeated. */
export function parseRedisUrl(url: string): Address {
  const match = /^(rediss?):\/\/([^/?#]*)([^?#]*)(?:\?([^#]*))?$/i.exec(url);
  if (match === null) throw refused(`The Redis URL must look like ${EXAMPLE}.`);
  const [, scheme, authority, path, query = ""] = match;
  const parts = authority.split("@");
  if (parts.length > 2 || `${path}?${query}`.includes("@")) {
    throw refused(`A password with @, /, ? or # in it must be percent-encoded in the Redis URL: ${EXAMPLE}.`);
  }
  const hosts = parts[parts.length - 1].split(",");
  const [username, password] = parts.length === 1 ? [] : toCredentials(parts[0]);
  const parameters = toParameters(query);
  const isCluster = parameters.get("cluster") === "true";
  if (hosts.length > 1 && !isCluster) throw refused("The Redis URL has several hosts, but no ?cluster=true.");
  const database = toDatabase(path);
  if (isCluster && database !== undefined && database !== 0) throw refused("Redis Cluster has no database but 0.");
  const tls = scheme.toLowerCase() === "rediss" ? {} : undefined;
  const servers = hosts.map((host) => ({ ...toHost(host), username, password, database, tls }));
  const [prefix, caPath] = [parameters.get("prefix"), parameters.get("ca")];
  if (caPath !== undefined && tls === undefined) throw refused("?ca= needs rediss:// in the Redis URL.");
  return { servers, isCluster, prefix, caPath };
}

/** @throws {InvalidInput} for a prefix that would change the hash tag or a pattern. */
export function checkPrefix(prefix: string): string {
  if (/^[A-Za-z0-9:._/-]{1,64}$/.test(prefix)) return prefix;
  throw new InvalidInput("prefix", "The prefix has 1 to 64 characters: letters, digits and : . _ / -.");
}

const EXAMPLE = "redis://user:password@host:6379/0";

function refused(message: string): InvalidInput {
  return new InvalidInput("url", message);
}

function toCredentials(text: string): [username: string | undefined, password: string | undefined] {
  const colon = text.indexOf(":");
  const username = decode(colon === -1 ? text : text.slice(0, colon));
  const password = colon === -1 ? undefined : decode(text.slice(colon + 1));
  return [username === "" ? undefined : username, password];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw refused("The Redis URL has a broken % escape; write %25 for a per cent sign.");
  }
}

function toHost(text: string): { host: string; port: number } {
  const match = /^(\[[0-9a-f:.]+\]|[^:[\]\s]+)(?::(\d{1,5}))?$/i.exec(text);
  if (match === null) throw refused(`The Redis URL has no valid host and port: ${EXAMPLE}.`);
  const port = Number(match[2] ?? 6379);
  if (port < 1 || port > 65_535) throw refused("The port in the Redis URL is not between 1 and 65535.");
  return { host: decode(match[1].replace(/^\[(.*)\]$/, "$1")), port };
}

function toDatabase(path: string): number | undefined {
  const digits = path.replace(/^\//, "");
  if (digits === "") return undefined;
  if (/^\d{1,9}$/.test(digits)) return Number(digits);
  throw refused(`The path of the Redis URL is the number of a database: ${EXAMPLE}.`);
}

function toParameters(query: string): Map<string, string> {
  const known = ["cluster", "prefix", "ca"];
  const parameters = new Map(new URLSearchParams(query));
  for (const name of parameters.keys()) {
    if (!known.includes(name)) {
      throw refused(`The Redis URL has an unknown parameter; known: ${known.join(", ")}.`);
    }
  }
  const cluster = parameters.get("cluster");
  if (cluster !== undefined && cluster !== "true" && cluster !== "false") {
    throw refused('cluster in the Redis URL must be "true" or "false".');
  }
  return parameters;
}
