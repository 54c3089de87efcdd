import { assertRejects } from "@std/assert";
import { openRedisBackend } from "../../src/backends/redis.ts";
import { BackendError } from "../../src/document/errors.ts";
import { backendContract } from "../contract/backend.ts";
import { startRedisCluster } from "../redis_server.ts";

const cluster = await startRedisCluster();

Deno.test("openRedisBackend: of a cluster without saying so is refused", async () => {
  const [{ url }] = cluster.servers;
  await assertRejects(() => openRedisBackend({ url, onWarning: () => {} }), BackendError, "?cluster=true");
});

backendContract("redis cluster", () => {
  const prefix = `test-${crypto.randomUUID()}`;
  return Promise.resolve({
    open: () => openRedisBackend({ url: cluster.url, prefix, onWarning: () => {} }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
});
