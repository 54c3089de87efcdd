import { assert, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { admitState } from "../../src/document/admit.ts";
import { compileOps } from "../../src/document/compile.ts";
import { InvalidInput, PatchError, type PatchReason } from "../../src/document/errors.ts";
import { equal, jsonBytes, type JsonValue } from "../../src/document/json.ts";
import { applyJsonPatch, type JsonPatch, type Sized } from "../../src/document/json_patch.ts";
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
import { parseOps } from "../../src/document/parse_ops.ts";

function sized(state: unknown): Sized {
  const { value, bytes } = admitState(state);
  return { state: value, bytes };
}

/** The state after some operations, having checked that the patch leads there and that the size is right. */
function after(state: unknown, ...ops: PatchOperation[]): JsonValue {
  const before = sized(state);
  const compiled = compileOps(before, parseOps(ops));
  assertEquals(compiled.after.bytes, jsonBytes(compiled.after.state));
  assertEquals(applyJsonPatch(before, compiled.patch), compiled.after);
  assertEquals(before, sized(state));
  return compiled.after.state;
}

function patchOf(state: unknown, ...ops: PatchOperation[]): JsonPatch {
  return compileOps(sized(state), parseOps(ops)).patch;
}

function failure(state: unknown, ...ops: PatchOperation[]) {
  const { op, path, reason, index } = assertThrows(() => after(state, ...ops), PatchError);
  return { op, path, reason, index };
}

const TRIP = { title: "Trip", days: [{ city: "Copenhagen", tags: ["sea"] }], counts: { visits: 1 }, tags: ["a", "b"] };

Deno.test("append: adds at the end of an array", () => {
  assertEquals(after({ list: [] }, append("list", 1), append("list", [2])), { list: [1, [2]] });
  assertEquals(patchOf(TRIP, append("tags", "c")), [{ op: "add", path: "/tags/2", value: "c" }]);
});

Deno.test("append: reaches arrays in arrays, by dotted path and by pointer", () => {
  assertEquals(after({ list: [[1], [2]] }, append("list.0", 9)), { list: [[1, 9], [2]] });
  assertEquals(after({ "a/b": { "~": [] }, "": [[]] }, append("/a~1b/~0", 1), append("//0", 2)), {
    "a/b": { "~": [1] },
    "": [[2]],
  });
  assertEquals(after(TRIP, append("days.0.tags", "bike")), {
    ...TRIP,
    days: [{ city: "Copenhagen", tags: ["sea", "bike"] }],
  });
});

Deno.test("setKey: adds or replaces a key, at the root and below", () => {
  assertEquals(after({ a: 1 }, setKey("", "b", null), setKey("", "a", 2)), { a: 2, b: null });
  assertEquals(after({ list: [{ a: 1 }] }, setKey("list.0", "a/b", 2)), { list: [{ a: 1, "a/b": 2 }] });
  assertEquals(patchOf({ o: { a: 1 } }, setKey("o", "a", 2), setKey("o", "b", 3)), [
    { op: "replace", path: "/o/a", value: 2 },
    { op: "add", path: "/o/b", value: 3 },
  ]);
});

Deno.test("setKey: keys that every object inherits are keys like others", () => {
  assertEquals(JSON.stringify(after({}, setKey("", "constructor", 1), setKey("", "", 2))), '{"constructor":1,"":2}');
});

Deno.test("delKey: takes a key out, and does nothing where there is none", () => {
  assertEquals(after(TRIP, delKey("days.0", "tags"), delKey("", "title"), delKey("", "counts")), {
    days: [{ city: "Copenhagen" }],
    tags: ["a", "b"],
  });
  assertEquals(patchOf(TRIP, delKey("counts", "none"), delKey("", "toString")), []);
});

Deno.test("mergeInto: shallow, by default at the root, null is stored as null", () => {
  assertEquals(after({ a: { x: 1 }, b: 1 }, mergeInto({ a: { y: 2 }, b: null, c: 3 })), { a: { y: 2 }, b: null, c: 3 });
  assertEquals(after({ p: { a: 1 } }, mergeInto({ b: 2 }, "p")), { p: { a: 1, b: 2 } });
  assertEquals(patchOf({ a: [1], b: 1 }, mergeInto({ a: [1], b: 2 })), [{ op: "replace", path: "/b", value: 2 }]);
});

Deno.test("mergeInto: twenty thousand keys at once", () => {
  const mapping = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`key${i}`, i]));
  assertEquals(after({}, mergeInto(mapping)), mapping);
});

