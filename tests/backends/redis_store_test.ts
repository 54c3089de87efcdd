import { openRedisBackend } from "../../src/backends/redis.ts";
import { storeContract } from "../contract/store.ts";
import { startRedis } from "../redis_server.ts";

const server = await startRedis();

storeContract("store over redis", () => {
  const prefix = `test-${crypto.randomUUID()}`;
  return Promise.resolve({
    open: () => openRedisBackend({ url: server.url, prefix, onWarning: () => {} }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
});
