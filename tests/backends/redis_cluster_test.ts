import { assertRejects } from "@std/assert";
import { createCluster } from "@redis/client";
import { openRedisBackend } from "../../src/backends/redis.ts";
import { BackendError } from "../../src/document/errors.ts";
import { backendContract } from "../contract/backend.ts";
import { onRedis } from "../contract/targets.ts";
import { startRedisCluster } from "../redis_server.ts";

const cluster = await startRedisCluster();

Deno.test("openRedisBackend: of a cluster without saying so is refused", async () => {
  const [{ url }] = cluster.servers;
  await assertRejects(() => openRedisBackend({ url, onWarning: () => {} }), BackendError, "?cluster=true");
});

backendContract("redis cluster", () => onRedis(cluster.url));

backendContract("redis cluster by a node-redis", async () => {
  const prefix = `test-${crypto.randomUUID()}`;
  const rootNodes = cluster.servers.map(({ url }) => ({ url }));
  const redis = await createCluster({ rootNodes, defaults: { maintNotifications: "disabled" } }).connect();
  const nodes = await Promise.all(redis.masters.map((node) => redis.nodeClient(node)));
  return {
    open: () =>
      openRedisBackend({
        client: { sendCommand: (args, key) => redis.sendCommand(key, false, [...args]) },
        nodes: () => nodes.map((node) => ({ sendCommand: (args) => node.sendCommand([...args]) })),
        prefix,
        onWarning: () => {},
      }),
    [Symbol.asyncDispose]: () => redis.close(),
  };
});
