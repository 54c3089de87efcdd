import { storeContract } from "../contract/store.ts";
import { onRedis } from "../contract/targets.ts";
import { startRedis } from "../redis_server.ts";

const server = await startRedis();

storeContract("store over redis", () => onRedis(server.url));
