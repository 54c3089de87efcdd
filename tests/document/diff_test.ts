import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import fc from "fast-check";
import { Comparison } from "../../src/document/comparison.ts";
import { diff } from "../../src/document/diff.ts";
import { equal, freeze, jsonBytes, type JsonObject, type JsonValue } from "../../src/document/json.ts";
import { applyJsonPatch } from "../../src/document/json_patch.ts";
import { editCount, sequenceScript } from "../../src/document/sequence.ts";

const atom = fc.constantFrom<JsonValue>(null, true, false, 0, 1, 2, "", "1", "Copenhagen", "Aarhus");
const key = fc.constantFrom("city", "a/b", "m~n", "", "0", "constructor");
const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    atom,
    fc.array(tie("value"), { maxLength: 6 }),
    fc.dictionary(key, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
}));
const state: fc.Arbitrary<JsonObject> = fc.dictionary(key, value, { maxKeys: 4, noNullPrototype: true }).map(freeze);

function patched(before: JsonObject, after: JsonObject): JsonObject {
  return applyJsonPatch({ state: before, bytes: jsonBytes(before) }, diff(before, after)).state;
}

function sources(count: number): JsonObject[] {
  return Array.from(
    { length: count },
    (_, id) => ({ id, title: `Source ${id}`, place: { city: "Copenhagen" }, read: false }),
  );
}

/** A copy that shares nothing, as if it had come from another process. */
function parsed<T extends JsonValue>(value: T): T {
  return structuredClone(value);
}

Deno.test("diff: applied to the state before, it gives the state after", () => {
  fc.assert(fc.property(state, state, (before, after) => equal(patched(before, after), after)), { numRuns: 2_000 });
});

Deno.test("diff: lists of few different items come out right, whatever was moved", () => {
  const list = fc.array(fc.constantFrom<JsonValue>(0, 1, false, "0", [], [0], { n: 0 }), { maxLength: 30 });
  fc.assert(fc.property(list, list, (a, b) => equal(patched({ a }, { a: b }), { a: b })), { numRuns: 2_000 });
});

Deno.test("diff: never larger than replacing every key that changed", () => {
  fc.assert(fc.property(state, state, (before, after) => {
    const whole = Object.keys({ ...before, ...after }).flatMap((key) => {
      const path = "/" + key.replaceAll("~", "~0").replaceAll("/", "~1");
      if (!Object.hasOwn(after, key)) return [{ op: "remove", path }];
      if (!Object.hasOwn(before, key)) return [{ op: "add", path, value: after[key] }];
      return equal(before[key], after[key]) ? [] : [{ op: "replace", path, value: after[key] }];
    });
    assert(JSON.stringify(diff(before, after)).length <= JSON.stringify(whole).length);
  }));
});

Deno.test("diff: leaves both states as they are", () => {
  fc.assert(fc.property(state, state, (before, after) => {
    const text = JSON.stringify([before, after]);
    patched(before, after);
    assertEquals(JSON.stringify([before, after]), text);
  }));
});

Deno.test("diff: equal states differ in nothing, whatever the order of their keys", () => {
  assertEquals(diff({ city: "Aarhus", zoom: 9 }, { zoom: 9, city: "Aarhus" }), []);
  assertEquals(diff({ sources: sources(100) }, { sources: sources(100) }), []);
});

Deno.test("diff: keys are added, removed and replaced one by one", () => {
  assertEquals(diff({ city: "Copenhagen", zoom: 9 }, { city: "Aarhus", notes: null }), [
    { op: "replace", path: "/city", value: "Aarhus" },
    { op: "remove", path: "/zoom" },
    { op: "add", path: "/notes", value: null },
  ]);
});

Deno.test("diff: a change of type is a change", () => {
  assertEquals(diff({ read: 1 }, { read: true }), [{ op: "replace", path: "/read", value: true }]);
  assertEquals(diff({ cart: [] }, { cart: {} }), [{ op: "replace", path: "/cart", value: {} }]);
  assertEquals(diff({ cart: {} }, { cart: null }), [{ op: "replace", path: "/cart", value: null }]);
});

