import { assert, assertEquals, assertThrows } from "@std/assert";
import { admitState } from "../../src/document/admit.ts";
import { compileOps } from "../../src/document/compile.ts";
import { InvalidInput, PatchError, type PatchReason } from "../../src/document/errors.ts";
import type { JsonObject, JsonValue } from "../../src/document/json.ts";
import { append, increment, mergeInto, type PatchOperation, setKey } from "../../src/document/ops.ts";
import { parseOps } from "../../src/document/parse_ops.ts";

const CREATE = { create: true };

function after(state: unknown, ...ops: PatchOperation[]): JsonObject {
  const { value, bytes } = admitState(state);
  return compileOps({ state: value, bytes }, parseOps(ops)).after.state;
}

const MALFORMED: readonly [string, unknown, PatchReason][] = [
  ["append", { op: "append", path: "a" }, "missing_field"],
  ["append", { op: "append", value: 1 }, "missing_field"],
  ["append", { op: "append", path: "a", value: undefined }, "missing_field"],
  ["append", { op: "append", path: 1, value: 1 }, "bad_field_type"],
  ["append", { op: "append", path: null, value: 1 }, "bad_field_type"],
  ["append", { op: "append", path: "a", value: 1, index: 0 }, "unknown_field"],
  ["append", { op: "append", path: "a", value: 1, create: 1 }, "bad_field_type"],
  ["set_key", { op: "set_key", path: "", key: "k" }, "missing_field"],
  ["set_key", { op: "set_key", path: "", value: 1 }, "missing_field"],
  ["set_key", { op: "set_key", path: "", key: 0, value: 1 }, "bad_field_type"],
  ["set_key", { op: "set_key", path: "", key: "k", value: 1, by: 1 }, "unknown_field"],
  ["del_key", { op: "del_key", path: "" }, "missing_field"],
  ["del_key", { op: "del_key", path: "", key: ["k"] }, "bad_field_type"],
  ["del_key", { op: "del_key", path: "", key: "k", value: 1 }, "unknown_field"],
  ["merge", { op: "merge", path: "a" }, "missing_field"],
  ["merge", { op: "merge", mapping: [1] }, "bad_field_type"],
  ["merge", { op: "merge", mapping: null }, "bad_field_type"],
  ["merge", { op: "merge", mapping: {}, path: 1 }, "bad_field_type"],
  ["merge", { op: "merge", mapping: {}, value: 1 }, "unknown_field"],
  ["increment", { op: "increment", path: "n" }, "missing_field"],
  ["increment", { op: "increment", path: "n", by: "1" }, "bad_field_type"],
  ["increment", { op: "increment", path: "n", by: true }, "bad_field_type"],
  ["increment", { op: "increment", path: "n", by: NaN }, "bad_field_type"],
  ["increment", { op: "increment", path: "n", by: Infinity }, "bad_field_type"],
  ["increment", { op: "increment", path: "n", by: 1, value: 1 }, "unknown_field"],
  ["add_to_set", { op: "add_to_set", path: "a" }, "missing_field"],
  ["add_to_set", { op: "add_to_set", path: {}, value: 1 }, "bad_field_type"],
  ["add_to_set", { op: "add_to_set", path: "a", value: 1, unique: true }, "unknown_field"],
  ["remove", { op: "remove", path: "a" }, "missing_field"],
  ["remove", { op: "remove", path: [], value: 1 }, "bad_field_type"],
  ["remove", { op: "remove", path: "a", value: 1, key: "k" }, "unknown_field"],
  ["replace", { op: "replace", path: "/a", value: 1 }, "unknown_op"],
  ["constructor", { op: "constructor" }, "unknown_op"],
  ["?", { op: 1 }, "bad_field_type"],
  ["?", { path: "a", value: 1 }, "missing_field"],
  ["?", "append", "not_an_object"],
  ["?", null, "not_an_object"],
  ["?", ["append", "a", 1], "not_an_object"],
];
for (const [op, entry, reason] of MALFORMED) {
  Deno.test(`parseOps: ${reason.replaceAll("_", " ")} in ${Deno.inspect(entry, { compact: true })}`, () => {
    const error = assertThrows(() => parseOps([append("a", 1), entry]), PatchError, "ops[1]");
    const given = typeof entry === "object" && entry !== null && "path" in entry ? entry.path : undefined;
    const path = typeof given === "string" ? given : undefined;
    assertEquals([error.op, error.path, error.reason, error.index], [op, path, reason, 1]);
  });
}

