import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { JsonValue } from "../../src/document/json.ts";
import {
  isEvicted,
  mergeToolState,
  type SessionState,
  type SessionUpdate,
  type StateEntry,
} from "../../src/history/entry.ts";
import { EVICTIONS_KEPT } from "../../src/history/eviction.ts";

const KEY = "gazet/get_aoi/bbox";

function at(turn: number | undefined, value: number, tool = "get_aoi"): SessionUpdate {
  return { [KEY]: { value, tool, ...(turn === undefined ? {} : { turn }) } };
}

function fold(updates: readonly SessionUpdate[], maxBytes?: number): SessionState {
  return updates.reduce<SessionState>((state, update) => mergeToolState(state, update, maxBytes), {});
}

Deno.test("mergeToolState: the first write has seq 1", () => {
  assertEquals(mergeToolState(undefined, at(undefined, 7)), {
    [KEY]: { value: 7, tool: "get_aoi", seq: 1, versions: 1 },
  });
  assertEquals(mergeToolState({}, { [KEY]: { value: 7, tool: "get_aoi", turn: 2, inputs: { place: "Aarhus" } } }), {
    [KEY]: {
      value: 7,
      tool: "get_aoi",
      seq: 1,
      turn: 2,
      inputs: { place: "Aarhus" },
      turnsWritten: 1,
      versions: 1,
      turnsChanged: [2],
    },
  });
});

Deno.test("mergeToolState: a given seq is kept, and others follow it", () => {
  const state = fold([{ a: { value: 1, tool: "t", seq: 41 } }, {
    b: { value: 2, tool: "t" },
    c: { value: 3, tool: "t" },
  }]);
  assertEquals([state.a.seq, state.b.seq, state.c.seq], [41, 42, 43]);
});

Deno.test("mergeToolState: no update is a copy", () => {
  const state = fold([at(1, 7)]);
  for (const update of [null, undefined, {}, { [KEY]: null, other: undefined }]) {
    const copy = mergeToolState(state, update);
    assertEquals(copy, state);
    assert(copy !== state);
  }
  assertEquals(mergeToolState(null, null), {});
});

Deno.test("mergeToolState: the same turn counts once, each turn that writes counts, values count when they change", () => {
  const twice = fold([at(1, 7), at(1, 8)])[KEY];
  assertEquals([twice.turnsWritten, twice.versions, twice.turnsChanged], [1, 2, [1]]);
  const same = fold([at(1, 7), at(2, 7), at(3, 7)])[KEY];
  assertEquals([same.turnsWritten, same.versions, same.turnsChanged], [3, 1, [1]]);
  const other = fold([at(1, 7), at(2, 8), at(3, 8)])[KEY];
  assertEquals([other.turnsWritten, other.versions, other.turnsChanged], [3, 2, [1, 2]]);
});

Deno.test("mergeToolState: a late write of an older turn overwrites and does not count", () => {
  const late = fold([at(1, 7), at(3, 8), at(2, 9, "late")])[KEY] as StateEntry;
  assertEquals([late.value, late.tool, late.turn, late.turnsWritten, late.seq], [9, "late", 3, 2, 3]);
});

Deno.test("mergeToolState: the turns of changes keep the first and the newest", () => {
  const entry = fold(Array.from({ length: 40 }, (_, i) => at(i + 4, i)))[KEY];
  assertEquals(entry.turnsChanged?.length, 16);
  assertEquals([entry.turnsChanged?.[0], entry.turnsChanged?.[1], entry.turnsChanged?.at(-1)], [4, 29, 43]);
  assertEquals([entry.versions, entry.turnsWritten], [40, 40]);
});

Deno.test("mergeToolState: beyond its budget the newest stay, and the others are remembered as evicted", () => {
  const write = (key: string): SessionUpdate => ({ [key]: { value: "x".repeat(1_000), tool: "t", turn: 1 } });
  const state = fold(["a", "b", "c", "d"].map(write), 2_500);
  assertEquals(Object.keys(state).filter((key) => !isEvicted(state[key])), ["c", "d"]);
  assertEquals(state.a, {
    tool: "t",
    seq: 1,
    turn: 1,
    turnsWritten: 1,
    versions: 1,
    turnsChanged: [1],
    evicted: true,
    droppedIn: 1,
  });
  const again = mergeToolState(state, { a: { value: "back", tool: "t", turn: 2 } }, 2_500);
  assertEquals([again.a.seq, again.a.versions, again.a.turnsWritten, isEvicted(again.a)], [5, 2, 2, false]);
});

