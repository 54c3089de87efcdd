/**
 * The three engines as benches see them: a store, and the bare driver beside it.
 *
 * @module
 */

import { DatabaseSync } from "node:sqlite";
import { HandleStore } from "../mod.ts";
import { startRedis } from "../tests/redis_server.ts";
import { openRawKv } from "./raw_kv.ts";
import { openRawRedis } from "./raw_redis.ts";
import { openRaw } from "./raw_sqlite.ts";

/** The bare driver, with one document. */
export interface Raw {
  /** Reads a head. */
  head(): unknown;
  /** Writes a body of the same bytes as the store's entry, and the head. */
  write(body: string): unknown;
}

/** One engine with an empty store and an empty bare one. */
export interface Engine extends AsyncDisposable {
  readonly name: "SQLite" | "Deno KV" | "Redis";
  readonly url: string;
  readonly raw: Raw;
  /** Bytes that the store has put on disk, and those of the bare driver. */
  disk(): Promise<{ readonly ours: number; readonly raw: number }>;
}

/** Opens a store of the engine that keeps its whole past; `cacheBytes: 0` reads everything anew. */
export function openStore({ url }: Pick<Engine, "url">, cacheBytes?: number): Promise<HandleStore> {
  return HandleStore.fromUrl(url, { cacheBytes, maxStateBytes: 4 * 2 ** 20, retention: { versions: Infinity } });
}

/** An engine whose store and bare store are each a SQLite file, as those of Deno KV are. */
async function openFiles(
  name: Engine["name"],
  scheme: string,
  openBare: (path: string) => (Raw & Disposable) | Promise<Raw & Disposable>,
): Promise<Engine> {
  const directory = await Deno.makeTempDir();
  const [ours, bare] = [`${directory}/store`, `${directory}/raw`];
  const raw = await openBare(bare);
  return {
    name,
    url: `${scheme}:///${ours}`,
    raw,
    disk: () => Promise.resolve({ ours: pages(ours), raw: pages(bare) }),
    async [Symbol.asyncDispose]() {
      raw[Symbol.dispose]();
      await Deno.remove(directory, { recursive: true });
    },
  };
}

async function openRedis(): Promise<Engine> {
  const args = ["--appendonly", "yes", "--appendfsync", "everysec", "--auto-aof-rewrite-percentage", "0"];
  const [server, other] = [await startRedis(...args), await startRedis(...args)];
  const raw = await openRawRedis(other.url);
  const aof = async ({ cli }: Pick<typeof server, "cli">) =>
    Number(/aof_current_size:(\d+)/.exec(await cli("INFO", "persistence"))?.[1]);
  return {
    name: "Redis",
    url: server.url,
    raw,
    disk: async () => ({
      ours: await aof({ cli: (...args) => server.cli(...args) }),
      raw: await aof({ cli: (...args) => other.cli(...args) }),
    }),
    async [Symbol.asyncDispose]() {
      raw[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
      await other[Symbol.asyncDispose]();
    },
  };
}

/** Bytes of the pages that a SQLite file has in use, those still in its log included. */
function pages(path: string): number {
  using database = new DatabaseSync(path, { readOnly: true });
  const read = (pragma: string) => Number(Object.values(database.prepare(`PRAGMA ${pragma}`).get() ?? {})[0]);
  return (read("page_count") - read("freelist_count")) * read("page_size");
}

/** How to open each of them. */
export const ENGINES = [
  () => openFiles("SQLite", "sqlite", openRaw),
  () => openFiles("Deno KV", "kv", openRawKv),
  openRedis,
] as const;
