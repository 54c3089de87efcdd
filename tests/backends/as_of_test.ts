/**
 * What it takes to read the past of a long journal, counted: rows on SQLite, keys on Deno KV, commands and bytes on Redis.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { increment } from "../../src/document/ops.ts";
import type { GetOptions } from "../../src/store/options.ts";
import { HandleStore } from "../../src/store/store.ts";
import { type Counting, countingKv, countingRedis, countingSqlite } from "../counting.ts";

const VERSIONS = 10_000;
const EARLY_TO_LATE = [2, 10, 2_500, 5_000, 7_500, 9_990, VERSIONS - 1];
const alice = { user: "alice" };

/**
 * Each version in a turn of its own. A store that holds nothing yet reads early, middle and late ones.
 *
 * @param mostPlaces of a search by time: the journal is halved, or cut into eleven, until one is left.
 * @param mostRead of a whole reading: what follows a keyframe is at most 16 KiB and twice the state.
 */
async function countReadings(
  { backend, take }: Counting,
  mostPlaces: number,
  mostRead: number,
): Promise<{ readonly mostBytes: number }> {
  const store = new HandleStore(backend, { retention: { versions: Infinity } });
  const handle = await store.mint("trip", { visits: 1 }, { ...alice, turn: 1 });
  for (let next = 2; next <= VERSIONS;) {
    const size = Math.min(64, VERSIONS + 1 - next);
    const patches = Array.from(
      { length: size },
      (_, i) => store.patch(handle, [increment("visits", 1)], { ...alice, turn: next + i }),
    );
    next = (await Promise.all(patches)).length + next;
  }
  const key = { ...alice, id: handle };
  const figures: Record<string, number[]> = {
    "place of a turn": [],
    "place of a time": [],
    turn: [],
    time: [],
    version: [],
  };
  let mostBytes = 0;
  const counted = async <T>(name: string, call: () => Promise<T>): Promise<T> => {
    await take();
    const answer = await call();
    const touched = await take();
    figures[name].push(touched.count);
    mostBytes = Math.max(mostBytes, touched.bytes);
    return answer;
  };
  const read = (name: string, past: Partial<GetOptions>) =>
    counted(name, () => new HandleStore(backend).get(handle, { ...alice, ...past }));
  for (const version of EARLY_TO_LATE) {
    const wanted = await read("version", { version });
    assertEquals(wanted.state, { visits: version });
    assertEquals((await read("turn", { turn: version })).state, { visits: version });
    const at = Date.parse(wanted.updatedAt);
    const then = await read("time", { at });
    assert(then.version >= version && then.updatedAt === wanted.updatedAt, "the last one of that time");
    assertEquals((await counted("place of a turn", () => backend.locate(key, { turn: version })))?.version, version);
    assertEquals((await counted("place of a time", () => backend.locate(key, { at })))?.version, then.version);
  }
  const most = (name: string) => Math.max(...figures[name]);
  assert(most("place of a turn") <= Math.min(...figures["place of a turn"]) + 1, "a turn is one look-up");
  assert(most("place of a time") <= mostPlaces, `${most("place of a time")} for the place of a time`);
  for (const name of ["turn", "time", "version"]) assert(most(name) <= mostRead, `${most(name)} for a ${name}`);
  return { mostBytes };
}

Deno.test("sqlite: any version of 10,000 is found by a bounded number of rows, and none is scanned for", async () => {
  await using engine = await countingSqlite();
  await countReadings(engine, 20, 300);
  const { database, selects } = engine;
  const scans = [...selects].flatMap(([sql, parameters]) => {
    if (!/FROM mcpstate_(entry|turn|keyframe|document)/.test(sql)) return [];
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters).map(({ detail }) => String(detail));
    return plan.filter((detail) => !detail.startsWith("SEARCH")).map((detail) => `${sql}: ${detail}`);
  });
  assertEquals(scans, []);
  assert(selects.size > 4, "statements were seen");
});

Deno.test("kv: any version of 10,000 is found by a bounded number of keys", async () => {
  await using engine = await countingKv();
  await countReadings(engine, 50, 350);
});

Deno.test("redis: any version of 10,000 is found by a bounded number of commands and bytes", async () => {
  await using engine = await countingRedis();
  const { mostBytes } = await countReadings(engine, 24, 48);
  assert(mostBytes < 48 * 1024, `${mostBytes} bytes in one reading`);
});
