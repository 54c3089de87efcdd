import { assert, assertEquals, assertStrictEquals, assertStringIncludes, assertThrows } from "@std/assert";
import fc from "fast-check";
import { admit, admitState, MAX_DEPTH } from "../../src/document/admit.ts";
import { InvalidInput } from "../../src/document/errors.ts";
import { jsonBytes, type JsonValue } from "../../src/document/json.ts";

/** Objects in objects, so many levels in all. */
function objects(levels: number): object {
  let value: object = {};
  for (let i = 1; i < levels; i++) value = { a: value };
  return value;
}

function assertDeepFrozen(value: JsonValue): void {
  assert(Object.isFrozen(value));
  if (typeof value === "object" && value !== null) Object.values(value).forEach(assertDeepFrozen);
}

class Place {
  name = "Aarhus";
}
const cycle: Record<string, unknown> = {};
cycle.self = cycle;
// deno-lint-ignore no-sparse-arrays
const sparse = [1, , 3];
const REFUSED: readonly [string, unknown][] = [
  ["NaN", NaN],
  ["Infinity", Infinity],
  ["-Infinity", -Infinity],
  ["undefined", undefined],
  ["a function", () => 1],
  ["a symbol", Symbol("s")],
  ["a bigint", 1n],
  ["a Date", new Date(0)],
  ["a Map", new Map()],
  ["a Set", new Set()],
  ["a RegExp", /x/],
  ["a typed array", new Uint8Array(2)],
  ["a boxed string", Object("text")],
  ["a promise", Promise.resolve()],
  ["a class instance", new Place()],
  ["a sparse array", sparse],
  ["an array with a name on it", Object.assign([1], { name: "x" })],
  ["a symbol key", { [Symbol("s")]: 1 }],
  ["a lone surrogate", "\ud800"],
  ["an integer that was rounded", 2 ** 53 + 2],
  ["a negative integer that was rounded", -(2 ** 53)],
];

for (const [name, value] of REFUSED) {
  Deno.test(`admitState: refuses ${name}, naming its path`, () => {
    const error = assertThrows(() => admitState({ sources: [{ "a/b": value }] }), InvalidInput);
    assertEquals(error.field, "state");
    assertEquals(error.path, "/sources/0/a~1b");
    assertStringIncludes(error.message, "/sources/0/a~1b");
  });
}

Deno.test("admitState: refuses a cycle", () => {
  const error = assertThrows(() => admitState({ cycle }), InvalidInput, "refers to itself");
  assertStringIncludes(error.path ?? "", "/cycle/self/self");
});

Deno.test("admitState: refuses a lone surrogate in a key", () => {
  const error = assertThrows(() => admitState({ places: { "a\udc00": 1 } }), InvalidInput, "lone surrogate");
  assertEquals(error.path, "/places/a\ufffd");
});

Deno.test("admitState: refuses a __proto__ key, and no prototype changes", () => {
  const error = assertThrows(() => admitState(JSON.parse('{"a": {"__proto__": {"admin": true}}}')), InvalidInput);
  assertEquals(error.path, "/a/__proto__");
  assert(!("admin" in {}));
});

Deno.test("admitState: refuses what is not an object, naming the field", () => {
  for (const value of [[], [1], "text", 1, true, null]) {
    assertEquals(assertThrows(() => admitState(value, "inputs"), InvalidInput).field, "inputs");
  }
});

Deno.test("admitState: the payload of a refusal has code, field and path", () => {
  const error = assertThrows(() => admitState({ total: NaN }), InvalidInput);
  assertEquals(error.toPayload(), {
    code: "invalid_input",
    message: 'state at "/total" is NaN, which JSON cannot hold.',
    field: "state",
    path: "/total",
  });
});

Deno.test("admit: lets extreme numbers through that JSON holds exactly", () => {
  for (const number of [1e21, -1e21, Number.MAX_VALUE, 2 ** 53 - 1, -(2 ** 53 - 1), 5e-324, 0.1, 1e-7]) {
    assertStrictEquals(admit(number, "value").value, number);
  }
});

Deno.test("admit: −0 becomes 0", () => {
  assertStrictEquals(admit(-0, "value").value, 0);
  assertEquals(admit([-0], "value"), { value: [0], bytes: 3 });
});

Deno.test("admit: keys of every kind make the round trip", () => {
  const state = { "": 1, "0": 2, "a.b": 3, constructor: 4, toString: 5, hasOwnProperty: null, "/": 6, "~": 7 };
  assertEquals(admit(state, "state").value, state);
});

Deno.test("admit: objects without a prototype are plain", () => {
  const bare = Object.assign(Object.create(null), { a: 1 });
  assertEquals(admit(bare, "state").value, { a: 1 });
});

Deno.test("admit: depth 100 passes and 101 is refused", () => {
  assertEquals(MAX_DEPTH, 100);
  assertEquals(JSON.stringify(admitState(objects(100)).value), JSON.stringify(objects(100)));
  const error = assertThrows(() => admitState(objects(101)), InvalidInput, "100 levels");
  assertEquals(error.path, "/a".repeat(100));
});

Deno.test("admit: arrays count as levels", () => {
  assert(admit([objects(99)], "value"));
  assertThrows(() => admit([objects(100)], "value"), InvalidInput);
});

Deno.test("admit: counts the containers above a value", () => {
  assert(admit({}, "value", 99));
  assert(admit("scalar", "value", 100));
  assertThrows(() => admit({}, "value", 100), InvalidInput);
  assertThrows(() => admit([[]], "value", 99), InvalidInput);
});

Deno.test("admit: 100,000 levels are refused without overflowing the stack", () => {
  const error = assertThrows(() => admitState(objects(100_000)), InvalidInput);
  assert(error.message.length < 500);
});

Deno.test("admit: what the caller changes afterwards has no effect", () => {
  const given = { sources: ["a"], profile: { name: "Ada" } };
  const { value } = admit(given, "state");
  given.sources.push("b");
  given.profile.name = "Eve";
  assertEquals(value, { sources: ["a"], profile: { name: "Ada" } });
});

Deno.test("admit: freezes its copy all the way down, and not the caller's", () => {
  const given = { a: [{ b: [] }], c: {} };
  assertDeepFrozen(admit(given, "state").value);
  assert(!Object.isFrozen(given) && !Object.isFrozen(given.a));
});

Deno.test("admit: a value that is shared, not cyclic, is let in", () => {
  const shared = { a: 1 };
  assertEquals(admit([shared, shared], "value").value, [{ a: 1 }, { a: 1 }]);
});

Deno.test("admit: the round trip equals that of JSON, and the size is that of the text", () => {
  fc.assert(fc.property(fc.jsonValue({ stringUnit: "grapheme" }), (given) => {
    if (JSON.stringify(given).includes("__proto__") || hasRoundedInteger(given)) return;
    const { value, bytes } = admit(given, "state");
    assertEquals(value, JSON.parse(JSON.stringify(given)));
    assertEquals(bytes, new TextEncoder().encode(JSON.stringify(given)).length);
    assertEquals(bytes, jsonBytes(value));
    assertDeepFrozen(value);
  }));
});

function hasRoundedInteger(value: unknown): boolean {
  if (typeof value === "number") {
    return Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21;
  }
  return typeof value === "object" && value !== null && Object.values(value).some(hasRoundedInteger);
}
