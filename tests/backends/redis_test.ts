import { openRedisBackend } from "../../src/backends/redis.ts";
import { backendContract, type Target } from "../contract/backend.ts";
import { startRedis } from "../redis_server.ts";

const server = await startRedis();

backendContract("redis", () => targetOn(server.url));

/** Data of its own, below a prefix that nobody else uses. */
function targetOn(url: string): Promise<Target> {
  const prefix = `test-${crypto.randomUUID()}`;
  return Promise.resolve({
    open: () => openRedisBackend({ url, prefix, onWarning: () => {} }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
}
