import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { InvalidInput, StateError, StateTooLarge } from "../../src/document/errors.ts";
import type { JsonObject, JsonValue } from "../../src/document/json.ts";
import { append, increment, mergeInto, setKey } from "../../src/document/ops.ts";
import type { StoreCase } from "./store.ts";

const alice = { user: "alice" };

const EVERYTHING: JsonObject = {
  "": "empty key",
  "0": "a digit",
  "a.b": ["dotted", { "c/d": "~1", "~": "~0" }],
  constructor: "not the class",
  toString: { hasOwnProperty: false, valueOf: null },
  numbers: [0, -1.5, 1e21, 5e-324, 1.7976931348623157e308, Number.MAX_SAFE_INTEGER, 0.1],
  texts: ["", "Kø\u0301benhavn", "東京", "🦊", '"\\\b\f\n\r\t', "\u0000\u001f\u2028\u2029", "</script>"],
  containers: [[], {}, [[]], [{}], { "": {} }],
  nothing: null,
  truth: [true, false],
};

/** A state that nests so deep, the root object being level 1. */
function nested(depth: number): JsonObject {
  let value: JsonValue = 1;
  for (let level = 1; level < depth; level++) value = level % 2 ? { a: value } : [value];
  return { root: value };
}

export function stateCases(contract: StoreCase): void {
  contract("state: comes back as it was, whatever JSON holds", async (store, open) => {
    const other = await open();
    const handle = await store.mint("research", EVERYTHING, alice);
    const saved = await store.mint("research", {}, alice);
    await store.save(saved, EVERYTHING, { ...alice, expectVersion: 1 });
    const patched = await store.mint("research", {}, alice);
    await store.patch(patched, [mergeInto(EVERYTHING)], alice);
    for (const [each, version] of [[handle, 1], [saved, 2], [patched, 2]] as const) {
      for (const reader of [store, other]) {
        const snapshot = await reader.get(each, alice);
        assertEquals([snapshot.state, snapshot.version], [EVERYTHING, version]);
        assertEquals(snapshot.bytes, new TextEncoder().encode(JSON.stringify(EVERYTHING)).length);
        assertEquals((await reader.get(each, { ...alice, version })).state, EVERYTHING);
      }
    }
    assertEquals(Object.is((await store.create("cart", { total: -0 }, alice)).state.total, 0), true);
  });

  contract("state: that JSON cannot hold is refused with its path, on every way in", async (store) => {
    const handle = await store.mint("research", { list: [1] }, alice);
    const cycle: Record<string, unknown> = { name: "cycle" };
    cycle.self = cycle;
    const wrong: [unknown, string][] = [
      [NaN, ""],
      [Infinity, ""],
      [-Infinity, ""],
      [undefined, ""],
      [() => 1, ""],
      [Symbol("s"), ""],
      [1n, ""],
      [new Date(), ""],
      [new Map(), ""],
      [new (class Trip {})(), ""],
      [Array(3), ""],
      [2 ** 53, ""],
      ["\ud800", ""],
      [{ "\udfff": 1 }, "/\ufffd"],
      [JSON.parse('{"__proto__": 1}'), "/__proto__"],
      [[1, [2, NaN]], "/1/1"],
      [{ "a/b": { "~": undefined } }, "/a~1b/~0"],
    ];
    for (const [value, path] of wrong) {
      for (
        const call of [
          () => store.mint("research", { deep: [value] }, alice),
          () => store.save(handle, { deep: [value] }, { ...alice, expectVersion: 1 }),
        ]
      ) {
        const error = await assertRejects(call, InvalidInput);
        assertEquals(error.field, "state");
        assertEquals(error.path, `/deep/0${path}`);
      }
      await assertRejects(() => store.patch(handle, [append("list", value as JsonValue)], alice), StateError);
    }
    await assertRejects(() => store.mint("research", cycle, alice), InvalidInput);
    for (const state of [null, undefined, [], "text", 5, [{}]]) {
      assertEquals((await assertRejects(() => store.mint("research", state, alice), InvalidInput)).field, "state");
    }
    assertEquals((await store.get(handle, alice)).version, 1);
    assertEquals((await store.list("alice")).handles.length, 1);
  });

  contract("state: nests to a depth of 100 and no deeper, on every way in", async (store) => {
    const handle = await store.mint("research", nested(100), alice);
    assertEquals((await store.get(handle, alice)).state, nested(100));
    const saved = await store.save(handle, nested(100), { ...alice, expectVersion: 1 });
    assertEquals(saved.version, 2);
    const patched = await store.patch(handle, [setKey("", "root", nested(100).root)], alice);
    assertEquals(patched.version, 2);
    const inner = await store.mint("research", { a: { b: [] } }, alice);
    const deep = await store.patch(inner, [append("a.b", nested(97))], alice);
    assertEquals(deep.version, 2);
    await assertRejects(() => store.patch(inner, [append("a.b", nested(98))], alice), StateError);
    for (const depth of [101, 102, 100_000]) {
      await assertRejects(() => store.mint("research", nested(depth), alice), InvalidInput);
      await assertRejects(() => store.save(handle, nested(depth), { ...alice, expectVersion: 2 }), InvalidInput);
      await assertRejects(() => store.patch(inner, [setKey("", "a", nested(depth))], alice), StateError);
    }
    assertEquals((await store.get(inner, alice)).version, 2);
  });

  contract("state: may be as large as the limit and not a byte larger, on every way in", async (_, open) => {
    const limited = await open({ maxStateBytes: 1_000 });
    const sized = (bytes: number, end = "n") => ({ notes: "n".repeat(bytes - 13) + end });
    const refused = async (call: () => Promise<unknown>, size = 1_001) => {
      const { sizeBytes, limitBytes } = await assertRejects(call, StateTooLarge);
      assertEquals([sizeBytes, limitBytes], [size, 1_000]);
    };
    const handle = await limited.mint("research", sized(1_000), alice);
    await refused(() => limited.mint("research", sized(1_001), alice));
    await limited.save(handle, sized(1_000, "x"), { ...alice, expectVersion: 1 });
    await refused(() => limited.save(handle, sized(1_001), { ...alice, expectVersion: 2 }));
    await refused(() => limited.save(handle, { ...sized(996), a: 1 }, { ...alice, expectVersion: 2 }), 1_002);
    await refused(() => limited.patch(handle, [setKey("", "a", 1)], alice), 1_006);
    assertEquals((await limited.patch(handle, [setKey("", "notes", sized(1_000).notes)], alice)).bytes, 1_000);
  });

  contract("state: beyond the limit is refused to patches, merges and restores too", async (store, open) => {
    const limited = await open({ maxStateBytes: 100 });
    const handle = await store.mint("cart", { items: ["i".repeat(90)], total: 1 }, alice);
    await store.save(handle, { items: [], total: 1 }, { ...alice, expectVersion: 1 });
    const refused = async (call: () => Promise<unknown>) => {
      const { sizeBytes, limitBytes } = await assertRejects(call, StateTooLarge);
      assertEquals([sizeBytes > 100, limitBytes], [true, 100]);
    };
    await refused(() => limited.restore(handle, 1, { ...alice, expectVersion: 2 }));
    await limited.patch(handle, [append("items", "i".repeat(76))], alice);
    assertEquals((await limited.get(handle, alice)).bytes, 100);
    await refused(() => limited.patch(handle, [increment("total", 9)], alice));
    const merging = { ...alice, expectVersion: 2, onConflict: "merge" } as const;
    await refused(() => limited.save(handle, { items: ["mine"], total: 1 }, merging));
    assertEquals((await store.get(handle, alice)).version, 3);
  });

  contract("state: is measured in UTF-8 bytes", async (store) => {
    const state = { notes: "東".repeat(200_000) };
    const snapshot = await store.create("research", state, alice);
    assertEquals(snapshot.bytes, 600_012);
    assertEquals((await store.get(snapshot.handle, alice)).state, state);
    const large = { notes: "東".repeat(400_000) };
    const error = await assertRejects(() => store.mint("research", large, alice), StateTooLarge);
    assertEquals(error.sizeBytes, 1_200_012);
    assertEquals(
      await store.create("cart", { notes: "n".repeat(1_048_576 - 12) }, alice).then((s) => s.bytes),
      1_048_576,
    );
  });

  contract("state: is neither aliased on the way in nor open to change on the way out", async (store) => {
    const input = { list: [{ city: "Copenhagen" }] };
    const created = await store.create("trip", input, alice);
    input.list[0].city = "Malmö";
    input.list.push({ city: "Lund" });
    const value = { city: "Aarhus" };
    const patched = await store.patch(created.handle, [append("list", value)], alice);
    value.city = "Ribe";
    const saving = { list: [{ city: "Odense" }] };
    const saved = await store.save(created.handle, saving, { ...alice, expectVersion: 2 });
    saving.list[0].city = "Skagen";
    const states = [
      { list: [{ city: "Copenhagen" }] },
      { list: [{ city: "Copenhagen" }, { city: "Aarhus" }] },
      { list: [{ city: "Odense" }] },
    ];
    assertEquals([created.state, patched.state, saved.state], states);
    for (const [i, wanted] of states.entries()) {
      const snapshot = await store.get(created.handle, { ...alice, version: i + 1 });
      assertEquals(snapshot.state, wanted);
      const state = snapshot.state as unknown as { list: { city: string }[] };
      assertThrows(() => state.list[0].city = "Ribe", TypeError);
      assertThrows(() => state.list.push({ city: "Ribe" }), TypeError);
      assertThrows(() => (snapshot as { version: number }).version = 9, TypeError);
      assert(Object.isFrozen(snapshot) && Object.isFrozen(state) && Object.isFrozen(state.list));
    }
  });

  contract("state: a write that fails leaves everything as it was", async (store, open) => {
    const { handle } = await store.create("cart", { items: [], total: 0 }, {
      ...alice,
      writer: "laptop",
      ttlDays: 2,
      title: "Cart",
      turn: 3,
    });
    const limited = await open({ maxStateBytes: 100, maxHandlesPerUser: 1 });
    const before = [await store.get(handle, alice), await store.list("alice")];
    const more = { ...alice, writer: "phone", ttlDays: 9, title: "Changed", turn: 4, requestId: "failing" };
    const large = { items: ["i".repeat(200)] };
    const failing: (() => Promise<unknown>)[] = [
      () => limited.save(handle, large, { ...more, expectVersion: 1 }),
      () => limited.patch(handle, [append("items", "i".repeat(200))], more),
      () => limited.patch(handle, [increment("total", 1), append("total", 1)], more),
      () => limited.save(handle, {}, { ...more, expectVersion: 2 }),
      () => limited.save(handle, {}, { ...more, expectVersion: 1, ttlDays: 0 }),
      () => limited.save(handle, {}, { ...more, expectVersion: 1, turn: 5_000 }),
      () => limited.restore(handle, 7, { ...more, expectVersion: 1 }),
      () => limited.touch(handle, { ...alice, ttlDays: -1 }),
      () => limited.touch(handle, { ...alice, turn: 5_000 }),
      () => limited.mint("cart", {}, more),
      () => limited.revoke(handle, { ...alice, expectVersion: 2 }),
    ];
    for (const call of failing) await assertRejects(async () => await call(), StateError);
    assertEquals([await store.get(handle, alice), await store.list("alice")], before);
    assertEquals((await limited.patch(handle, [increment("total", 1)], { ...more, turn: 3 })).version, 2);
  });
}