Deno.test("mergeToolState: a value larger than the budget is itself evicted; the default holds 8 MiB", () => {
  const large = { value: "x".repeat(3 * 1024 * 1024), tool: "t" };
  assert(isEvicted(fold([{ a: large }], 1_000).a));
  const state = fold([{ a: large }, { b: large }, { c: large }]);
  assertEquals(["a", "b", "c"].map((key) => isEvicted(state[key])), [true, false, false]);
});

Deno.test("mergeToolState: only so many evictions are remembered, the newest", () => {
  const updates = Array.from({ length: 400 }, (_, i): SessionUpdate => ({ [`k${i}`]: { value: i, tool: "t" } }));
  const state = fold(updates, 1_000);
  const evicted = Object.keys(state).filter((key) => isEvicted(state[key]));
  assertEquals(evicted.length, EVICTIONS_KEPT);
  assert(!("k0" in state) && evicted.includes("k380"));
});

const key = fc.constantFrom("a", "b", "c", "__proto__", "constructor", "a/b", "a.b", "");
const write = fc.record({
  value: fc.json({ maxDepth: 1 }).map((text): JsonValue => JSON.parse(text)),
  tool: fc.constantFrom("x", "y"),
  turn: fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
}, { noNullPrototype: true });
const update = fc.array(fc.tuple(key, write), { maxLength: 4 }).map((all) => Object.fromEntries(all));

Deno.test("property: the reducer changes nothing that it is given, and every key is kept", () => {
  fc.assert(fc.property(fc.array(update, { maxLength: 6 }), (updates) => {
    const before = structuredClone(updates.map((each) => Object.entries(each)));
    let state: SessionState = {};
    for (const each of updates) {
      const copy = JSON.stringify(state);
      const next = mergeToolState(state, each);
      assertEquals(JSON.stringify(state), copy);
      for (const key of Object.keys(each)) assert(Object.hasOwn(next, key));
      state = next;
    }
    assertEquals(updates.map((each) => Object.entries(each)), before);
    assert(Object.getPrototypeOf(state) === Object.prototype);
  }));
});

Deno.test("property: an update may come in parts", () => {
  fc.assert(fc.property(fc.array(update, { maxLength: 5 }), (updates) => {
    const parts = updates.flatMap((each) =>
      Object.entries(each).map(([key, write]) => Object.fromEntries([[key, write]]))
    );
    assertEquals(fold(parts), fold(updates));
  }));
});

Deno.test("property: updates of different keys, numbered by whoever sends them, may come in any order", () => {
  fc.assert(fc.property(fc.uniqueArray(key), fc.array(write, { minLength: 8, maxLength: 8 }), (keys, writes) => {
    const updates = keys.map((key, i): SessionUpdate => Object.fromEntries([[key, { ...writes[i], seq: i + 1 }]]));
    const [one, other] = [fold(updates), fold(updates.toReversed())];
    assertEquals(Object.entries(one).sort(), Object.entries(other).sort());
  }));
});

Deno.test("property: turns never go back, counts never shrink", () => {
  fc.assert(fc.property(fc.array(write, { maxLength: 20 }), (writes) => {
    let state: SessionState = {};
    for (const each of writes) {
      const [before] = Object.values(state);
      state = mergeToolState(state, { [KEY]: each });
      const after = state[KEY];
      assert((after.turn ?? 0) >= (before?.turn ?? 0) && (after.versions ?? 0) >= (before?.versions ?? 0));
      assert((after.turnsWritten ?? 0) >= (before?.turnsWritten ?? 0) && after.seq === (before?.seq ?? 0) + 1);
    }
  }));
});

Deno.test("mergeToolState: entries that nobody has numbered come before all others", () => {
  const raw: SessionState = JSON.parse('{"a":{"value":1,"tool":"t"},"b":{"value":2,"tool":"t"}}');
  const state = mergeToolState(raw, { c: { value: 3, tool: "t" } });
  assertEquals(Object.values(state).map(({ seq }) => seq), [0, 0, 1]);
});
