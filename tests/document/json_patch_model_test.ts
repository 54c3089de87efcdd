/**
 * JSON Patch and paths against a second, plain implementation on copies: both do the same, or both refuse.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { PathNotFound } from "../../src/document/errors.ts";
import { freeze, isObject, jsonBytes, type JsonObject, type JsonValue } from "../../src/document/json.ts";
import { applyJsonPatch, type JsonPatchOperation } from "../../src/document/json_patch.ts";
import { parsePath, resolvePath } from "../../src/document/path.ts";
import { copy, patched } from "../proof/reference.ts";

const token = fc.constantFrom("a", "b", "0", "1", "2", "-", "01", "~0", "~1", "", "constructor", "length");
const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom<JsonValue>(null, true, 0, "tea"),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "b", "0", "~", "/", "", "constructor"), tie("value"), {
      maxKeys: 3,
      noNullPrototype: true,
    }),
  ),
}));
const state: fc.Arbitrary<JsonObject> = fc.dictionary(fc.constantFrom("a", "b", "0", ""), value, {
  minKeys: 1,
  maxKeys: 4,
  noNullPrototype: true,
}).map(freeze);
const path = fc.array(token, { maxLength: 3 }).map((tokens) => tokens.map((each) => `/${each}`).join(""));
/** One at a place that is there, or below it, or anywhere. */
const draft = fc.record({
  op: fc.constantFrom("add" as const, "replace" as const, "remove" as const),
  pick: fc.nat(),
  below: fc.option(token, { freq: 1 }),
  anywhere: fc.option(path, { freq: 8 }),
  value,
});
type Draft = typeof draft extends fc.Arbitrary<infer T> ? T : never;

function toOperation(state: unknown, { op, pick, below, anywhere, value }: Draft): JsonPatchOperation {
  const places = placesOf(state, "").filter((place) => place !== "" || below !== null || pick % 9 === 0);
  const path = anywhere ?? (places[pick % places.length] ?? "") + (below === null ? "" : `/${below}`);
  return op === "remove" ? { op, path } : { op, path, value };
}

function placesOf(value: unknown, path: string): string[] {
  if (typeof value !== "object" || value === null) return [path];
  const below = Object.entries(value).flatMap(([name, child]) =>
    placesOf(child, `${path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`)
  );
  return [path, ...below];
}

/** What a call answers, or that it refused. */
function orRefused<T>(call: () => T): T | "refused" {
  try {
    return call();
  } catch {
    return "refused";
  }
}

Deno.test("applyJsonPatch: does what a plain implementation does, or refuses what that refuses", () => {
  let applied = 0;
  fc.assert(
    fc.property(state, fc.array(draft, { minLength: 1, maxLength: 3 }), (before, drafts) => {
      const patch: JsonPatchOperation[] = [];
      let now: unknown = before;
      for (const each of drafts) {
        patch.push(toOperation(now, each));
        now = orRefused(() => patched(copy(before), patch));
        if (now === "refused") break;
      }
      const text = JSON.stringify(before);
      const wanted = orRefused(() => patched(copy(before), patch));
      const done = orRefused(() => applyJsonPatch({ state: before, bytes: jsonBytes(before) }, patch));
      assertEquals(JSON.stringify(before), text);
      // A state is an object: the plain one does not mind what the root becomes.
      if (wanted === "refused" || !isObject(wanted)) return assertEquals(done, "refused", JSON.stringify(patch));
      assert(done !== "refused", JSON.stringify(patch));
      assertEquals(done.state, wanted);
      assertEquals(done.bytes, jsonBytes(done.state));
      applied++;
    }),
    { numRuns: 3_000 },
  );
  assert(applied > 200, `${applied} were applied`);
});

Deno.test("resolvePath: finds what a plain walk finds, or says where it ends", () => {
  fc.assert(
    fc.property(state, path, (root, path) => {
      const tokens = parsePath(path);
      let node: unknown = root;
      let steps = 0;
      for (const token of tokens) {
        const isThere = Array.isArray(node)
          ? /^(0|[1-9]\d*)$/.test(token) && Number(token) < node.length
          : typeof node === "object" && node !== null && Object.hasOwn(node, token);
        if (!isThere) break;
        node = Reflect.get(Object(node), token);
        steps++;
      }
      if (steps === tokens.length) return assertEquals(resolvePath(root, tokens), node);
      try {
        resolvePath(root, tokens);
        throw new Error("it leads somewhere");
      } catch (error) {
        assert(error instanceof PathNotFound, String(error));
        assertEquals(parsePath(error.failedAt), tokens.slice(0, steps + 1));
      }
    }),
    { numRuns: 3_000 },
  );
});
