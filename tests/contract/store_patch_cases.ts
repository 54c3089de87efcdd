import { assertEquals, assertRejects } from "@std/assert";
import { InvalidInput, PatchError } from "../../src/document/errors.ts";
import {
  addToSet,
  append,
  delKey,
  increment,
  mergeInto,
  type PatchOperation,
  removeValue,
  setKey,
} from "../../src/document/ops.ts";
import type { StoreCase } from "./store.ts";

const alice = { user: "alice" };
const CART = { items: [{ name: "bread", count: 1 }], tags: ["weekly"], totals: { sum: 12.5 }, "a/b": { "~": [] } };

export function patchCases(contract: StoreCase): void {
  contract("patch: makes one version of all its operations", async (store) => {
    const created = await store.create("cart", CART, alice);
    const patched = await store.patch(created.handle, [
      append("items", { name: "milk", count: 2 }),
      setKey("items.0", "count", 3),
      increment("totals.sum", 7.5),
      addToSet("tags", "urgent"),
      removeValue("tags", "weekly"),
      append("/a~1b/~0", "deep"),
      append("notes.today", "new", { create: true }),
      mergeInto({ currency: "DKK" }),
      delKey("", "unknown"),
    ], { ...alice, writer: "phone" });
    assertEquals(patched.state, {
      items: [{ name: "bread", count: 3 }, { name: "milk", count: 2 }],
      tags: ["urgent"],
      totals: { sum: 20 },
      "a/b": { "~": ["deep"] },
      notes: { today: ["new"] },
      currency: "DKK",
    });
    assertEquals([patched.version, patched.lastWriter], [2, "phone"]);
    assertEquals((await store.get(created.handle, { ...alice, version: 1 })).state, CART);
  });

  contract("patch: that fails names operation, path and reason, and leaves nothing", async (store) => {
    const handle = await store.mint("cart", CART, alice);
    const wrong: [unknown, string, string | undefined, string][] = [
      [append("basket", 1), "append", "basket", "path_not_found"],
      [append("totals", 1), "append", "totals", "expected_array"],
      [setKey("tags", "a", 1), "set_key", "tags", "expected_object"],
      [increment("tags", 1), "increment", "tags", "expected_number"],
      [{ op: "append", path: "tags" }, "append", "tags", "missing_field"],
      [{ op: "increment", path: "totals.sum", by: "1" }, "increment", "totals.sum", "bad_field_type"],
      [{ op: "append", path: "tags", value: 1, at: 0 }, "append", "tags", "unknown_field"],
      [{ op: "push", path: "tags", value: 1 }, "push", "tags", "unknown_op"],
    ];
    for (const [op, name, path, reason] of wrong) {
      const ops = [append("tags", "a"), increment("totals.sum", 1), op as PatchOperation];
      const { code, ...facts } = (await assertRejects(() => store.patch(handle, ops, alice), PatchError)).toPayload();
      assertEquals([code, facts.op, facts.path, facts.reason, facts.index], ["patch_error", name, path, reason, 2]);
    }
    const { version, state } = await store.get(handle, alice);
    assertEquals([version, state], [1, CART]);
    assertEquals((await store.changes(handle, { ...alice, since: 1 })).changes, []);
  });

  contract("patch: that changes nothing adds no version and takes no attribution", async (store, open) => {
    const created = await store.create("cart", { ...CART, on: true, none: null }, { ...alice, writer: "laptop" });
    const { changed: _, ...before } = created;
    const ops: PatchOperation[][] = [
      [],
      [addToSet("tags", "weekly")],
      [setKey("totals", "sum", 12.5)],
      [increment("totals.sum", 0)],
      [removeValue("tags", "daily")],
      [delKey("", "unknown")],
      [mergeInto({ none: null, on: true })],
      [append("tags", "x"), removeValue("tags", "x")],
    ];
    for (const each of [store, await open()]) {
      for (const op of ops) {
        assertEquals(await each.patch(created.handle, op, { ...alice, writer: "phone", turn: 7 }), before);
      }
    }
    assertEquals(await store.get(created.handle, alice), before);
  });

  contract("patch: tells 1 from true, 0 from false and null from absent", async (store) => {
    const handle = await store.mint("cart", { a: 1, b: 0, d: null }, alice);
    const ops = [setKey("", "a", true), setKey("", "b", false), setKey("", "c", null), delKey("", "d")];
    for (const [i, op] of ops.entries()) {
      assertEquals((await store.patch(handle, [op], alice)).version, i + 2);
    }
    assertEquals((await store.get(handle, alice)).state, { a: true, b: false, c: null });
  });

  contract("patch: of many at once on many stores, each lands and none twice", async (store, open) => {
    const stores = [store, await open(), await open()];
    const handle = await store.mint("cart", { sum: 0, set: [], list: [1, 2, 1], map: {} }, alice);
    const patches = Array.from({ length: 30 }, (_, i) =>
      stores[i % 3].patch(
        handle,
        [increment("sum", i), addToSet("set", { city: "Aarhus" }), setKey("map", `k${i}`, i)],
        alice,
      ));
    const versions = (await Promise.all(patches)).map(({ version }) => version).sort((a, b) => a - b);
    assertEquals(versions, Array.from({ length: 30 }, (_, i) => i + 2));
    const emptied = await store.patch(handle, [removeValue("list", 1)], alice);
    assertEquals(emptied.state, {
      sum: 435,
      set: [{ city: "Aarhus" }],
      list: [2],
      map: emptied.state.map,
    });
    assertEquals(Object.keys(emptied.state.map as object).length, 30);
  });

  contract("patch: merge is shallow and stores null as null", async (store) => {
    const handle = await store.mint("cart", { totals: { sum: 1, tax: 2 }, note: "x" }, alice);
    const { state } = await store.patch(handle, [mergeInto({ totals: { sum: 3 }, note: null })], alice);
    assertEquals(state, { totals: { sum: 3 }, note: null });
  });

  contract("patch: takes a thousand operations and no more", async (store) => {
    const handle = await store.mint("cart", { sum: 0 }, alice);
    const thousand = Array.from({ length: 1_000 }, () => increment("sum", 1));
    assertEquals((await store.patch(handle, thousand, alice)).state, { sum: 1_000 });
    for (const ops of [[...thousand, increment("sum", 1)], undefined, {}, "[]"]) {
      const error = await assertRejects(() => store.patch(handle, ops as PatchOperation[], alice), InvalidInput);
      assertEquals(error.field, "ops");
    }
    assertEquals((await store.get(handle, alice)).version, 2);
  });

  contract("patch: queued in one turn of the event loop, each answers its own version", async (store) => {
    const handle = await store.mint("cart", { items: [] }, alice);
    const answers = await Promise.allSettled(Array.from({ length: 150 }, (_, i) => {
      const op = i % 50 === 7 ? append("missing", i) : i % 50 === 9 ? removeValue("items", -1) : append("items", i);
      return store.patch(handle, [op], { ...alice, writer: `phone ${i}` });
    }));
    const landed = answers.flatMap((answer, i) => answer.status === "fulfilled" && i % 50 !== 9 ? [answer.value] : []);
    assertEquals(landed.map(({ version }) => version), Array.from({ length: 144 }, (_, i) => i + 2));
    for (const [i, { state }] of landed.entries()) assertEquals((state.items as number[]).length, i + 1);
    const refused = answers.filter(({ status }) => status === "rejected");
    assertEquals(refused.map((answer) => answer.status === "rejected" && answer.reason instanceof PatchError), [
      true,
      true,
      true,
    ]);
    assertEquals((await store.get(handle, alice)).state, landed[143].state);
  });
}
