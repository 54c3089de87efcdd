/**
 * From options to a Redis that was looked at and is ready.
 *
 * @module
 */

import { InvalidInput } from "../../document/errors.ts";
import { Caller } from "./caller.ts";
import { check } from "./checks.ts";
import { Cluster } from "./cluster.ts";
import { Connection, prepare } from "./connection.ts";
import { type Ears, Listener } from "./ears.ts";
import { Keys } from "./keys.ts";
import { HandedIn } from "./link.ts";
import { checkPrefix, parseRedisUrl, type RedisBackendOptions } from "./options.ts";
import { Poller } from "./poller.ts";

/** What the backend works with. */
export interface Opened {
  readonly caller: Caller;
  readonly keys: Keys;
  readonly ears: Ears;
}

/** @throws {InvalidInput | BackendError} */
export async function open(options: RedisBackendOptions): Promise<Opened> {
  const { deadlineMs = 5_000, onWarning = warn } = options;
  const opened = options.client === undefined ? await byUrl(options, deadlineMs) : handedIn(options, deadlineMs);
  try {
    await check(opened.caller, opened.keys.prefix, onWarning);
    return opened;
  } catch (error) {
    opened.caller.close();
    throw error;
  }
}

async function byUrl(options: RedisBackendOptions, deadlineMs: number): Promise<Opened> {
  const { url = "redis://127.0.0.1:6379", connectTimeoutMs = 2_000 } = options;
  const address = parseRedisUrl(url);
  const keys = new Keys(checkPrefix(options.prefix ?? address.prefix ?? "mcpstate"));
  const ca = options.caCert ?? (address.caPath === undefined ? undefined : await readCertificates(address.caPath));
  await prepare().catch(() => {}); // who connects is told
  const servers = address.servers.map((server) => server.tls === undefined ? server : { ...server, tls: { ca } });
  if (address.isCluster) {
    const cluster = new Cluster(servers, connectTimeoutMs);
    return { caller: new Caller(cluster, deadlineMs), keys, ears: new Listener(() => cluster.servers, deadlineMs) };
  }
  const connection = new Connection(servers[0], connectTimeoutMs);
  return { caller: new Caller(connection, deadlineMs), keys, ears: new Listener(() => servers, deadlineMs) };
}

function handedIn(options: RedisBackendOptions, deadlineMs: number): Opened {
  const { client, nodes, subscribe, prefix = "mcpstate" } = options;
  if (client === undefined) throw new TypeError("no client was handed in");
  const link = new HandedIn(client, nodes);
  return {
    caller: new Caller(link, deadlineMs),
    keys: new Keys(checkPrefix(prefix)),
    ears: new Poller(link, deadlineMs, subscribe),
  };
}

async function readCertificates(path: string): Promise<string> {
  try {
    return await Deno.readTextFile(path);
  } catch {
    throw new InvalidInput("url", "The file that ?ca= names in the Redis URL cannot be read.");
  }
}

function warn(message: string): void {
  console.warn(`mcpstate: ${message}`);
}
