import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import fc from "fast-check";
import type { Conflict } from "../../src/document/errors.ts";
import { equal, freeze, type JsonObject, type JsonValue } from "../../src/document/json.ts";
import { merge } from "../../src/document/merge.ts";

const atom = fc.constantFrom<JsonValue>(null, true, 0, 1, "Copenhagen", "Aarhus");
const key = fc.constantFrom("city", "a/b", "m~n", "sources");
const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    atom,
    fc.array(tie("value"), { maxLength: 5 }),
    fc.dictionary(key, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
}));
const state: fc.Arbitrary<JsonObject> = fc.dictionary(key, value, { maxKeys: 4, noNullPrototype: true }).map(freeze);

function merged(base: JsonObject, theirs: JsonObject, yours: JsonObject): JsonObject {
  const result = merge(freeze(base), freeze(theirs), freeze(yours));
  assert(result.outcome === "merged", JSON.stringify(result));
  return result.state;
}

function conflicts(base: JsonObject, theirs: JsonObject, yours: JsonObject): readonly Conflict[] {
  const result = merge(freeze(base), freeze(theirs), freeze(yours));
  assert(result.outcome === "conflict", JSON.stringify(result));
  return result.conflicts;
}

function isDeepFrozen(value: JsonValue): boolean {
  if (typeof value !== "object" || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isDeepFrozen);
}

Deno.test("merge: a side that changed nothing takes the other side's state", () => {
  fc.assert(fc.property(state, state, (base, side) => {
    assert(equal(merged(base, side, base), side));
    assert(equal(merged(base, base, side), side));
    assert(equal(merged(base, side, structuredClone(base)), side));
    assert(equal(merged(base, structuredClone(base), side), side));
  }));
});

Deno.test("merge: sides that agree are no conflict", () => {
  fc.assert(fc.property(state, state, (base, side) => equal(merged(base, side, structuredClone(side)), side)));
});

Deno.test("merge: whether the sides clash does not depend on which is which", () => {
  fc.assert(
    fc.property(state, state, state, (base, a, b) => {
      const [one, other] = [merge(base, a, b), merge(base, b, a)];
      assertEquals(one.outcome, other.outcome);
      if (one.outcome === "conflict" && other.outcome === "conflict") {
        assertEquals(one.conflicts.length, other.conflicts.length);
      }
    }),
    { numRuns: 1_000 },
  );
});

Deno.test("merge: the result is frozen and the inputs are left as they are", () => {
  fc.assert(fc.property(state, state, state, (base, theirs, yours) => {
    const text = JSON.stringify([base, theirs, yours]);
    const result = merge(base, theirs, yours);
    assert(result.outcome === "conflict" ? result.conflicts.length > 0 : isDeepFrozen(result.state));
    assertEquals(JSON.stringify([base, theirs, yours]), text);
  }));
});

Deno.test("merge: edits of different keys are joined, however deep", () => {
  const base = { place: { city: "Copenhagen", zoom: 9, layers: { roads: true } }, notes: "", draft: "old" };
  const theirs = { ...base, place: { ...base.place, city: "Aarhus" }, phone: "yes" };
  const yours = { place: { ...base.place, layers: { roads: true, rivers: true } }, notes: "arm64 wins" };
  assertEquals(merged(base, theirs, yours), {
    place: { city: "Aarhus", zoom: 9, layers: { roads: true, rivers: true } },
    notes: "arm64 wins",
    phone: "yes",
  });
});

Deno.test("merge: shares what neither side touched", () => {
  const base = freeze({ cart: { lines: ["tea"] }, notes: "", city: "Copenhagen" });
  const theirs = freeze({ ...base, city: "Aarhus" });
  const result = merged(base, theirs, freeze({ ...base, notes: "arm64 wins" }));
  assertStrictEquals(result.cart, base.cart);
  assertStrictEquals(merged(base, theirs, base), theirs);
});

Deno.test("merge: a key that both sides changed is a conflict, others beside it are not named", () => {
  const base = { place: { city: "Copenhagen", zoom: 9 }, notes: "" };
  assertEquals(
    conflicts(base, { place: { city: "Aarhus", zoom: 9 }, notes: "a" }, {
      place: { city: "Odense", zoom: 10 },
      notes: "",
    }),
    [{ path: "/place/city", base: "Copenhagen", theirs: "Aarhus", yours: "Odense" }],
  );
});

