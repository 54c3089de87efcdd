import { assertEquals } from "@std/assert";
import type { JsonObject } from "../../src/document/json.ts";
import {
  countWrites,
  GONE_KEYS_KEPT,
  type KeyHistory,
  patchedKeys,
  replacedKeys,
  TURNS_LISTED,
} from "../../src/document/key_writes.ts";

const EMPTY: KeyHistory = new Map();
const TRIP = { city: "Aarhus", stops: [] };

Deno.test("countWrites: counts versions, and the turns that wrote", () => {
  let history = EMPTY;
  const writes: [number, number, string][] = [[1, 0, "laptop"], [2, 1, "phone"], [3, 1, "laptop"], [5, 4, "phone"]];
  for (const [version, turn, writer] of writes) {
    history = countWrites(history, ["city"], { version, turn, writer }, TRIP);
  }
  history = countWrites(history, ["stops"], { version: 6, turn: 5, writer: "tablet" }, TRIP);
  assertEquals(
    new Map(history),
    new Map([
      ["city", {
        versions: 4,
        turns: 2,
        first: { version: 1, turn: 0 },
        last: { version: 5, turn: 4, writer: "phone" },
        recentTurns: [1, 4],
        previous: { turn: 1, until: { version: 5, turn: 4 } },
      }],
      ["stops", {
        versions: 1,
        turns: 1,
        first: { version: 6, turn: 5 },
        last: { version: 6, turn: 5, writer: "tablet" },
        recentTurns: [5],
      }],
    ]),
  );
  assertEquals(EMPTY.size, 0);
});

Deno.test("countWrites: lists only the newest turns, and counts all", () => {
  let history = EMPTY;
  for (let turn = 1; turn <= 40; turn++) {
    history = countWrites(history, ["city"], { version: turn, turn, writer: "phone" }, TRIP);
  }
  const city = history.get("city");
  assertEquals([city?.turns, city?.versions], [40, 40]);
  assertEquals(city?.recentTurns, Array.from({ length: TURNS_LISTED }, (_, i) => 40 - TURNS_LISTED + 1 + i));
});

Deno.test("countWrites: knows where the value before stood: until it was replaced, or removed", () => {
  let history = EMPTY;
  const told: unknown[] = [];
  const states: [number, JsonObject][] = [[1, TRIP], [3, TRIP], [3, TRIP], [4, {}], [6, TRIP], [7, TRIP]];
  for (const [i, [turn, state]] of states.entries()) {
    history = countWrites(history, ["city"], { version: i + 1, turn, writer: "phone" }, state);
    const { previous, isRemoved } = history.get("city") ?? {};
    told.push([previous?.turn, previous?.until.version, previous?.until.turn, isRemoved]);
  }
  assertEquals(told, [
    [undefined, undefined, undefined, undefined],
    [1, 2, 3, undefined],
    [3, 3, 3, undefined],
    [3, 4, 4, true],
    [3, 4, 4, undefined],
    [6, 6, 7, undefined],
  ]);
});

Deno.test("countWrites: where turns were never named counts none", () => {
  const history = countWrites(countWrites(EMPTY, ["city"], at(1), TRIP), ["city"], at(2), TRIP);
  assertEquals([history.get("city")?.turns, history.get("city")?.recentTurns], [0, []]);
});

Deno.test("patchedKeys: are the first tokens, or all that differ where the root is replaced", () => {
  const before = { city: "Aarhus", stops: [1], same: { a: 1, b: 2 } };
  assertEquals(
    patchedKeys(before, [
      { op: "add", path: "/stops/-", value: 2 },
      { op: "remove", path: "/a~1b" },
      { op: "replace", path: "/stops/0", value: 3 },
      { op: "add", path: "/", value: 1 },
    ]),
    new Set(["stops", "a/b", ""]),
  );
  const after = { stops: [1], same: { b: 2, a: 1 }, new: null };
  assertEquals(patchedKeys(before, [{ op: "replace", path: "", value: after }]), new Set(["city", "new"]));
  assertEquals(patchedKeys(before, []), new Set());
});

Deno.test("replacedKeys: are those whose values differ as JSON", () => {
  const before = { one: 1, zero: 0, none: null, list: [], same: [{ a: 1, b: 2 }], constructor: 1 };
  const after = { one: true, zero: false, list: {}, same: [{ b: 2, a: 1 }], toString: 1 };
  assertEquals(
    replacedKeys(before, after),
    new Set(["one", "zero", "none", "list", "constructor", "toString"]),
  );
  assertEquals(replacedKeys({}, {}), new Set());
  assertEquals(replacedKeys({ a: 1 }, {}), new Set(["a"]));
});

Deno.test("countWrites: forgets the longest removed keys, and none that is there", () => {
  const state = { city: "Aarhus" };
  let history = countWrites(EMPTY, ["city"], at(1), state);
  for (let i = 0; i < GONE_KEYS_KEPT; i++) history = countWrites(history, [`gone ${i}`], at(i + 2), state);
  assertEquals(history.size, 1 + GONE_KEYS_KEPT);
  history = countWrites(history, ["gone last"], at(1_000), state);
  assertEquals(history.size, 1 + GONE_KEYS_KEPT / 2);
  const kept = ["city", "gone last", "gone 0", "gone 128", `gone ${GONE_KEYS_KEPT - 1}`].map((key) => history.has(key));
  assertEquals(kept, [true, true, false, false, true]);
});

function at(version: number) {
  return { version, turn: 0, writer: "laptop" };
}
