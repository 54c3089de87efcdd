import { createClient } from "@redis/client";
import { openRedisBackend } from "../../src/backends/redis.ts";
import { openRedisMaintenance } from "../../src/backends/redis/maintenance.ts";
import { PACKED_FIELDS, unpack } from "../../src/backends/redis/packed.ts";
import type { MaintenanceTarget } from "../contract/maintenance.ts";
import { startRedis } from "../redis_server.ts";
import { type Planted, plantedCases } from "./planted.ts";

const server = await startRedis();

interface Target extends MaintenanceTarget {
  /** Runs a command; `@` at the beginning of an argument is the user's keys. */
  send(...args: string[]): Promise<unknown>;
}

function makeTarget(): Promise<Target> {
  const prefix = `test-${crypto.randomUUID()}`;
  const options = { url: server.url, prefix, onWarning: () => {} };
  return Promise.resolve({
    open: () => openRedisBackend(options),
    maintain: () => openRedisMaintenance(options),
    send: async (...args) => {
      const client = await createClient({ url: server.url, maintNotifications: "disabled" }).connect();
      try {
        return await client.sendCommand(args.map((arg) => arg.replace(/^@/, `${prefix}:{alice}:`)));
      } finally {
        client.destroy();
      }
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
}

/** The newest keyframe's version. */
async function newest(target: Target, log: string): Promise<string> {
  const rows = await target.send("ZRANGE", `@frames:${log}`, "-1", "-1");
  return String(rows).split(" ")[0];
}

/** Changes fields of a head's text. */
async function edit(
  target: Target,
  id: string,
  changes: { readonly [Field in typeof PACKED_FIELDS[number]]?: (value: string) => string },
): Promise<void> {
  const values = unpack(String(await target.send("HGET", `@head:${id}`, "now")), PACKED_FIELDS.length) ?? [];
  const edited = PACKED_FIELDS.map((field, i) => changes[field]?.(values[i]) ?? values[i]);
  await target.send("HSET", `@head:${id}`, "now", edited.join(" "));
}

const FAULTS: readonly Planted<Target>[] = [
  {
    name: "a flipped byte in a keyframe",
    plant: async (target, { log }) => {
      const version = await newest(target, log);
      const body = String(await target.send("HGET", `@states:${log}`, version));
      await target.send("HSET", `@states:${log}`, version, body.replace('"lines":[2', '"lines":[3'));
    },
    told: [["log", /^The keyframe of version \d+ holds another state than the journal gives\.$/]],
  },
  {
    name: "a keyframe without its state",
    plant: async (target, { log }) => void await target.send("HDEL", `@states:${log}`, await newest(target, log)),
    told: [["log", /^The keyframe of version \d+ has lost its state\.$/], ["log", /and no keyframe is kept there\.$/]],
  },
  {
    name: "an orphan state of a keyframe",
    plant: async (target, { log }) => void await target.send("HSET", `@states:${log}`, "5", "{}"),
    told: [["log", /^Keyframes of version 5 are kept, and no index leads to them\.$/]],
  },
  {
    name: "a missing entry",
    plant: async (target, { log }) => void await target.send("XDEL", `@journal:${log}`, "13-0"),
    told: [["log", /^Entry 13 is missing\.$/], ["log", /turn 13, and no entry/]],
    left: [["log", /^Entry 13 is missing\.$/], ["log", /turn 13, and no entry/]],
  },
  {
    name: "a head ahead of its journal",
    plant: async (target, { log }) => await edit(target, log, { version: () => "32", writeId: () => "w32" }),
    told: [["log", /^The head is at version 32, and the journal ends with 31\.$/]],
    left: [["log", /^The head is at version 32, and the journal ends with 31\.$/]],
  },
  {
    name: "a wrong offset in the head",
    plant: async (target, { log }) => await edit(target, log, { offset: (value) => value + "1" }),
    told: [["log", /^The head says \d+ for its offset/]],
  },
  {
    name: "a lost row of the index of documents",
    plant: async (target, { log }) => void await target.send("ZREM", "@documents", log),
    told: [
      ["log", /^It is missing from the index of documents, so no list has it\.$/],
      ["nobody", /^The user has 1 live documents and is counted to have 2\.$/],
    ],
  },
  {
    name: "a wrong row of the index of documents",
    plant: async (target, { log }) => void await target.send("ZADD", "@documents", "1", log),
    told: [["log", /^The index of documents has it at 1, and its head at 31\.$/]],
  },
  {
    name: "a lost row of the index of turns",
    plant: async (target, { log }) => void await target.send("ZREMRANGEBYSCORE", `@turns:${log}`, "13", "13"),
    told: [["log", /^Turn 13 ended with version 13, and the index of turns says nothing of it\.$/]],
  },
  {
    name: "a wrong counter",
    plant: async (target) => void await target.send("HSET", "@user", "live", "7"),
    told: [["nobody", /^The user has 2 live documents and is counted to have 7\.$/]],
  },
  {
    name: "lost counters",
    plant: async (target) => void await target.send("DEL", "@user"),
    told: [["nobody", /^The user has documents and no counters\.$/]],
  },
  {
    name: "a document that no sweep will bury",
    plant: async (target, { trip }) => void await target.send("ZREM", "@expiry", trip),
    told: [["trip", /^It is to end at \S+, and the index of what ends says no time\.$/]],
  },
  {
    name: "a tombstone that no sweep will forget",
    plant: async (target, { gone }) => void await target.send("ZREM", "@graves", gone),
    told: [["gone", /^It has ended, and no sweep will find it/], ["nobody", /is counted to have 2\.$/]],
  },
  {
    name: "a tombstone that no index has",
    plant: async (target, { gone }) => void await target.send("ZREM", "@documents", gone),
    told: [
      ["gone", /^The index of what tombstones tell names it, and there is no such document\.$/],
      ["gone", /^The index of tombstones names it, and there is no such document\.$/],
      ["nobody", /^The user has 1 live documents and is counted to have 2\.$/],
    ],
  },
  {
    name: "a journal that would not end with its document",
    plant: async (target, { trip }) => void await target.send("PERSIST", `@journal:${trip}`),
    told: [["trip", /^Its journal would not end when it does, at \S+\.$/]],
  },
  {
    name: "a document that would end although nobody said so",
    plant: async (target, { log }) => void await target.send("PEXPIRE", `@head:${log}`, "10000000"),
    told: [["log", /^Its head would not end when it does, at no time\.$/]],
  },
  {
    name: "a lost mark",
    plant: async (target, { trip }) => void await target.send("HDEL", "@marks", trip),
    told: [["trip", /^What its tombstone will tell is not what its head says\.$/]],
  },
  {
    name: "an unreadable head",
    plant: async (target, { log }) => await edit(target, log, { bytes: () => "many" }),
    told: [["log", /^The record of the document is damaged/]],
    left: [["log", /^The record of the document is damaged/]],
  },
  {
    name: "a key of another program",
    plant: async (target, { log }) => {
      await target.send("DEL", `@head:${log}`);
      await target.send("SET", `@head:${log}`, "another program's");
      await target.send("SET", "@strange", "another program's");
    },
    told: [
      ["log", /^The record of the document is kept under a key that holds something of another program\.$/],
      ["nobody", /^The key test-\S+:\{alice\}:strange is none of the store's\.$/],
    ],
    left: [
      ["log", /^The record of the document is kept under a key that holds something of another program\.$/],
      ["nobody", /^The key test-\S+:\{alice\}:strange is none of the store's\.$/],
    ],
  },
  {
    name: "an evicted head",
    plant: async (target, { log }) => void await target.send("DEL", `@head:${log}`),
    told: [["log", /^The record of the document is damaged, or a part of it was evicted\.$/]],
    left: [["log", /^The record of the document is damaged, or a part of it was evicted\.$/]],
  },
  {
    name: "parts of nobody",
    plant: async (target) => void await target.send("HSET", "@states:cart_nobody", "1", "{}"),
    told: [["cart_nobody" as "nobody", /^Its states are kept, and there is no such document\.$/]],
  },
  {
    name: "a request out of its index",
    plant: async (target) => void await target.send("ZREM", "@requests", "mint-1"),
    told: [["nobody", /^What is remembered of the request mint-1 is in no index/]],
  },
];

plantedCases("Redis", makeTarget, FAULTS);
