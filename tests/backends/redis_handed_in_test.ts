import { createClient } from "@redis/client";
import { Redis } from "ioredis";
import { openRedisBackend } from "../../src/backends/redis.ts";
import { backendContract } from "../contract/backend.ts";
import { startRedis } from "../redis_server.ts";

const server = await startRedis();

backendContract("redis by ioredis", () => {
  const prefix = `test-${crypto.randomUUID()}`;
  const redis = new Redis(server.port, "127.0.0.1", { maxRetriesPerRequest: 3, connectTimeout: 2_000 });
  return Promise.resolve({
    open: () =>
      openRedisBackend({
        client: { sendCommand: ([command, ...args]) => redis.call(command, ...args) },
        prefix,
        onWarning: () => {},
      }),
    [Symbol.asyncDispose]: async () => {
      await redis.quit();
    },
  });
});

backendContract("redis by a node-redis that tells", async () => {
  const prefix = `test-${crypto.randomUUID()}`;
  const redis = await createClient({ url: server.url, maintNotifications: "disabled" }).connect();
  const ears = await redis.duplicate().connect();
  return {
    open: () =>
      openRedisBackend({
        client: { sendCommand: (args) => redis.sendCommand([...args]) },
        subscribe: async (channel, listener) => {
          await ears.subscribe(channel, listener);
          return () => ears.unsubscribe(channel, listener);
        },
        prefix,
        onWarning: () => {},
      }),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([redis.close(), ears.close()]);
    },
  };
});