Deno.test("diff: keys with a slash or a tilde are escaped", () => {
  const before = { "gazet/get~aoi": { bbox: [9.9, 56.1], label: "a place that stays as it is" } };
  const after = { "gazet/get~aoi": { bbox: [9.9, 56.2], label: "a place that stays as it is" } };
  assertEquals(diff(before, after), [{ op: "replace", path: "/gazet~1get~0aoi/bbox/1", value: 56.2 }]);
});

Deno.test("diff: one insertion into a list of 10,000 is one operation, wherever it is made", () => {
  const before = sources(10_000);
  const added = { id: -1, title: "Aarhus" };
  for (const place of [0, 5_000, 10_000]) {
    const after = parsed(before).toSpliced(place, 0, added);
    assertEquals(diff({ sources: before }, { sources: after }), [
      { op: "add", path: `/sources/${place}`, value: added },
    ]);
  }
});

Deno.test("diff: one removal from a list of 10,000 is one operation", () => {
  const before = sources(10_000);
  assertEquals(diff({ sources: before }, { sources: parsed(before).toSpliced(4_000, 1) }), [
    { op: "remove", path: "/sources/4000" },
  ]);
});

Deno.test("diff: one field changed deep in a list of 10,000 is one operation at that field", () => {
  const before = sources(10_000);
  const after = parsed(before).with(7_777, { id: 7_777, title: "Source 7777", place: { city: "Aarhus" }, read: false });
  assertEquals(diff({ sources: before }, { sources: after }), [
    { op: "replace", path: "/sources/7777/place/city", value: "Aarhus" },
  ]);
});

Deno.test("diff: edits far apart in a list are one operation each, with indexes of the list as it ends", () => {
  const before = sources(1_000);
  const after = parsed(before).toSpliced(900, 1).toSpliced(500, 0, { id: 5, title: "Ribe" }).toSpliced(0, 0, { id: 6 });
  assertEquals(diff({ sources: before }, { sources: after }), [
    { op: "add", path: "/sources/0", value: { id: 6 } },
    { op: "add", path: "/sources/501", value: { id: 5, title: "Ribe" } },
    { op: "remove", path: "/sources/902" },
  ]);
});

Deno.test("diff: a field changed in every item is one operation each", () => {
  const before = sources(1_000);
  const after = before.map((source) => ({ ...source, id: -1 - Number(source.id) }));
  assertEquals(
    diff({ sources: before }, { sources: after }),
    after.map(({ id }, i) => ({ op: "replace", path: `/sources/${i}/id`, value: id })),
  );
});

Deno.test("diff: a board whose fields change in place is not taken for a list whose items moved", () => {
  const before = { board: ["", "", "", "", "", "", "", "", "a corner that is long enough to stay"] };
  const after = { board: ["x", "", "", "", "o", "", "", "", "a corner that is long enough to stay"] };
  assertEquals(diff(before, after), [
    { op: "replace", path: "/board/0", value: "x" },
    { op: "replace", path: "/board/4", value: "o" },
  ]);
});

Deno.test("diff: a value is replaced where a patch of its parts would be larger", () => {
  const after = { bbox: [10.1, 56.2, 10.3, 56.3] };
  assertEquals(diff({ bbox: [12.4, 55.6, 12.7, 55.8] }, after), [{ op: "replace", path: "/bbox", value: after.bbox }]);
});

Deno.test("diff: the values in the patch are those of the state after", () => {
  const after = { cart: { lines: [{ sku: "tea", quantity: 2 }] } };
  const [operation] = diff({}, after);
  assert(operation.op === "add");
  assertStrictEquals(operation.value, after.cart);
});

Deno.test("diff: two large lists with nothing in common are one replacement", () => {
  const before = Array.from({ length: 100_000 }, (_, i) => i);
  const after = before.map((i) => -1 - i);
  assertEquals(diff({ before: 1, list: before }, { before: 1, list: after }).map(({ op, path }) => [op, path]), [
    ["replace", "/list"],
  ]);
});

