import { join } from "node:path";
import { openKvBackend } from "../../src/backends/kv.ts";
import { openKvMaintenance } from "../../src/backends/kv/maintenance.ts";
import type { MaintenanceTarget } from "../contract/maintenance.ts";
import { type Planted, plantedCases } from "./planted.ts";

type Fields = Record<string, unknown>;

interface Target extends MaintenanceTarget {
  kv<T>(work: (kv: Deno.Kv) => Promise<T>): Promise<T>;
}

async function makeTarget(): Promise<Target> {
  const directory = await Deno.makeTempDir();
  const options = { path: join(directory, "state.kv") };
  return {
    open: () => openKvBackend(options),
    maintain: () => openKvMaintenance(options),
    kv: async (work) => {
      using kv = await Deno.openKv(options.path);
      return await work(kv);
    },
    [Symbol.asyncDispose]: () => Deno.remove(directory, { recursive: true }),
  };
}

const DOCUMENT = (id: string) => ["mcpstate", "document", "alice", id];

async function journalOf(kv: Deno.Kv, id: string): Promise<Deno.KvKey> {
  const { value } = await kv.get<{ journal: string }>(DOCUMENT(id));
  return ["mcpstate", "journal", value?.journal ?? "none"];
}

/** Changes the head, in both of its places. */
function changeHead(id: string, change: (head: Fields) => Fields) {
  return (target: Target) =>
    target.kv(async (kv) => {
      const { value } = await kv.get<{ journal: string; head: Fields }>(DOCUMENT(id));
      if (value === null) throw new Error("no such document");
      const changed = { ...value, head: change(value.head) };
      await kv.set(DOCUMENT(id), changed);
      await kv.set(["mcpstate", "list", "alice", Number(value.head.seq)], changed);
    });
}

function change(key: Deno.KvKey, change: (value: Fields) => unknown) {
  return (target: Target) =>
    target.kv(async (kv) => {
      const { value } = await kv.get<Fields>(key);
      if (value === null) throw new Error("no such record");
      await kv.set(key, change(value));
    });
}

async function firstBelow(kv: Deno.Kv, prefix: Deno.KvKey, reverse = false): Promise<Deno.KvEntry<Fields>> {
  for await (const entry of kv.list<Fields>({ prefix }, { limit: 1, reverse })) return entry;
  throw new Error("there is none");
}

const remove = (prefix: Deno.KvKey) => (target: Target) =>
  target.kv(async (kv) => await kv.delete((await firstBelow(kv, prefix)).key));