Deno.test("parseOps: a refusal says what the operation takes, and which operations there are", () => {
  const takes = "append takes path, value and, if wanted, create: it adds value at the end of the array at path.";
  assertThrows(() => parseOps([{ op: "append", path: "a", values: [1] }]), PatchError, takes);
  const names = "append, set_key, del_key, merge, increment, add_to_set, remove";
  assertThrows(() => parseOps([{ op: "explode" }]), PatchError, names);
});

Deno.test("parseOps: what is no list is refused", () => {
  for (const input of [undefined, null, "[]", {}, append("a", 1)]) {
    assertEquals(assertThrows(() => parseOps(input, "edits"), InvalidInput).field, "edits");
  }
});

Deno.test("parseOps: 1,000 operations pass, 1,001 are refused", () => {
  assertEquals(parseOps(Array(1000).fill(increment("n", 1))).length, 1000);
  assertEquals(assertThrows(() => parseOps(Array(1001).fill(increment("n", 1))), InvalidInput).field, "ops");
});

Deno.test("parseOps: a value that JSON cannot hold is named by its place among the operations", () => {
  const place = (...ops: unknown[]) => {
    const { field, path } = assertThrows(() => parseOps(ops), InvalidInput);
    return [field, path];
  };
  assertEquals(place(append("a", 1), { op: "append", path: "a", value: { x: [NaN] } }), ["ops", "/1/value/x/0"]);
  assertEquals(place({ op: "merge", mapping: { when: new Date(0) } }), ["ops", "/0/mapping/when"]);
  assertEquals(place({ op: "merge", mapping: new Map() }), ["ops", "/0/mapping"]);
  assertEquals(place(increment("n", 2 ** 53 + 2)), ["ops", "/0/by"]);
  assertEquals(place(setKey("", "__proto__", 1)), ["ops", "/0/key"]);
  assertEquals(place(setKey("", "\ud800", 1)), ["ops", "/0/key"]);
  assertEquals(place(append("a..b", 1)), ["ops", "/0/path"]);
  assertEquals(place(append("/a~", 1)), ["ops", "/0/path"]);
});

Deno.test("parseOps: a value may nest as deep as its place leaves room for", () => {
  const nested = (levels: number): JsonValue => levels === 0 ? 1 : [nested(levels - 1)];
  const state = { a: { b: [] } };
  assert(after(state, append("a.b", nested(97))));
  const error = assertThrows(() => after(state, append("a.b", nested(98))), InvalidInput, "100 levels");
  assertEquals(error.path, "/0/value" + "/0".repeat(97));
  assert(after(state, setKey("", "c", nested(99)), mergeInto({ d: nested(99) })));
  assertThrows(() => after(state, setKey("", "c", nested(100))), InvalidInput);
  assertThrows(() => after(state, mergeInto({ d: nested(98) }, "a.x", CREATE)), InvalidInput);
  assert(after(state, mergeInto({ d: nested(97) }, "a.x", CREATE)));
});

Deno.test("parseOps: what the caller changes afterwards has no effect", () => {
  const value = { tags: ["a"] };
  const ops = [append("list", value)];
  const parsed = parseOps(ops);
  const state = after({ list: [] }, ...parsed);
  value.tags.push("b");
  ops.push(append("list", 1));
  assertEquals(parsed, [{ op: "append", path: "list", value: { tags: ["a"] } }]);
  assertEquals(state, { list: [{ tags: ["a"] }] });
  assert(!Object.isFrozen(value));
});