Deno.test("increment: adds to a number, negative and fractional too", () => {
  assertEquals(after({ n: 1, list: [5] }, increment("n", 2), increment("n", -0.5), increment("list.0", -5)), {
    n: 2.5,
    list: [0],
  });
});

Deno.test("increment: a sum that JSON cannot hold exactly is refused", () => {
  const top = Number.MAX_SAFE_INTEGER;
  assertEquals(after({ n: top - 1 }, increment("n", 1)), { n: top });
  assertEquals(failure({ n: top }, increment("n", 1)).reason, "not_finite");
  assertEquals(failure({ n: -top }, increment("n", -1)).reason, "not_finite");
  assertEquals(failure({ n: Number.MAX_VALUE }, increment("n", Number.MAX_VALUE)).reason, "not_finite");
});

Deno.test("addToSet: adds what is not in it yet, by JSON equality", () => {
  const state = { set: [1, { a: 1, b: [null] }] };
  assertEquals(patchOf(state, addToSet("set", 1), addToSet("set", { b: [null], a: 1 })), []);
  assertEquals(after(state, addToSet("set", true), addToSet("set", "1"), addToSet("set", true)), {
    set: [1, { a: 1, b: [null] }, true, "1"],
  });
});

Deno.test("removeValue: takes out all equal items and no others", () => {
  assertEquals(after({ list: [1, 2, 1, true, "1", [1], 1] }, removeValue("list", 1)), { list: [2, true, "1", [1]] });
  assertEquals(after({ list: [{ a: 1, b: 2 }, 3] }, removeValue("list", { b: 2, a: 1 })), { list: [3] });
  assertEquals(patchOf({ list: [1] }, removeValue("list", 2)), []);
});

Deno.test("removeValue: names each item, or writes the array anew where that is shorter", () => {
  const long = ["x".repeat(200), "gone", "y".repeat(200), "gone"];
  assertEquals(patchOf({ list: long }, removeValue("list", "gone")), [
    { op: "remove", path: "/list/3" },
    { op: "remove", path: "/list/1" },
  ]);
  assertEquals(patchOf({ list: [0, 1, 0, 1, 0, 1] }, removeValue("list", 1)), [
    { op: "replace", path: "/list", value: [0, 0, 0] },
  ]);
  const many = Array.from({ length: 100_000 }, (_, i) => i % 2);
  assertEquals(after({ many }, removeValue("many", 1)), { many: Array(50_000).fill(0) });
});

Deno.test("removeValue: items edited before it in the same list are kept as edited, and can be edited after it", () => {
  const state = { list: [{ n: 0, pad: [] }, 1, 1, 1] };
  const ops = [setKey("list.0", "n", 1), removeValue("list", 1), setKey("list.0", "n", 2), append("list.0.pad", 3)];
  assertEquals(after(state, ...ops), { list: [{ n: 2, pad: [3] }] });
});

Deno.test("builders: create only where it is asked for", () => {
  assertEquals(append("a", 1), { op: "append", path: "a", value: 1 });
  assertEquals(append("a", 1, { create: false }), { op: "append", path: "a", value: 1 });
  assertEquals(append("a", 1, { create: true }), { op: "append", path: "a", value: 1, create: true });
  assertEquals(mergeInto({ a: 1 }), { op: "merge", mapping: { a: 1 }, path: "" });
});

const CREATE = { create: true };

