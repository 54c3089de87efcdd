import { storeContract } from "../contract/store.ts";
import { onRedis } from "../contract/targets.ts";
import { startRedisCluster } from "../redis_server.ts";

const cluster = await startRedisCluster();

storeContract("store over redis cluster", () => onRedis(cluster.url));
