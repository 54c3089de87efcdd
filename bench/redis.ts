/**
 * The store on Redis beside the bare client: a server of our own on a free loopback port.
 *
 * @module
 */

import { append, HandleStore } from "../mod.ts";
import { startRedis } from "../tests/redis_server.ts";
import { openRawRedis } from "./raw_redis.ts";
import { compare, type Comparison, print } from "./side_by_side.ts";
import { text } from "./texts.ts";

const user = "alice";
const KIB = 1024;

/** Times everything. */
export async function timeRedis(): Promise<Comparison[]> {
  await using server = await startRedis("--appendonly", "yes", "--appendfsync", "everysec");
  const store = await HandleStore.fromUrl(server.url, { maxStateBytes: 4 * KIB * KIB });
  using raw = await openRawRedis(server.url);
  const results: Comparison[] = [];

  const states = Array.from({ length: 64 }, (_, i) => ({ note: text(KIB, i), turn: i }));
  const saved = await store.mint("bench", states[0], { user });
  let version = 1;
  results.push(
    await compare(
      "save of 1 KB | one script: HSET and XADD",
      {
        run: async (i) => version = (await store.save(saved, states[i % 64], { user, expectVersion: version })).version,
      },
      { run: (i) => raw.write(JSON.stringify([{ op: "replace", path: "/note", value: states[i % 64].note }])) },
      { runs: 12_000, target: 1.4 },
    ),
  );

  const item = text(100);
  const small = await store.mint("bench", { note: text(KIB), log: [] }, { user });
  const large = await store.mint("bench", { note: text(1000 * KIB), log: [] }, { user });
  results.push(
    await compare("append to 1 MiB | append to 1 KB", {
      run: () => store.patch(large, [append("log", item)], { user }),
    }, {
      run: () => store.patch(small, [append("log", item)], { user }),
    }, { runs: 3_000, target: 2 }),
  );

  results.push(
    await compare("warm get, 1 MiB | HGETALL of a head", { run: () => store.get(large, { user }) }, {
      run: () => raw.head(),
    }, { runs: 5_000, block: 100, target: 1.2 }),
  );

  const documents = await Promise.all(Array.from({ length: 100 }, () => store.mint("bench", { log: [] }, { user })));
  const body = JSON.stringify([{ op: "add", path: "/log/0", value: item }]);
  results.push(
    await compare(
      "100 appends at once, 100 documents | 100 scripts",
      {
        run: () => Promise.all(documents.map((handle) => store.patch(handle, [append("log", item)], { user }))),
      },
      { run: () => Promise.all(documents.map((document) => raw.write(body, document))) },
      { runs: 200, block: 5, target: 1 / 0.7 },
    ),
  );

  const calls = async () => Number(/total_commands_processed:(\d+)/.exec(await server.cli("INFO", "stats"))?.[1]);
  const bytes = async () => Number(/total_net_output_bytes:(\d+)/.exec(await server.cli("INFO", "stats"))?.[1]);
  const idle = await calls();
  const perInfo = await calls() - idle;
  const [callsBefore, bytesBefore] = [await calls(), await bytes()];
  for (let i = 0; i < 100; i++) await store.get(large, { user });
  const [callsAfter, bytesAfter] = [await calls(), await bytes()];
  console.log(
    `100 warm gets of 1 MiB: ${
      callsAfter - callsBefore - 2 * perInfo
    } commands counted by the server (each script counts the commands it runs), ` +
      `${bytesAfter - bytesBefore} bytes sent by it, replies to INFO included`,
  );
  await store.close();
  return results;
}

if (import.meta.main) print(await timeRedis());
