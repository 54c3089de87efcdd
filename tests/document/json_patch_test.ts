import { assert, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { admitState } from "../../src/document/admit.ts";
import { isArray, isObject, jsonBytes, type JsonValue } from "../../src/document/json.ts";
import {
  applyJsonPatch,
  Draft,
  type JsonPatch,
  type JsonPatchOperation,
  type Sized,
} from "../../src/document/json_patch.ts";
import { toPointer } from "../../src/document/path.ts";

function sized(state: unknown): Sized {
  const { value, bytes } = admitState(state);
  return { state: value, bytes };
}

function patched(state: unknown, patch: JsonPatch): JsonValue {
  const after = applyJsonPatch(sized(state), patch);
  assertEquals(after.bytes, jsonBytes(after.state));
  return after.state;
}

Deno.test("applyJsonPatch: add, replace and remove a key", () => {
  const state = { city: "Copenhagen" };
  assertEquals(patched(state, [{ op: "add", path: "/days", value: 3 }]), { city: "Copenhagen", days: 3 });
  assertEquals(patched(state, [{ op: "replace", path: "/city", value: "Aarhus" }]), { city: "Aarhus" });
  assertEquals(patched(state, [{ op: "add", path: "/city", value: null }]), { city: null });
  assertEquals(patched(state, [{ op: "remove", path: "/city" }]), {});
});

Deno.test("applyJsonPatch: add, replace and remove an item", () => {
  const state = { list: [1, 2] };
  assertEquals(patched(state, [{ op: "add", path: "/list/-", value: 3 }]), { list: [1, 2, 3] });
  assertEquals(patched(state, [{ op: "add", path: "/list/2", value: 3 }]), { list: [1, 2, 3] });
  assertEquals(patched(state, [{ op: "add", path: "/list/0", value: 0 }]), { list: [0, 1, 2] });
  assertEquals(patched(state, [{ op: "replace", path: "/list/1", value: [] }]), { list: [1, []] });
  assertEquals(patched(state, [{ op: "remove", path: "/list/0" }, { op: "remove", path: "/list/0" }]), { list: [] });
});

Deno.test("applyJsonPatch: replaces the whole state", () => {
  assertEquals(patched({ a: 1 }, [{ op: "replace", path: "", value: { b: "é" } }]), { b: "é" });
  assertThrows(() => patched({ a: 1 }, [{ op: "replace", path: "", value: [] }]), TypeError);
});

Deno.test("applyJsonPatch: reaches keys of every kind", () => {
  const state = { "": { "a/b": [{ "~": 1 }] }, "0": {} };
  assertEquals(
    patched(state, [{ op: "replace", path: "//a~1b/0/~0", value: 2 }, { op: "add", path: "/0/", value: 3 }]),
    {
      "": { "a/b": [{ "~": 2 }] },
      "0": { "": 3 },
    },
  );
});

Deno.test("applyJsonPatch: shares what it does not touch", () => {
  const before = sized({ sources: [{ url: "a" }, { url: "b" }], profile: { tags: {} } });
  const { state } = applyJsonPatch(before, [{ op: "replace", path: "/sources/0/url", value: "c" }]);
  assertStrictEquals(state.profile, before.state.profile);
  assert(isArray(state.sources) && isArray(before.state.sources));
  assertStrictEquals(state.sources[1], before.state.sources[1]);
  assertEquals(before.state.sources[0], { url: "a" });
});

Deno.test("applyJsonPatch: an empty patch answers the very same state", () => {
  const before = sized({ a: [1] });
  assertStrictEquals(applyJsonPatch(before, []).state, before.state);
});

Deno.test("applyJsonPatch: a value of one operation can be edited by the next, and stays as it was in the patch", () => {
  const value = { tags: ["a"] };
  const patch: JsonPatch = [
    { op: "add", path: "/x", value },
    { op: "add", path: "/y", value },
    { op: "add", path: "/x/tags/-", value: "b" },
  ];
  assertEquals(patched({}, patch), { x: { tags: ["a", "b"] }, y: { tags: ["a"] } });
  assertEquals(value, { tags: ["a"] });
});

Deno.test("applyJsonPatch: what does not fit is refused, and the state stays", () => {
  const before = sized({ a: { b: 1 }, list: [1] });
  const misfits: JsonPatchOperation[] = [
    { op: "remove", path: "" },
    { op: "remove", path: "/none" },
    { op: "replace", path: "/none", value: 1 },
    { op: "add", path: "/none/x", value: 1 },
    { op: "add", path: "/a/b/c", value: 1 },
    { op: "add", path: "/list/2", value: 1 },
    { op: "add", path: "/list/01", value: 1 },
    { op: "replace", path: "/list/-", value: 1 },
    { op: "remove", path: "/list/1" },
    { op: "add", path: "/list/x", value: 1 },
    { op: "remove", path: "/constructor" },
  ];
  for (const operation of misfits) {
    assertThrows(() => applyJsonPatch(before, [{ op: "add", path: "/new", value: 1 }, operation]), TypeError);
  }
  assertEquals(before, sized({ a: { b: 1 }, list: [1] }));
});

Deno.test("applyJsonPatch: fifty thousand keys of one object, in and out again", () => {
  const keys = Array.from({ length: 50_000 }, (_, i) => `/key${i}`);
  const full = applyJsonPatch(sized({}), keys.map((path) => ({ op: "add", path, value: 1 })));
  assertEquals(full.bytes, jsonBytes(full.state));
  assertEquals(applyJsonPatch(full, keys.map((path) => ({ op: "remove", path }))), { state: {}, bytes: 2 });
});

Deno.test("Draft: goes on after it was finished, without touching what it handed out", () => {
  const draft = new Draft(sized({ list: [1] }));
  draft.apply([{ op: "add", path: "/list/-", value: 2 }]);
  const first = draft.finish();
  draft.apply([{ op: "add", path: "/list/-", value: 3 }]);
  assertEquals(first, sized({ list: [1, 2] }));
  assertEquals(draft.finish(), sized({ list: [1, 2, 3] }));
});

Deno.test("applyJsonPatch: bytes follow, results are frozen, untouched subtrees are shared, for any patch", () => {
  const small = fc.jsonValue({ maxDepth: 3 }).map((value): JsonValue => JSON.parse(JSON.stringify(value)));
  const steps = fc.array(fc.tuple(fc.nat(), fc.constantFrom("add", "replace", "remove"), small), { maxLength: 12 });
  fc.assert(fc.property(fc.dictionary(fc.string(), small), steps, (state, picks) => {
    if (/__proto__|\d{16}/.test(JSON.stringify([state, picks]))) return;
    let now = sized(state);
    for (const [pick, op, value] of picks) {
      const places = placesOf(now.state, []);
      const operation = operationAt(places[pick % places.length], op, value);
      if (operation === undefined) continue;
      const next = applyJsonPatch(now, [operation]);
      assertEquals(next.bytes, jsonBytes(next.state));
      assertDeepFrozen(next.state);
      const top = operation.path.split("/")[1].replaceAll("~1", "/").replaceAll("~0", "~");
      for (const key of Object.keys(now.state)) if (key !== top) assertStrictEquals(next.state[key], now.state[key]);
      now = next;
    }
  }));
});

interface Place {
  readonly path: readonly string[];
  readonly value: JsonValue;
}

function placesOf(value: JsonValue, path: readonly string[]): Place[] {
  const children = isArray(value) || isObject(value) ? Object.entries(value) : [];
  return [{ path, value }, ...children.flatMap(([key, child]) => placesOf(child, [...path, key]))];
}

function operationAt({ path, value: there }: Place, op: string, value: JsonValue): JsonPatchOperation | undefined {
  if (op === "add" && isArray(there)) return { op, path: toPointer([...path, "-"]), value };
  if (op === "add" && isObject(there)) return { op, path: toPointer([...path, "new/key"]), value };
  if (path.length === 0) return undefined;
  return op === "remove" ? { op, path: toPointer(path) } : { op: "replace", path: toPointer(path), value };
}

function assertDeepFrozen(value: JsonValue): void {
  assert(Object.isFrozen(value));
  if (typeof value === "object" && value !== null) Object.values(value).forEach(assertDeepFrozen);
}
