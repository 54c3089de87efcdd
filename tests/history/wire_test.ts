import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { JsonObject, JsonValue } from "../../src/document/json.ts";
import { textCost } from "../../src/document/outline.ts";
import { compareStates } from "../../src/history/difference.ts";
import { readStateKey } from "../../src/history/inspect.ts";
import type { StateView } from "../../src/history/view.ts";
import { toWireReading } from "../../src/history/wire.ts";

function viewOf(state: JsonObject): StateView {
  return { state, keys: new Map(), where: { as: "version", version: 1 } };
}

Deno.test("toWireReading: one field for what was read", async () => {
  const view = viewOf({ a: [1], b: "x".repeat(5_000) });
  const as_of = { version: 1 };
  assertEquals(toWireReading(await readStateKey(view, {})), {
    as_of,
    keys: { a: "list[1] of 1", b: "str(5000 chars)" },
  });
  assertEquals(toWireReading(await readStateKey(view, { key: "a", path: "0" })), {
    as_of,
    key: "a",
    path: "/0",
    value: 1,
  });
  assertEquals(toWireReading(await readStateKey(view, { key: "b" })), {
    as_of,
    key: "b",
    outline: "str(5000 chars)",
    chars: 5_002,
  });
  assertEquals(toWireReading(await readStateKey(view, { pattern: "[1" })), {
    as_of,
    pattern_taken_as: "plain text",
    matches: [],
    total_matches: 0,
  });
  assertEquals(toWireReading(await readStateKey(view, { key: "a", path: "/1" })), {
    as_of,
    key: "a",
    absent: "path_not_found",
    message: 'There is nothing at "/1" in "a" at version 1. What is there: "0".',
  });
});

Deno.test("property: an answer, comparisons included, costs at most eight times what one value may", async () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 300 }),
    fc.string({ unit: fc.constantFrom('"', "\\", "\u0001", "東", "\n"), maxLength: 300 }),
  );
  const value: fc.Arbitrary<JsonValue> = fc.oneof(text, fc.array(text, { maxLength: 60 }), fc.dictionary(text, text));
  const state = fc.array(fc.tuple(text, value), { maxLength: 60, minLength: 5, size: "max" })
    .map((entries): JsonObject => Object.fromEntries(entries));
  const pattern = fc.constantFrom(undefined, ".", "東");
  const drawn = [state, state, fc.nat(), pattern, fc.integer({ min: 1_500, max: 4_000 })] as const;
  await fc.assert(
    fc.asyncProperty(...drawn, async (before, after, nth, pattern, maxChars) => {
      const key = [undefined, ...Object.keys(before)][nth % 4];
      const compared = await compareStates(viewOf(before), viewOf(after), { key, pattern, maxChars });
      assert(textCost(JSON.stringify(toWireReading(compared))) <= 8 * maxChars);
    }),
    { numRuns: 200 },
  );
});
