/**
 * Every method of a store, called within the process with anything: refused by its field with nothing changed, or done.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { exportStore } from "../../src/admin/export.ts";
import { openBackend } from "../../src/backends/open.ts";
import { openSqliteMaintenance } from "../../src/backends/sqlite/maintenance.ts";
import { InvalidInput } from "../../src/document/errors.ts";
import { HandleStore } from "../../src/store/store.ts";
import { hostileJson, hostileValue, spoilt } from "./hostile.ts";
import { always, attempt } from "./rule.ts";

const HANDLE = "cart_aaaaaaaa";
const STATE = { items: [1, { tea: 2 }], n: 1, city: "Aarhus" };

/** A store with one document, and all that its file holds as lines. */
async function openStore() {
  const directory = await Deno.makeTempDir({ prefix: "mcpstate-fuzz-" });
  const path = `${directory}/state.db`;
  const store = new HandleStore(await openBackend(`sqlite:///${path}?synchronous=normal`));
  const handle = await store.mint("cart", STATE, { user: "alice", writer: "phone" });
  const maintenance = await openSqliteMaintenance({ path, synchronous: "normal" });
  return {
    store,
    handle,
    /** But for when it was made. */
    contents: async () => (await Array.fromAsync(exportStore(maintenance))).slice(1),
    async [Symbol.asyncDispose]() {
      await maintenance[Symbol.asyncDispose]();
      await store.close();
      await Deno.remove(directory, { recursive: true });
    },
  };
}

type Arguments = readonly unknown[];
/** A method, and what it is rightly called with. `HANDLE` stands for the document's. */
const CALLS: Readonly<Record<string, Arguments>> = {
  create: ["cart", STATE, { user: "alice", ttlDays: 7, title: "Tea", requestId: "r", turn: 3, writer: "phone" }],
  get: [HANDLE, { user: "alice", version: 1 }],
  find: [HANDLE, { user: "alice", at: "2999-07-28" }],
  view: [HANDLE, { user: "alice", turn: 1 }],
  has: [HANDLE, { user: "alice" }],
  save: [HANDLE, STATE, { user: "alice", expectVersion: 1, onConflict: "merge", ttlDays: 1, title: "T" }],
  patch: [HANDLE, [{ op: "append", path: "items", value: 1 }], { user: "alice", requestId: "p", turn: 1 }],
  touch: [HANDLE, { user: "alice", ttlDays: 1, turn: 2 }],
  restore: [HANDLE, 1, { user: "alice", expectVersion: 1 }],
  revoke: [HANDLE, { user: "alice", expectVersion: 1, requestId: "d" }],
  changes: [HANDLE, { user: "alice", since: 0, limit: 5 }],
  list: ["alice", { kind: "cart", query: "t", limit: 5, cursor: "x", includeExpired: true }],
  sweep: ["alice"],
};
const WRITES = ["create", "save", "patch", "touch", "restore", "revoke"];

for (const [name, valid] of Object.entries(CALLS)) {
  Deno.test(`store.${name}: given anything, refuses it by its field and changes nothing, or does it`, async () => {
    await using site = await openStore();
    const { store, contents } = site;
    let { handle } = site;
    const call = (args: Arguments) => {
      const method: unknown = Reflect.get(store, name);
      if (typeof method !== "function") throw new Error(`there is no ${name}`);
      return method.apply(store, args.map((each) => each === HANDLE ? handle : each));
    };
    const anything = fc.oneof(spoilt(fc.constant(valid)), spoilt(fc.constant(valid), hostileValue));
    await always(anything, async (args) => {
      if (!Array.isArray(args)) return;
      await store.sweep("alice"); // a life of 1e-100 days is one
      if (!await store.has(handle, { user: "alice" })) handle = await store.mint("cart", STATE, { user: "alice" });
      const before = await contents();
      const done = await attempt(() => call(args));
      // Renewed for no time at all it has ended before it could be answered.
      const hasEnded = name === "touch" && !await store.has(handle, { user: "alice" });
      if (hasEnded) return;
      if (done === undefined || !WRITES.includes(name)) assertEquals(await contents(), before);
      else if (name !== "revoke") assertEquals((await stateOf(store, handle)) ?? STATE, STATE);
    }, 400);
  });
}

/** Version 1 stays as it was; `undefined` once its life is over. */
async function stateOf(store: HandleStore, handle: string): Promise<unknown> {
  return (await store.find(handle, { user: "alice", version: 1 }).catch((error) => {
    if (error.code !== "handle_expired") throw error;
  }))?.state;
}

Deno.test("store.watch: given anything as a place or a document, refuses it or waits", async () => {
  await using site = await openStore();
  const options = fc.oneof(hostileValue, fc.record({ since: hostileValue, handle: hostileJson }));
  await always(options, async (given) => {
    const end = new AbortController();
    const isObject = typeof given === "object" && given !== null && !Array.isArray(given);
    const options = isObject ? { ...given, signal: end.signal } : given as object;
    await attempt(async () => await site.store.watch("alice", options).ready);
    end.abort();
  }, 150);
});

Deno.test("store.save: a way to meet conflicts that there is not is refused before anything is read", async () => {
  await using site = await openStore();
  await always(hostileValue, async (onConflict) => {
    if (onConflict === undefined || onConflict === null || onConflict === "fail" || onConflict === "merge") return;
    const options = { user: "alice", expectVersion: 9, onConflict: onConflict as "fail" };
    const error = await site.store.save(site.handle, STATE, options).catch((error) => error);
    assert(error instanceof InvalidInput && error.field === "on_conflict", String(error));
  }, 60);
});