Deno.test("create: makes the missing target and the objects above it", () => {
  assertEquals(after({}, append("a.b", 1, CREATE)), { a: { b: [1] } });
  assertEquals(after({ a: {} }, addToSet("a.b.c", 1, CREATE)), { a: { b: { c: [1] } } });
  assertEquals(after({}, removeValue("a", 1, CREATE)), { a: [] });
  assertEquals(after({}, setKey("/a~1b/0", "k", 1, CREATE)), { "a/b": { "0": { k: 1 } } });
  assertEquals(after({}, delKey("a.b", "k", CREATE)), { a: { b: {} } });
  assertEquals(after({}, mergeInto({ k: null }, "a", CREATE)), { a: { k: null } });
  assertEquals(after({}, increment("a.b", 2, CREATE), increment("a.b", 3, CREATE)), { a: { b: 5 } });
  assertEquals(after({ list: [{}] }, increment("list.0.n", 1, CREATE)), { list: [{ n: 1 }] });
});

Deno.test("create: leaves alone what is there", () => {
  assertEquals(after({ a: { b: [1] } }, append("a.b", 2, CREATE)), { a: { b: [1, 2] } });
  assertEquals(after({ a: { b: 1 } }, setKey("a", "c", 2, CREATE)), { a: { b: 1, c: 2 } });
});

Deno.test("create: makes nothing inside an array or below a scalar", () => {
  assertEquals(failure({ list: [1] }, append("list.1", 1, CREATE)).reason, "path_not_found");
  assertEquals(failure({ list: [] }, setKey("list.name", "k", 1, CREATE)).reason, "path_not_found");
  for (const scalar of [1, "text", true, null]) {
    assertEquals(failure({ a: scalar }, append("a.b", 1, CREATE)).reason, "expected_object");
  }
  assertEquals(failure({ a: null }, increment("a", 1, CREATE)).reason, "expected_number");
});

Deno.test("create: refuses a path that would be too deep or make a key that no state may hold", () => {
  const path = (length: number) => Array(length).fill("a").join(".");
  assert(after({}, append(path(99), 1, CREATE)));
  assertEquals(assertThrows(() => after({}, append(path(100), 1, CREATE)), InvalidInput).path, "/0/path");
  assert(after({}, increment(path(100), 1, CREATE)));
  assertThrows(() => after({}, increment(path(101), 1, CREATE)), InvalidInput, "100 levels");
  const proto = assertThrows(() => after({}, append("__proto__.x", 1, CREATE)), InvalidInput);
  assertEquals([proto.field, proto.path], ["ops", "/0/path"]);
});

const AT_NOWHERE: readonly PatchOperation[] = [
  append("no.where", 1),
  setKey("no.where", "k", 1),
  delKey("no.where", "k"),
  mergeInto({ a: 1 }, "no.where"),
  increment("no.where", 1),
  addToSet("no.where", 1),
  removeValue("no.where", 1),
];
for (const op of AT_NOWHERE) {
  Deno.test(`${op.op}: a path that leads nowhere`, () => {
    const expected = { op: op.op, path: "no.where", reason: "path_not_found" as const, index: 0 };
    assertEquals(failure({ yes: {} }, op), expected);
    assertThrows(() => after({ yes: {} }, op), PatchError, 'Available there: "yes"');
    assertThrows(() => after({ yes: {} }, op), PatchError, '"create": true');
  });
}

const WRONG: readonly [PatchOperation, PatchReason][] = [
  [append("counts", 1), "expected_array"],
  [append("title", 1), "expected_array"],
  [append("", 1), "expected_array"],
  [addToSet("counts", 1), "expected_array"],
  [removeValue("title", 1), "expected_array"],
  [setKey("title", "k", 1), "expected_object"],
  [setKey("days", "0", 1), "expected_object"],
  [delKey("tags", "0"), "expected_object"],
  [mergeInto({ a: 1 }, "tags"), "expected_object"],
  [increment("title", 1), "expected_number"],
  [increment("", 1), "expected_number"],
];
for (const [op, reason] of WRONG) {
  Deno.test(`${op.op}: ${JSON.stringify(op.path)} is ${reason.replace("_", " ")}`, () => {
    assertEquals(failure(TRIP, delKey("", "none"), op), { op: op.op, path: op.path, reason, index: 1 });
  });
}

