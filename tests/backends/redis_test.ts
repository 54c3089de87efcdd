import { backendContract } from "../contract/backend.ts";
import { onRedis } from "../contract/targets.ts";
import { startRedis } from "../redis_server.ts";

const server = await startRedis();

backendContract("redis", () => onRedis(server.url));
