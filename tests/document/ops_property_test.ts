import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { admitState } from "../../src/document/admit.ts";
import { compileOps } from "../../src/document/compile.ts";
import { PatchError } from "../../src/document/errors.ts";
import { canonicalJson, isObject, jsonBytes, type JsonValue } from "../../src/document/json.ts";
import { applyJsonPatch } from "../../src/document/json_patch.ts";
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

type Loose = Record<string, JsonValue>;
interface Model {
  numbers: Record<string, number>;
  set: JsonValue[];
  list: JsonValue[];
  object: Loose;
}

const item = fc.oneof(
  fc.integer({ min: 0, max: 2 }),
  fc.constantFrom<JsonValue>(true, false, null, "1", [], {}, [1], { a: 1, b: 2 }, { b: 2, a: 1 }),
);
const key = fc.constantFrom("a", "b", "c/d", "~", "");
const step = fc.oneof(
  fc.tuple(key, fc.integer({ min: -9, max: 9 })).map(([name, by]) => ({
    op: increment(`/numbers/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`, by, { create: true }),
    play: (model: Model) => void (model.numbers[name] = (model.numbers[name] ?? 0) + by),
  })),
  item.map((value) => ({
    op: addToSet("set", value),
    play: (model: Model) => void (model.set.some(same(value)) || model.set.push(value)),
  })),
  item.map((value) => ({ op: append("list", value), play: (model: Model) => void model.list.push(value) })),
  item.map((value) => ({
    op: removeValue("list", value),
    play: (model: Model) => void (model.list = model.list.filter((other) => !same(value)(other))),
  })),
  fc.tuple(key, item).map(([name, value]) => ({
    op: setKey("object", name, value),
    play: (model: Model) => void (model.object[name] = value),
  })),
  key.map((name) => ({ op: delKey("object", name), play: (model: Model) => void (delete model.object[name]) })),
  fc.dictionary(key, item).map((mapping) => ({
    op: mergeInto(mapping, "object"),
    play: (model: Model) => void Object.assign(model.object, mapping),
  })),
);

function same(value: JsonValue): (other: JsonValue) => boolean {
  return (other) => canonicalJson(other) === canonicalJson(value);
}

Deno.test("compileOps: does what a plain model does, and its patch leads there", () => {
  fc.assert(fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
    const model: Model = { numbers: {}, set: [], list: [1, { a: 1, b: 2 }, 1], object: {} };
    const { value: state, bytes } = admitState(model);
    const { patch, after } = compileOps({ state, bytes }, parseOps(steps.map(({ op }) => op)));
    for (const { play } of steps) play(model);
    assertEquals(canonicalJson(after.state), canonicalJson(admitState(model).value));
    assertEquals(after.bytes, jsonBytes(after.state));
    const applied = applyJsonPatch({ state, bytes }, JSON.parse(JSON.stringify(patch)));
    assertEquals(applied, { ...after });
    assertEquals(patch.length === 0, canonicalJson(state) === canonicalJson(after.state));
    assertDeepFrozen(after.state);
  }));
});

Deno.test("compileOps: one list of operations does what its operations do one by one", () => {
  const path = fc.constantFrom("", "a", "b", "a.0", "a.1.b", "b.a", "/c~1d", "a.b.c");
  const create = fc.boolean().map((create) => ({ create }));
  const op: fc.Arbitrary<PatchOperation> = fc.oneof(
    fc.tuple(path, item, create).map((given) => append(...given)),
    fc.tuple(path, item, create).map((given) => addToSet(...given)),
    fc.tuple(path, item, create).map((given) => removeValue(...given)),
    fc.tuple(path, key, item, create).map((given) => setKey(...given)),
    fc.tuple(path, key, create).map((given) => delKey(...given)),
    fc.tuple(fc.dictionary(key, item), path, create).map((given) => mergeInto(...given)),
    fc.tuple(path, fc.integer(), create).map((given) => increment(...given)),
  );
  const start = fc.dictionary(key, fc.oneof(item, fc.array(item), fc.dictionary(key, fc.array(item))));
  fc.assert(
    fc.property(start, fc.array(op, { maxLength: 15 }), (given, ops) => {
      const { value: state, bytes } = admitState(given);
      let now = { state, bytes };
      const fitting: PatchOperation[] = [];
      for (const op of parseOps(ops)) {
        try {
          now = compileOps(now, [op]).after;
          fitting.push(op);
        } catch (error) {
          assert(error instanceof PatchError);
        }
      }
      const { patch, after } = compileOps({ state, bytes }, fitting);
      assertEquals(canonicalJson(after.state), canonicalJson(now.state));
      assertEquals(after.bytes, jsonBytes(after.state));
      assertEquals(applyJsonPatch({ state, bytes }, patch).bytes, after.bytes);
      assert(isObject(after.state));
      assertDeepFrozen(after.state);
    }),
    { numRuns: 500 },
  );
});

function assertDeepFrozen(value: JsonValue): void {
  assert(Object.isFrozen(value));
  if (typeof value === "object" && value !== null) Object.values(value).forEach(assertDeepFrozen);
}
