import { kvFile, onRedis, sqliteFile } from "../contract/targets.ts";
import { threadsContract } from "../contract/threads.ts";
import { startRedis } from "../redis_server.ts";

const server = await startRedis();

threadsContract("sqlite", sqliteFile);
threadsContract("kv", kvFile);
threadsContract("redis", () => onRedis(server.url));
