import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openKvBackend } from "../../src/backends/kv.ts";
import { openKvMaintenance } from "../../src/backends/kv/maintenance.ts";
import { openRedisBackend } from "../../src/backends/redis.ts";
import { openRedisMaintenance } from "../../src/backends/redis/maintenance.ts";
import { openSqliteBackend } from "../../src/backends/sqlite.ts";
import { openSqliteMaintenance } from "../../src/backends/sqlite/maintenance.ts";
import { maintenanceContract, type MaintenanceTarget } from "../contract/maintenance.ts";
import { startRedis, startRedisCluster } from "../redis_server.ts";

const server = await startRedis();
const cluster = await startRedisCluster();

maintenanceContract("sqlite in a file", async () => {
  const directory = await Deno.makeTempDir();
  const options = { path: join(directory, "state.db"), synchronous: "normal" } as const;
  return {
    open: () => openSqliteBackend(options),
    maintain: () => openSqliteMaintenance(options),
    [Symbol.asyncDispose]: () => Deno.remove(directory, { recursive: true }),
  };
});

maintenanceContract("sqlite in memory", () => {
  const database = new DatabaseSync(":memory:");
  const shared = {
    exec: (sql: string) => database.exec(sql),
    prepare: (sql: string) => database.prepare(sql),
    close: () => {},
  };
  return Promise.resolve({
    open: () => openSqliteBackend({ database: shared }),
    maintain: () => openSqliteMaintenance({ database: shared }),
    [Symbol.asyncDispose]: () => Promise.resolve(database.close()),
  });
});

maintenanceContract("kv in a file", async () => {
  const directory = await Deno.makeTempDir();
  const options = { path: join(directory, "state.kv") };
  return {
    open: () => openKvBackend(options),
    maintain: () => openKvMaintenance(options),
    [Symbol.asyncDispose]: () => Deno.remove(directory, { recursive: true }),
  };
});

maintenanceContract("kv in memory", async () => {
  const kv = await Deno.openKv(":memory:");
  const shared = {
    get: kv.get.bind(kv),
    getMany: (keys: readonly Deno.KvKey[]) => kv.getMany(keys),
    list: kv.list.bind(kv),
    atomic: () => kv.atomic(),
    close: () => {},
  };
  return {
    open: () => openKvBackend({ kv: shared }),
    maintain: () => openKvMaintenance({ kv: shared }),
    [Symbol.asyncDispose]: () => Promise.resolve(kv.close()),
  };
});

maintenanceContract("redis", () => onRedis(server.url));
maintenanceContract("redis cluster", () => onRedis(cluster.url));

/** Data of its own, below a prefix that nobody else uses. */
function onRedis(url: string): Promise<MaintenanceTarget> {
  const options = { url, prefix: `test-${crypto.randomUUID()}`, onWarning: () => {} };
  return Promise.resolve({
    open: () => openRedisBackend(options),
    maintain: () => openRedisMaintenance(options),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
}