Deno.test("merge: a key that one side removed and the other changed is a conflict without that side", () => {
  const [base, changed] = [{ cart: { tea: 1 } }, { cart: { tea: 2 } }];
  assertEquals(conflicts(base, {}, changed), [{ path: "/cart", base: base.cart, yours: changed.cart }]);
  assertEquals(conflicts(base, changed, {}), [{ path: "/cart", base: base.cart, theirs: changed.cart }]);
});

Deno.test("merge: a key that one side removed and the other left alone is removed", () => {
  assertEquals(merged({ cart: [1], city: "Aarhus" }, { city: "Aarhus" }, { cart: [1], city: "Odense" }), {
    city: "Odense",
  });
});

Deno.test("merge: a key that both sides created is joined if it holds objects, else a conflict without base", () => {
  assertEquals(merged({}, { place: { city: "Aarhus" } }, { place: { zoom: 9 } }), {
    place: { city: "Aarhus", zoom: 9 },
  });
  assertEquals(conflicts({}, { place: { city: "Aarhus" } }, { place: { city: "Odense" } }), [
    { path: "/place/city", theirs: "Aarhus", yours: "Odense" },
  ]);
  assertEquals(conflicts({}, { bbox: [9.9, 56.1] }, { bbox: [12.4, 55.6] }), [
    { path: "/bbox", theirs: [9.9, 56.1], yours: [12.4, 55.6] },
  ]);
});

Deno.test("merge: a null is a value, not an absence", () => {
  assertEquals(conflicts({ city: null }, { city: "Aarhus" }, {}), [{ path: "/city", base: null, theirs: "Aarhus" }]);
});

Deno.test("merge: the paths of conflicts are JSON Pointers", () => {
  const conflict = { base: 1, theirs: 2, yours: 3 };
  assertEquals(conflicts({ "a/b": { "m~n": 1 } }, { "a/b": { "m~n": 2 } }, { "a/b": { "m~n": 3 } }), [
    { path: "/a~1b/m~0n", ...conflict },
  ]);
});

Deno.test("merge: what both sides appended lands, theirs first", () => {
  assertEquals(merged({ sources: ["a"] }, { sources: ["a", "t1", "t2"] }, { sources: ["a", "y"] }), {
    sources: ["a", "t1", "t2", "y"],
  });
  assertEquals(merged({ sources: [] }, { sources: ["t"] }, { sources: ["y"] }), { sources: ["t", "y"] });
});

Deno.test("merge: what both sides inserted lands where it was inserted", () => {
  const base = { sources: ["a", "b", "c"] };
  assertEquals(merged(base, { sources: ["t", "a", "b", "u", "c"] }, { sources: ["a", "y", "b", "v", "c", "z"] }), {
    sources: ["t", "a", "y", "b", "u", "v", "c", "z"],
  });
});

Deno.test("merge: the same insertion at the same point counts once", () => {
  assertEquals(merged({ sources: ["a"] }, { sources: ["t", "a", "x"] }, { sources: ["a", "x"] }), {
    sources: ["t", "a", "x"],
  });
});

Deno.test("merge: both sides' insertions are all there, in order", () => {
  const item = fc.constantFrom(0, 1, 2);
  const gaps = fc.array(fc.array(item, { maxLength: 2 }), { minLength: 6, maxLength: 6 });
  fc.assert(fc.property(fc.array(item, { maxLength: 5 }), gaps, gaps, (list, theirs, yours) => {
    const insert = (gaps: number[][]) => [...gaps[0], ...list.flatMap((item, i) => [item, ...gaps[i + 1]])];
    const [t, y] = [insert(theirs), insert(yours)];
    const result = merged({ list }, { list: t }, { list: y }).list;
    assert(Array.isArray(result));
    assert(contains(result, t) && contains(result, y));
    assert(result.length <= t.length + y.length - list.length);
  }));
});

