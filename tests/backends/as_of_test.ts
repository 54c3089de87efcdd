/**
 * What it takes to read the past of a long journal, counted: rows on SQLite, keys on Deno KV, commands and bytes on Redis.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { createClient } from "@redis/client";
import { DatabaseSync } from "node:sqlite";
import type { Backend } from "../../src/backends/backend.ts";
import { type KvDatabase, openKvBackend } from "../../src/backends/kv.ts";
import { openRedisBackend } from "../../src/backends/redis.ts";
import { openSqliteBackend, type SqliteDatabase, type SqliteValue } from "../../src/backends/sqlite.ts";
import { increment } from "../../src/document/ops.ts";
import type { GetOptions } from "../../src/store/options.ts";
import { HandleStore } from "../../src/store/store.ts";
import { startRedis } from "../redis_server.ts";

const VERSIONS = 10_000;
const EARLY_TO_LATE = [2, 10, 2_500, 5_000, 7_500, 9_990, VERSIONS - 1];
const alice = { user: "alice" };

/** What an engine has touched since the last time. */
type Count = () => Promise<number> | number;

/**
 * Each version in a turn of its own. A store that holds nothing yet reads early, middle and late ones.
 *
 * @param mostPlaces of a search by time: the journal is halved, or cut into eleven, until one is left.
 * @param mostRead of a whole reading: what follows a keyframe is at most 16 KiB and twice the state.
 */
async function countReadings(backend: Backend, count: Count, mostPlaces: number, mostRead: number): Promise<void> {
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
  const counted = async <T>(name: string, call: () => Promise<T>): Promise<T> => {
    await count();
    const answer = await call();
    figures[name].push(await count());
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
}

Deno.test("sqlite: any version of 10,000 is found by a bounded number of rows, and none is scanned for", async () => {
  const database = new DatabaseSync(":memory:");
  let rows = 0;
  const statements = new Map<string, SqliteValue[]>();
  const counting: SqliteDatabase = {
    exec: (sql) => database.exec(sql),
    close: () => database.close(),
    prepare: (sql) => {
      const statement = database.prepare(sql);
      const seen = <T>(parameters: SqliteValue[], answer: T, count: number): T => {
        if (sql.startsWith("SELECT")) statements.set(sql, parameters);
        rows += count;
        return answer;
      };
      return {
        get: (...parameters) => {
          const row = statement.get(...parameters);
          return seen(parameters, row, row === undefined ? 0 : 1);
        },
        all: (...parameters) => {
          const all = statement.all(...parameters);
          return seen(parameters, all, all.length);
        },
        run: (...parameters) => statement.run(...parameters),
      };
    },
  };
  const backend = await openSqliteBackend({ database: counting });
  await countReadings(backend, () => takeFrom(() => rows, () => rows = 0), 20, 300);
  const scans = [...statements].flatMap(([sql, parameters]) => {
    if (!/FROM mcpstate_(entry|turn|keyframe|document)/.test(sql)) return [];
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters).map(({ detail }) => String(detail));
    return plan.filter((detail) => !detail.startsWith("SEARCH")).map((detail) => `${sql}: ${detail}`);
  });
  assertEquals(scans, []);
  assert(statements.size > 4, "statements were seen");
  await backend[Symbol.asyncDispose]();
});

Deno.test("kv: any version of 10,000 is found by a bounded number of keys", async () => {
  const kv = await Deno.openKv(":memory:");
  let keys = 0;
  const counting: KvDatabase = {
    get: (key) => {
      keys++;
      return kv.get(key);
    },
    getMany: (names) => {
      keys += names.length;
      return kv.getMany(names);
    },
    list: async function* (selector, options) {
      for await (const entry of kv.list(selector, options)) {
        keys++;
        yield entry;
      }
    },
    atomic: () => kv.atomic(),
    close: () => kv.close(),
  };
  const backend = await openKvBackend({ kv: counting });
  await countReadings(backend, () => takeFrom(() => keys, () => keys = 0), 50, 350);
  await backend[Symbol.asyncDispose]();
});

Deno.test("redis: any version of 10,000 is found by a bounded number of commands and bytes", async () => {
  await using server = await startRedis();
  const client = await createClient({ url: server.url, maintNotifications: "disabled" }).connect();
  let bytes = 0;
  let mostBytes = 0;
  const backend = await openRedisBackend({
    client: {
      sendCommand: async (args) => {
        const reply = await client.sendCommand([...args]);
        bytes += JSON.stringify(reply).length;
        return reply;
      },
    },
    onWarning: () => {},
  });
  let before = 0;
  // What scripts call counts too.
  const commands = async () => {
    // The first time, it is about the writes.
    if (before > 0) mostBytes = Math.max(mostBytes, bytes);
    const stats = await server.cli("INFO", "commandstats");
    const calls = [...stats.matchAll(/cmdstat_(?!info|publish)\w+:calls=(\d+)/g)].reduce(
      (sum, [, n]) => sum + Number(n),
      0,
    );
    const taken = calls - before;
    before = calls;
    bytes = 0;
    return taken;
  };
  await countReadings(backend, commands, 24, 48);
  assert(mostBytes < 48 * 1024, `${mostBytes} bytes in one reading`);
  await backend[Symbol.asyncDispose]();
  await client.close();
});

/** Answers a count and begins it anew. */
function takeFrom(value: () => number, reset: () => void): number {
  const taken = value();
  reset();
  return taken;
}
