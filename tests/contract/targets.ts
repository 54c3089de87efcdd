/**
 * The engines that contracts run on, each with data of its own for every test.
 *
 * @module
 */

import { join } from "node:path";
import type { Backend } from "../../src/backends/backend.ts";
import { openKvBackend } from "../../src/backends/kv.ts";
import { openRedisBackend } from "../../src/backends/redis.ts";
import { openSqliteBackend } from "../../src/backends/sqlite.ts";
import type { Target } from "./target.ts";

/** A directory that goes with the test. */
export async function inDirectory(open: (directory: string) => Promise<Backend>): Promise<Target> {
  const directory = await Deno.makeTempDir();
  return {
    open: () => open(directory),
    [Symbol.asyncDispose]: () => Deno.remove(directory, { recursive: true }),
  };
}

/** A file of SQLite. */
export function sqliteFile(): Promise<Target> {
  return inDirectory((directory) => openSqliteBackend({ path: join(directory, "state.db"), synchronous: "normal" }));
}

/** A file of Deno KV. */
export function kvFile(): Promise<Target> {
  return inDirectory((directory) => openKvBackend({ path: join(directory, "state.kv") }));
}

/** Keys of their own in a Redis that runs, alone or as a cluster. */
export function onRedis(url: string): Promise<Target> {
  const prefix = `test-${crypto.randomUUID()}`;
  return Promise.resolve({
    open: () => openRedisBackend({ url, prefix, onWarning: () => {} }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
}
