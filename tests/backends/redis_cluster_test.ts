import { openRedisBackend } from "../../src/backends/redis.ts";
import { backendContract } from "../contract/backend.ts";
import { startRedisCluster } from "../redis_server.ts";

const cluster = await startRedisCluster();

backendContract("redis cluster", () => {
  const prefix = `test-${crypto.randomUUID()}`;
  return Promise.resolve({
    open: () => openRedisBackend({ url: cluster.url, prefix, onWarning: () => {} }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
});
