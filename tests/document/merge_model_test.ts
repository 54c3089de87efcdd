/**
 * The merge against a short one that is plainly right: key by key, and lists that only grow at their gaps.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { equal, freeze, isObject, type JsonObject, type JsonValue } from "../../src/document/json.ts";
import { merge } from "../../src/document/merge.ts";
import { toPointer } from "../../src/document/path.ts";

const key = fc.constantFrom("city", "a/b", "m~n", "", "constructor", "0");
const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom<JsonValue>(null, true, 0, 1, "Copenhagen", "Aarhus"),
    fc.dictionary(key, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
}));
const state: fc.Arbitrary<JsonObject> = fc.dictionary(key, value, { maxKeys: 5, noNullPrototype: true }).map(freeze);

type Maybe = JsonValue | undefined;
const isSame = (a: Maybe, b: Maybe) => a === undefined || b === undefined ? a === b : equal(a, b);

/** What each place comes to; where both sides changed it in other ways, its path among `clashes`. */
function model(base: Maybe, theirs: Maybe, yours: Maybe, path: readonly string[], clashes: string[]): Maybe {
  if (isSame(theirs, yours) || isSame(base, yours)) return theirs;
  if (isSame(base, theirs)) return yours;
  if (theirs === undefined || yours === undefined || !isObject(theirs) || !isObject(yours)) {
    clashes.push(toPointer(path));
    return theirs;
  }
  if (base !== undefined && !isObject(base)) {
    clashes.push(toPointer(path));
    return theirs;
  }
  const old = base ?? {};
  const own = (of: JsonObject, name: string): Maybe => Object.hasOwn(of, name) ? of[name] : undefined;
  const joined: Record<string, JsonValue> = {};
  for (const name of new Set([...Object.keys(theirs), ...Object.keys(yours)])) {
    const value = model(own(old, name), own(theirs, name), own(yours, name), [...path, name], clashes);
    if (value !== undefined) joined[name] = value;
  }
  return joined;
}

Deno.test("merge: does key by key what a plain model does, and names the same clashes", () => {
  const edited = state.chain((base) => fc.tuple(fc.constant(base), changed(base), changed(base)));
  fc.assert(
    fc.property(fc.oneof(fc.tuple(state, state, state), edited), ([base, theirs, yours]) => {
      const clashes: string[] = [];
      const wanted = model(base, theirs, yours, [], clashes);
      const result = merge(base, freeze(theirs), freeze(yours));
      if (result.outcome === "merged") assertEquals([result.state, []], [wanted, clashes]);
      else assertEquals(result.conflicts.map(({ path }) => path).sort(), clashes.sort());
    }),
    { numRuns: 3_000 },
  );
});

/** A state with some keys, at any depth, set or taken out. */
function changed(base: JsonObject): fc.Arbitrary<JsonObject> {
  const edit = fc.tuple(fc.array(key, { minLength: 1, maxLength: 3 }), fc.option(value, { nil: undefined }));
  return fc.array(edit, { maxLength: 3 }).map((edits) => {
    const copy = structuredClone(base) as Record<string, JsonValue>;
    for (const [path, value] of edits) {
      let node: Record<string, JsonValue> = copy;
      for (const name of path.slice(0, -1)) {
        const child = Object.hasOwn(node, name) ? node[name] : undefined;
        if (!isObject(child)) break;
        node = child as Record<string, JsonValue>;
      }
      const name = path[path.length - 1];
      if (value === undefined) delete node[name];
      else node[name] = value;
    }
    return copy;
  });
}

Deno.test("merge: lists that both sides only added to have everything, gap by gap, theirs first, what is the same once", () => {
  const gaps = (side: string) =>
    fc.array(fc.array(fc.oneof(fc.constant("both"), fc.nat(99).map((n) => `${side} ${n}`)), { maxLength: 2 }), {
      minLength: 5,
      maxLength: 5,
    });
  fc.assert(
    fc.property(fc.nat(4), gaps("phone"), gaps("laptop"), (length, theirs, yours) => {
      const base = Array.from({ length }, (_, i) => i);
      const grown = (gaps: readonly (readonly string[])[]) => [
        ...gaps[0],
        ...base.flatMap((item, i) => [item, ...gaps[i + 1]]),
      ];
      const joined = grown(theirs.map((gap, i) => equal(gap, yours[i]) ? gap : [...gap, ...yours[i]]));
      const result = merge(freeze({ base }), freeze({ base: grown(theirs) }), freeze({ base: grown(yours) }));
      // A side that added nothing takes what the other made.
      assertEquals(result, { outcome: "merged", state: { base: joined } });
    }),
    { numRuns: 2_000 },
  );
});

Deno.test("merge: of lists as long as before, each item is joined by itself", () => {
  const items = fc.array(fc.boolean(), { minLength: 6, maxLength: 6 });
  fc.assert(fc.property(items, items, (theirs, yours) => {
    const list = theirs.map((_, i) => `item ${i}`);
    const set = (changes: readonly boolean[], side: string) =>
      list.map((item, i) => changes[i] ? `${side} ${i}` : item);
    const clashes = theirs.flatMap((changed, i) => changed && yours[i] ? [`/list/${i}`] : []);
    const result = merge(
      freeze({ list }),
      freeze({ list: set(theirs, "phone") }),
      freeze({ list: set(yours, "laptop") }),
    );
    if (clashes.length > 0) {
      assertEquals(result.outcome === "conflict" && result.conflicts.map(({ path }) => path), clashes);
    } else {
      const joined = list.map((item, i) => theirs[i] ? `phone ${i}` : yours[i] ? `laptop ${i}` : item);
      assertEquals(result, { outcome: "merged", state: { list: joined } });
    }
  }));
});
