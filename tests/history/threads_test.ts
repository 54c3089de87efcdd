import { join } from "node:path";
import { openKvBackend } from "../../src/backends/kv.ts";
import { openRedisBackend } from "../../src/backends/redis.ts";
import { openSqliteBackend } from "../../src/backends/sqlite.ts";
import { threadsContract } from "../contract/threads.ts";
import { startRedis } from "../redis_server.ts";

threadsContract("sqlite", async () => {
  const directory = await Deno.makeTempDir();
  return {
    open: () => openSqliteBackend({ path: join(directory, "state.db"), synchronous: "normal" }),
    [Symbol.asyncDispose]: () => Deno.remove(directory, { recursive: true }),
  };
});

threadsContract("kv", async () => {
  const directory = await Deno.makeTempDir();
  return {
    open: () => openKvBackend({ path: join(directory, "state.kv") }),
    [Symbol.asyncDispose]: () => Deno.remove(directory, { recursive: true }),
  };
});

const server = await startRedis();

threadsContract("redis", () => {
  const prefix = `test-${crypto.randomUUID()}`;
  return Promise.resolve({
    open: () => openRedisBackend({ url: server.url, prefix, onWarning: () => {} }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
});