Deno.test("setKey: on an array, the message gives the path of an item", () => {
  assertThrows(() => after(TRIP, setKey("days", "city", "Aarhus")), PatchError, '"/days/0"');
});

Deno.test("compileOps: the third of three failing leaves nothing", () => {
  const before = sized(TRIP);
  const ops = parseOps([append("tags", "c"), delKey("", "title"), increment("counts.none", 1)]);
  const error = assertThrows(() => compileOps(before, ops), PatchError);
  assertEquals(error.toPayload(), {
    code: "patch_error",
    message:
      'ops[2] (increment): There is nothing at "/counts/none". Available there: "visits". Give "create": true to make ' +
      "it, or load the state to see its shape. None of the operations was applied.",
    op: "increment",
    path: "counts.none",
    reason: "path_not_found",
    index: 2,
  });
  assertEquals(before, sized(TRIP));
});

Deno.test("compileOps: an empty list changes nothing", () => {
  const before = sized(TRIP);
  assertEquals(compileOps(before, parseOps([])).patch, []);
  assertStrictEquals(compileOps(before, []).after, before);
});

Deno.test("compileOps: operations that change nothing, or undo each other, answer the very state before", () => {
  const before = sized({ a: 1, list: [{ x: 1, y: 2 }], n: 1 });
  const lists: PatchOperation[][] = [
    [setKey("", "a", 1)],
    [setKey("list.0", "x", 1), mergeInto({ list: [{ y: 2, x: 1 }] })],
    [increment("n", 0)],
    [append("list", 5), removeValue("list", 5)],
    [setKey("", "b", 1), delKey("", "b")],
    [delKey("", "a"), setKey("", "a", 1)],
    [increment("n", 1), increment("n", -1)],
  ];
  for (const ops of lists) {
    const { patch, after } = compileOps(before, parseOps(ops));
    assertEquals(patch, []);
    assertStrictEquals(after, before);
  }
});

Deno.test("compileOps: 1 to true, 0 to false, null to absent are changes", () => {
  const state = { one: 1, zero: 0, none: null };
  const ops = [setKey("", "one", true), setKey("", "zero", false), delKey("", "none")];
  assertEquals(patchOf(state, ...ops), [
    { op: "replace", path: "/one", value: true },
    { op: "replace", path: "/zero", value: false },
    { op: "remove", path: "/none" },
  ]);
  assertEquals(patchOf({}, setKey("", "none", null)), [{ op: "add", path: "/none", value: null }]);
});

Deno.test("compileOps: appending to a long list shares everything else and writes one item", () => {
  const items = Array.from({ length: 10_000 }, (_, i) => ({ i }));
  const before = sized({ items, other: { deep: [1] } });
  const { patch, after } = compileOps(before, parseOps([append("items", { i: -1 })]));
  assertEquals(patch, [{ op: "add", path: "/items/10000", value: { i: -1 } }]);
  assertStrictEquals(after.state.other, before.state.other);
  const [was, is] = [before.state.items, after.state.items];
  assert(Array.isArray(was) && Array.isArray(is) && was.every((item, i) => item === is[i]));
  assert(equal(is[10_000], { i: -1 }) && Object.isFrozen(is) && Object.isFrozen(is[10_000]));
});

Deno.test("compileOps: what is undone in the same call is no change of that key", () => {
  const before = sized({ keep: 1, other: 1 });
  const { patch, after } = compileOps(
    before,
    parseOps([setKey("", "keep", 2), setKey("", "new", 0), setKey("", "keep", 1)]),
  );
  assertEquals(patch, [{ op: "add", path: "/new", value: 0 }]);
  assertEquals(after.state, { keep: 1, other: 1, new: 0 });
});