Deno.test("diff: thousands of scattered removals from a large list do not become as many shifts", () => {
  const before = Array.from({ length: 50_000 }, (_, i) => `item ${i}, with a text that costs more than an operation`);
  const after = before.filter((_, i) => i % 10 !== 0);
  assertEquals(diff({ before }, { before: after }).length, 1);
});

Deno.test("diff: a state as deep as is allowed, with a difference at its bottom", () => {
  const nest = (city: string) => {
    let value: JsonValue = city;
    for (let level = 0; level < 98; level++) value = level % 2 === 0 ? ["a neighbour", value] : { value };
    return { value };
  };
  const patch = diff(nest("Copenhagen"), nest("Aarhus"));
  assertEquals(patch.length, 1);
  assert(equal(applyJsonPatch({ state: freeze(nest("Copenhagen")), bytes: 0 }, patch).state, nest("Aarhus")));
});

Deno.test("Comparison: knows equality, identity and size as they are, also when asked again", () => {
  fc.assert(fc.property(fc.array(value, { maxLength: 6 }), (values) => {
    const comparison = new Comparison();
    for (const a of [...values, ...values]) {
      assertEquals(comparison.bytes(a), jsonBytes(a));
      for (const b of [...values, ...parsed(values)]) {
        assertEquals(comparison.equal(a, b), equal(a, b));
        assertEquals(comparison.id(a) === comparison.id(b), equal(a, b));
      }
    }
  }));
});

Deno.test("sequenceScript: hunks tile both lists, and what is between them is equal", () => {
  const list = fc.array(fc.constantFrom<JsonValue>(0, 1, 2, [0], { n: [0] }), { maxLength: 40 });
  fc.assert(fc.property(list, list, (before, after) => {
    const rebuilt: JsonValue[] = [];
    let at = 0;
    for (const { beforeStart, beforeEnd, afterStart, afterEnd } of sequenceScript(before, after)) {
      rebuilt.push(...before.slice(at, beforeStart));
      assertEquals(rebuilt.length, afterStart);
      rebuilt.push(...after.slice(afterStart, afterEnd));
      at = beforeEnd;
    }
    rebuilt.push(...before.slice(at));
    assert(equal(rebuilt, after));
  }));
});

Deno.test("sequenceScript: insertions are told from other edits, however many there are", () => {
  const before = Array.from({ length: 2_000 }, (_, i) => i % 3);
  const after = before.flatMap((item, i) => i % 2 === 0 ? [item, (i * 7) % 3, (i * 5) % 3] : [item]);
  assert(sequenceScript(before, after).every(({ beforeStart, beforeEnd }) => beforeStart === beforeEnd));
  assert(sequenceScript(after, before).every(({ afterStart, afterEnd }) => afterStart === afterEnd));
});

Deno.test("sequenceScript: as few edits as can be", () => {
  const item = fc.constantFrom(0, 1, 2);
  fc.assert(fc.property(fc.array(item, { maxLength: 12 }), fc.array(item, { maxLength: 12 }), (before, after) => {
    assert(editCount(sequenceScript(before, after)) <= before.length + after.length - 2 * longest(before, after));
  }));
});

Deno.test("sequenceScript: of a list in which everything moved, most of the order that remains is found", () => {
  const before = Array.from({ length: 5_000 }, (_, i) => i);
  const after = before.map((i) => i % 2 === 0 ? i : 4_999 - i + 1);
  const kept = before.length - sequenceScript(before, after).reduce((n, h) => n + h.beforeEnd - h.beforeStart, 0);
  assert(kept >= 2_500);
});

/** The length of the longest common subsequence, by definition. */
function longest(a: readonly number[], b: readonly number[]): number {
  if (a.length === 0 || b.length === 0) return 0;
  const row = new Array<number>(b.length + 1).fill(0);
  for (const item of a) {
    let diagonal = 0;
    for (let j = 1; j <= b.length; j++) {
      const above = row[j];
      row[j] = item === b[j - 1] ? diagonal + 1 : Math.max(above, row[j - 1]);
      diagonal = above;
    }
  }
  return row[b.length];
}
