/**
 * From a URL to a backend. The only module that knows the adapters; it loads just the one that is asked for.
 *
 * @module
 */

import { hostAndPort } from "../document/host_and_port.ts";
import { InvalidInput } from "../document/errors.ts";
import type { Backend } from "./backend.ts";
import { parseFileUrl } from "./file_url.ts";
import type { Maintenance } from "./maintenance.ts";

/** Where state is kept if nothing else is said. */
export const DEFAULT_URL = "sqlite:///~/.mcpstate/state.db";

/** What every adapter can be told. */
export interface OpenOptions {
  /** How long a call may wait for others that hold the database, or for a server, in milliseconds. Default 5,000. */
  readonly maxContentionMs?: number;
}

/** What a backend needs Deno to allow. */
export interface BackendNeeds {
  /** The file of the database: reading and writing it and its directory. */
  readonly file?: string;
  /** Hosts with their ports: connecting to them. */
  readonly hosts: readonly string[];
  /** A file with certificates: reading it. */
  readonly certificates?: string;
  /** Variables of the environment beyond those that every server reads. */
  readonly variables: readonly string[];
  /** Features that must be switched on, as in `--unstable-kv`. */
  readonly unstable: readonly string[];
}

/** A URL that was understood. */
interface Place {
  readonly needs: BackendNeeds;
  open(options: OpenOptions): Promise<Backend>;
  maintain(options: OpenOptions): Promise<Maintenance>;
}

/**
 * Opens the backend of a URL.
 *
 * * SQLite: `sqlite:///relative/path`, `sqlite:////absolute/path`, `sqlite:///~/in/home`, `sqlite:///C:/path` or
 *   `sqlite:///:memory:`, with `?synchronous=normal` if a power cut may cost the last writes.
 * * Redis: `redis://user:password@host:6379/0`, `rediss://` for TLS, `?cluster=true` for Redis Cluster, `?prefix=name`.
 * * Deno KV (with `--unstable-kv`): `kv:///path` in the same forms, `kv::memory:`, `kv:` for the default database, as on
 *   Deno Deploy, and `kv:https://host/path` for a server of your own.
 *
 * @throws {InvalidInput} for a URL that is none of these; it is not repeated, since it may hold a password.
 */
export async function openBackend(url: string = DEFAULT_URL, options: OpenOptions = {}): Promise<Backend> {
  return await (await parseBackendUrl(url)).open(options);
}

/**
 * Opens the store of a URL for maintenance: to write it out, to take documents in, to look it over.
 *
 * A file that is missing is made, as a backend would: a command that only reads looks whether {@link needsOf} names one that
 * is there.
 *
 * @throws {InvalidInput} for a URL that is not understood.
 */
export async function openMaintenance(url: string = DEFAULT_URL, options: OpenOptions = {}): Promise<Maintenance> {
  return await (await parseBackendUrl(url)).maintain(options);
}

/** What opening the backend of a URL needs. Opens nothing. @throws {InvalidInput} as {@link openBackend} does. */
export async function needsOf(url: string = DEFAULT_URL): Promise<BackendNeeds> {
  return (await parseBackendUrl(url)).needs;
}

async function parseBackendUrl(url: string): Promise<Place> {
  switch (/^([a-z]+):/i.exec(url)?.[1].toLowerCase()) {
    case "sqlite":
      return sqlitePlace(url);
    case "kv":
      return kvPlace(url);
    case "redis":
    case "rediss":
      return await redisPlace(url);
    default:
      throw new InvalidInput(
        "url",
        "The backend URL begins with sqlite:///, redis://, rediss:// or kv: — such as sqlite:///~/.mcpstate/state.db.",
      );
  }
}

const NOTHING: BackendNeeds = { hosts: [], variables: [], unstable: [] };

function sqlitePlace(url: string): Place {
  const { path, parameters } = parseFileUrl(url, "sqlite", ["synchronous"]);
  const synchronous = parameters.get("synchronous") ?? "full";
  if (synchronous !== "full" && synchronous !== "normal") {
    throw new InvalidInput("url", 'synchronous in the backend URL must be "full" or "normal".');
  }
  return {
    needs: path === ":memory:" ? NOTHING : { ...NOTHING, file: path },
    async open(options) {
      const { openSqliteBackend } = await import("./sqlite.ts");
      return await openSqliteBackend({ path, synchronous, ...options });
    },
    async maintain(options) {
      const { openSqliteMaintenance } = await import("./sqlite/maintenance.ts");
      return await openSqliteMaintenance({ path, synchronous, ...options });
    },
  };
}

function kvPlace(url: string): Place {
  const place = url.slice("kv:".length);
  const path = place === "" ? undefined : place === ":memory:" ? place : parseKvPlace(url, place);
  const needs = { ...NOTHING, unstable: ["kv"] };
  const open = async (options: OpenOptions) => {
    const { openKvBackend } = await import("./kv.ts");
    return await openKvBackend({ path, ...options });
  };
  const maintain = async (options: OpenOptions) => {
    const { openKvMaintenance } = await import("./kv/maintenance.ts");
    return await openKvMaintenance({ path, ...options });
  };
  if (path === undefined || path === ":memory:") return { needs, open, maintain };
  if (!/^https?:/i.test(path)) return { needs: { ...needs, file: path }, open, maintain };
  const { host, port, protocol } = new URL(path);
  const hosts = [port === "" ? `${host}:${protocol === "https:" ? 443 : 80}` : host];
  return { needs: { ...needs, hosts, variables: ["DENO_KV_ACCESS_TOKEN"] }, open, maintain };
}

function parseKvPlace(url: string, place: string): string {
  if (!/^https?:/i.test(place)) return parseFileUrl(url, "kv").path;
  if (!URL.canParse(place) || new URL(place).username !== "" || new URL(place).search !== "") {
    throw new InvalidInput(
      "url",
      "The address of a KV server is kv:https://host/path; its token is in DENO_KV_ACCESS_TOKEN.",
    );
  }
  return place;
}

async function redisPlace(url: string): Promise<Place> {
  const { parseRedisUrl } = await import("./redis/options.ts");
  const { servers, caPath } = parseRedisUrl(url);
  return {
    needs: { ...NOTHING, hosts: servers.map(({ host, port }) => hostAndPort(host, port)), certificates: caPath },
    async open({ maxContentionMs }) {
      const { openRedisBackend } = await import("./redis.ts");
      return await openRedisBackend({ url, deadlineMs: maxContentionMs });
    },
    async maintain({ maxContentionMs }) {
      const { openRedisMaintenance } = await import("./redis/maintenance.ts");
      return await openRedisMaintenance({ url, deadlineMs: maxContentionMs });
    },
  };
}