Deno.test("merge: a large number of insertions on both sides lands", () => {
  const list = Array.from({ length: 5_000 }, (_, i) => i % 3);
  const insert = (mark: string) => list.flatMap((item, i) => i % 2 === 0 ? [item, mark, (i * 7) % 3] : [item]);
  const result = merged({ list }, { list: insert("phone") }, { list: insert("laptop") }).list;
  assert(Array.isArray(result));
  assertEquals(result.filter((item) => item === "phone").length, 2_500);
  assertEquals(result.filter((item) => item === "laptop").length, 2_500);
});

Deno.test("merge: different items that the sides changed are joined", () => {
  const base = { cart: [{ sku: "tea", quantity: 1 }, { sku: "rye", quantity: 1 }, { sku: "jam", quantity: 1 }] };
  const theirs = { cart: base.cart.with(0, { sku: "tea", quantity: 2 }) };
  const yours = { cart: base.cart.with(2, { sku: "jam", quantity: 3 }) };
  assertEquals(merged(base, theirs, yours), { cart: [theirs.cart[0], base.cart[1], yours.cart[2]] });
});

Deno.test("merge: different fields of one item that the sides changed are joined", () => {
  const base = { tasks: [{ title: "read", done: false }] };
  const theirs = { tasks: [{ title: "read", done: true }] };
  assertEquals(merged(base, theirs, { tasks: [{ title: "read twice", done: false }] }), {
    tasks: [{ title: "read twice", done: true }],
  });
});

Deno.test("merge: an item that one side changed and items that the other inserted are joined", () => {
  const base = { tasks: [{ title: "read", done: false }] };
  const theirs = { tasks: [{ title: "read", done: true }] };
  const yours = { tasks: [{ title: "plan", done: false }, base.tasks[0], { title: "write", done: false }] };
  assertEquals(merged(base, theirs, yours), { tasks: [yours.tasks[0], theirs.tasks[0], yours.tasks[2]] });
});

Deno.test("merge: one field of one item that both sides changed is a conflict at that field", () => {
  const cart = (quantity: number) => ({ cart: [{ sku: "tea", quantity }, { sku: "rye", quantity: 1 }] });
  assertEquals(conflicts(cart(1), cart(2), cart(3)), [{ path: "/cart/0/quantity", base: 1, theirs: 2, yours: 3 }]);
});

Deno.test("merge: a conflict below a list speaks of the indexes in theirs", () => {
  const theirs = { cities: ["Ribe", "Copenhagen", "Skagen", "Aarhus"] };
  const yours = { cities: ["Copenhagen", "Skagen", "Odense"] };
  assertEquals(conflicts({ cities: ["Copenhagen", "Skagen", "Vejle"] }, theirs, yours), [
    { path: "/cities/3", base: "Vejle", theirs: "Aarhus", yours: "Odense" },
  ]);
});

Deno.test("merge: a list from which one side removed and which the other edited too is a conflict at the list", () => {
  const base = { sources: ["a", "b", "c"], city: "Aarhus" };
  const theirs = { sources: ["b", "c"], city: "Odense" };
  const yours = { sources: ["a", "b", "c", "d"], city: "Aarhus" };
  assertEquals(conflicts(base, theirs, yours), [
    { path: "/sources", base: base.sources, theirs: theirs.sources, yours: yours.sources },
  ]);
  assertEquals(merged(base, theirs, { ...base, notes: "" }), { ...theirs, notes: "" });
});

Deno.test("merge: every clash is named, but a value full of them is named once", () => {
  const count = (length: number, value: number) => ({ scores: Array.from({ length }, () => value) });
  assertEquals(conflicts(count(3, 0), count(3, 1), count(3, 2)).map(({ path }) => path), [
    "/scores/0",
    "/scores/1",
    "/scores/2",
  ]);
  assertEquals(conflicts(count(10_000, 0), count(10_000, 1), count(10_000, 2)).map(({ path }) => path), ["/scores"]);
});

/** Whether all of `part` is in `whole`, in order. */
function contains(whole: readonly JsonValue[], part: readonly JsonValue[]): boolean {
  let found = 0;
  for (const item of whole) if (found < part.length && item === part[found]) found++;
  return found === part.length;
}