const FAULTS: readonly Planted<Target>[] = [
  {
    name: "a flipped byte in a keyframe",
    plant: (target, { log }) =>
      target.kv(async (kv) => {
        const { key, value } = await firstBelow(kv, [...await journalOf(kv, log), "keyframe"], true);
        if (!(value.body instanceof Uint8Array)) throw new Error("the body is in chunks");
        const body = new TextDecoder().decode(value.body).replace('"lines":[2', '"lines":[3');
        await kv.set(key, { ...value, body: new TextEncoder().encode(body) });
      }),
    told: [["log", /^The keyframe of version \d+ holds another state than the journal gives\.$/]],
  },
  {
    name: "a keyframe that is no text",
    plant: (target, { log }) =>
      target.kv(async (kv) => {
        const { key, value } = await firstBelow(kv, [...await journalOf(kv, log), "keyframe"], true);
        await kv.set(key, { ...value, body: new Uint8Array([0xff, 0xfe]) });
      }),
    told: [["log", /^The keyframe of version \d+ is not UTF-8\.$/], ["log", /and no keyframe is kept there\.$/]],
  },
  {
    name: "a missing entry",
    plant: (target, { log }) => target.kv(async (kv) => await kv.delete([...await journalOf(kv, log), "entry", 13])),
    told: [["log", /^Entry 13 is missing\.$/], ["log", /turn 13, and no entry/]],
    left: [["log", /^Entry 13 is missing\.$/], ["log", /turn 13, and no entry/]],
  },
  {
    name: "an orphan chunk",
    plant: (target) =>
      target.kv(async (kv) => void await kv.set(["mcpstate", "chunk", "stage-1", 0], new Uint8Array(9))),
    told: [["nobody", /^1 chunks of stage-1 belong to nothing\.$/]],
  },
  {
    name: "a journal of nobody",
    plant: (target) =>
      target.kv(async (kv) => void await kv.set(["mcpstate", "journal", "journal-1", "entry", 1], { version: 1 })),
    told: [["nobody", /^The journal journal-1 belongs to no document\.$/]],
    left: [["nobody", /^The journal journal-1 belongs to no document\.$/]],
  },
  {
    name: "a head ahead of its journal",
    plant: (target, { log }) => changeHead(log, (head) => ({ ...head, version: 32, writeId: "w32" }))(target),
    told: [["log", /^The head is at version 32, and the journal ends with 31\.$/]],
    left: [["log", /^The head is at version 32, and the journal ends with 31\.$/]],
  },
  {
    name: "a wrong offset in the head",
    plant: (target, { log }) => changeHead(log, (head) => ({ ...head, offset: 1 }))(target),
    told: [["log", /^The head says 1 for its offset/]],
  },
  {
    name: "a lost row of the list",
    plant: (target) => target.kv((kv) => kv.delete(["mcpstate", "list", "alice", 31])),
    told: [["log", /^It is missing from the list\.$/]],
  },
  {
    name: "a row of the list that leads nowhere",
    plant: (target) =>
      target.kv(async (kv) => {
        const { value } = await kv.get(["mcpstate", "list", "alice", 31]);
        await kv.set(["mcpstate", "list", "alice", 5], value);
      }),
    told: [["log", /^The list names it where it is not\.$/]],
  },
  {
    name: "a lost row of the index of turns",
    plant: (target, { log }) => target.kv(async (kv) => await kv.delete([...await journalOf(kv, log), "turn", 13])),
    told: [["log", /^Turn 13 ended with version 13, and the index of turns says nothing of it\.$/]],
  },
  {
    name: "a wrong counter",
    plant: change(["mcpstate", "user", "alice"], (value) => ({ ...value, live: 7 })),
    told: [["nobody", /^The user has 2 live documents and is counted to have 7\.$/]],
  },
  {
    name: "lost counters",
    plant: (target) => target.kv((kv) => kv.delete(["mcpstate", "user", "alice"])),
    told: [["nobody", /^The user has documents and no counters\.$/]],
  },
  {
    name: "a document that no sweep will bury, and a tombstone that none will forget",
    plant: async (target) => {
      await remove(["mcpstate", "due", "alice"])(target);
      await remove(["mcpstate", "due", "alice"])(target);
    },
    told: [["trip", /^No sweep will find it when it ends/], ["gone", /^No sweep will find it when it ends/]],
  },
  {
    name: "an unreadable head",
    plant: (target, { log }) => changeHead(log, (head) => ({ ...head, version: "x" }))(target),
    told: [["log", /^The record of the document is damaged \(version\)\.$/]],
    left: [["log", /^The record of the document is damaged \(version\)\.$/]],
  },
  {
    name: "a key of another program",
    plant: (target) => target.kv(async (kv) => void await kv.set(["mcpstate", "strange", 1], "another program's")),
    told: [["nobody", /^The key mcpstate \/ strange \/ 1 is none of the store's\.$/]],
    left: [["nobody", /^The key mcpstate \/ strange \/ 1 is none of the store's\.$/]],
  },
  {
    name: "a request out of its index",
    plant: remove(["mcpstate", "requested", "alice"]),
    told: [["nobody", /^What is remembered of a request is in no index/]],
  },
];

plantedCases("Deno KV", makeTarget, FAULTS);
