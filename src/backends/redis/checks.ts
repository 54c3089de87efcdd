/**
 * What is looked at when a Redis is opened: that it can be written to safely, and what its owner should know.
 *
 * @module
 */

import { BackendError } from "../../document/errors.ts";
import type { Caller } from "./caller.ts";
import { Connection } from "./connection.ts";
import { replyCode, toBackendError } from "./errors.ts";
import type { Link } from "./link.ts";
import { writing } from "./script.ts";
import { list } from "./records.ts";

/** Runs every command of the scripts on a key of its own: one that is forbidden would end a step half way. */
const PROBE = writing(`
local key = KEYS[1]
for _, command in ipairs({
  {'TIME'}, {'EXISTS', key}, {'XADD', key, '1-0', 'a', 'b'}, {'XRANGE', key, '-', '+'}, {'XTRIM', key, 'MINID', '2-0'},
  {'PEXPIREAT', key, '1'}, {'HSET', key, 'a', 'b'}, {'HGET', key, 'a'}, {'HMGET', key, 'a'}, {'HGETALL', key}, {'HINCRBY', key, 'c', 1},
  {'PEXPIRE', key, 1}, {'PERSIST', key}, {'HDEL', key, 'a', 'c'}, {'ZADD', key, 1, 'a'}, {'ZSCORE', key, 'a'},
  {'ZCOUNT', key, 1, 1}, {'ZCARD', key}, {'ZRANGE', key, 0, 0}, {'ZRANGEBYSCORE', key, 1, 1},
  {'ZREVRANGEBYSCORE', key, 1, 1}, {'ZREMRANGEBYSCORE', key, 1, 1}, {'ZREM', key, 'a'}, {'DEL', key}, {'UNLINK', key}
}) do
  local reply = redis.pcall(unpack(command))
  local refusal = type(reply) == 'table' and reply.err or ''
  if string.find(refusal, 'NOPERM') or string.find(refusal, 'user executing the script') then return {command[1]} end
end
return {}
`);

/**
 * Looks at every server.
 *
 * @throws {BackendError} for a server that cannot keep the state: a replica, one that is too old, one that forbids a command.
 */
export async function check(caller: Caller, prefix: string, onWarning: (message: string) => void): Promise<void> {
  const warnings = new Set<string>();
  for (const node of await caller.nodes()) {
    const info = await inform(caller, node);
    if (info === undefined) continue; // it may not be asked
    if (info.get("role") === "slave") throw toBackendError(new Error("READONLY a replica"), false);
    if (info.get("redis_mode") === "cluster" && caller.link instanceof Connection) {
      throw toBackendError(new Error("MOVED a cluster"), false);
    }
    checkVersion(info.get("redis_version") ?? "");
    const policy = info.get("maxmemory_policy") ?? "noeviction";
    if (policy !== "noeviction") {
      warnings.add(
        `Redis has maxmemory-policy ${policy}: when it is full it may drop parts of documents. Set it to noeviction.`,
      );
    }
    if (info.get("aof_enabled") === "0" && await savesNothing(caller, node)) {
      warnings.add(
        "Redis keeps nothing on disk: a restart loses all state. Set appendonly yes.",
      );
    }
  }
  // Braces around what no user name is encoded to.
  const [forbidden] = list(await caller.run(PROBE, [`${prefix}:{+}:probe`], []));
  if (forbidden !== undefined) {
    throw toBackendError(new Error(`NOPERM ${forbidden}`), false);
  }
  for (const warning of warnings) onWarning(warning);
}

async function inform(caller: Caller, node: Link): Promise<Map<string, string> | undefined> {
  const info = await unlessForbidden(caller.ask(["INFO"], undefined, node));
  if (typeof info !== "string") return undefined;
  return new Map([...info.matchAll(/^([a-z_0-9]+):(.*?)\r?$/gm)].map(([, name, value]) => [name, value]));
}

async function savesNothing(caller: Caller, node: Link): Promise<boolean> {
  const reply = await unlessForbidden(caller.ask(["CONFIG", "GET", "save"], undefined, node));
  if (Array.isArray(reply)) return reply[1] === "";
  if (reply instanceof Map) return reply.get("save") === "";
  return typeof reply === "object" && reply !== null && "save" in reply && reply.save === "";
}

/** A managed server may forbid a question; then there is nothing to tell. */
async function unlessForbidden(reply: Promise<unknown>): Promise<unknown> {
  try {
    return await reply;
  } catch (error) {
    const code = error instanceof BackendError ? replyCode(error.cause) : undefined;
    if (code === "NOPERM" || code === "ERR") return undefined;
    throw error;
  }
}

function checkVersion(version: string): void {
  const [major, minor] = version.split(".").map(Number);
  if (major < 6 || major === 6 && minor < 2) {
    throw new BackendError(`This Redis is of version ${version}; the store needs 6.2 or newer.`);
  }
}
