/**
 * Engines that count what they touch: rows on SQLite, keys on Deno KV, commands on Redis, and the bytes that come back.
 *
 * @module
 */

import { createClient } from "@redis/client";
import { DatabaseSync } from "node:sqlite";
import type { Backend } from "../src/backends/backend.ts";
import { type KvDatabase, openKvBackend } from "../src/backends/kv.ts";
import { openRedisBackend } from "../src/backends/redis.ts";
import { openSqliteBackend, type SqliteDatabase, type SqliteValue } from "../src/backends/sqlite.ts";
import { startRedis } from "./redis_server.ts";

/** What was touched since the last time. */
export interface Touched {
  /** Rows, keys or commands. */
  readonly count: number;
  /** Bytes of what came back, roughly. */
  readonly bytes: number;
}

/** An engine that counts. */
export interface Counting extends AsyncDisposable {
  readonly backend: Backend;
  /** What was touched since it was last asked. */
  take(): Promise<Touched>;
}

/** A SQLite database in memory that counts the rows it answers. */
export interface CountingSqlite extends Counting {
  readonly database: DatabaseSync;
  /** The SELECT statements that were run, each with its last parameters. */
  readonly selects: ReadonlyMap<string, readonly SqliteValue[]>;
}

/** Opens SQLite in memory. */
export async function countingSqlite(): Promise<CountingSqlite> {
  const database = new DatabaseSync(":memory:");
  const tally = new Tally();
  const selects = new Map<string, SqliteValue[]>();
  const counting: SqliteDatabase = {
    exec: (sql) => database.exec(sql),
    close: () => database.close(),
    prepare: (sql) => {
      const statement = database.prepare(sql);
      const seen = <T>(parameters: SqliteValue[], answer: T, rows: readonly unknown[]): T => {
        if (sql.startsWith("SELECT")) selects.set(sql, parameters);
        tally.add(rows);
        return answer;
      };
      return {
        get: (...parameters) => {
          const row = statement.get(...parameters);
          return seen(parameters, row, row === undefined ? [] : [row]);
        },
        all: (...parameters) => {
          const all = statement.all(...parameters);
          return seen(parameters, all, all);
        },
        run: (...parameters) => statement.run(...parameters),
      };
    },
  };
  const backend = await openSqliteBackend({ database: counting });
  const take = () => Promise.resolve(tally.take());
  return { database, selects, backend, take, [Symbol.asyncDispose]: () => backend[Symbol.asyncDispose]() };
}

/** Opens Deno KV in memory, counting the keys that are read. */
export async function countingKv(): Promise<Counting> {
  const kv = await Deno.openKv(":memory:");
  const tally = new Tally();
  const counting: KvDatabase = {
    get: async (key) => {
      const entry = await kv.get(key);
      tally.add([entry.value]);
      return entry;
    },
    getMany: async (keys) => {
      const entries = await kv.getMany(keys);
      tally.add(entries.map(({ value }) => value));
      return entries;
    },
    list: async function* (selector, options) {
      for await (const entry of kv.list(selector, options)) {
        tally.add([entry.value]);
        yield entry;
      }
    },
    atomic: () => kv.atomic(),
    close: () => kv.close(),
  };
  const backend = await openKvBackend({ kv: counting });
  const take = () => Promise.resolve(tally.take());
  return { backend, take, [Symbol.asyncDispose]: () => backend[Symbol.asyncDispose]() };
}

/** Starts a Redis, counting the commands that it runs, those of scripts included. */
export async function countingRedis(): Promise<Counting> {
  const server = await startRedis();
  const client = await createClient({ url: server.url, maintNotifications: "disabled" }).connect();
  const tally = new Tally();
  const backend = await openRedisBackend({
    client: {
      sendCommand: async (args) => {
        const reply = await client.sendCommand([...args]);
        tally.add([reply]);
        return reply;
      },
    },
    onWarning: () => {},
  });
  const commands = async () => {
    const stats = await server.cli("INFO", "commandstats");
    const calls = stats.matchAll(/cmdstat_(?!info|publish|config)[\w|]+:calls=(\d+)/g);
    return [...calls].reduce((sum, [, count]) => sum + Number(count), 0);
  };
  let before = await commands();
  return {
    backend,
    async take() {
      const now = await commands();
      const count = now - before;
      before = now;
      return { count, bytes: tally.take().bytes };
    },
    async [Symbol.asyncDispose]() {
      await backend[Symbol.asyncDispose]();
      await client.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

class Tally {
  #count = 0;
  #bytes = 0;

  add(records: readonly unknown[]): void {
    this.#count += records.length;
    for (const record of records) this.#bytes += sizeOf(record);
  }

  take(): Touched {
    const taken = { count: this.#count, bytes: this.#bytes };
    this.#count = this.#bytes = 0;
    return taken;
  }
}

function sizeOf(record: unknown): number {
  if (record instanceof Uint8Array) return record.length;
  if (typeof record === "string") return record.length;
  if (typeof record !== "object" || record === null) return 8;
  return Object.values(record).reduce((sum, each) => sum + sizeOf(each), 0);
}
