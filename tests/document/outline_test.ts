import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import type { JsonValue } from "../../src/document/json.ts";
import { outline, shapeOf, textCost } from "../../src/document/outline.ts";

Deno.test("shapeOf: objects by their keys", () => {
  assertEquals(shapeOf({}), "dict(empty)");
  assertEquals(shapeOf({ a: 1 }), "dict(1 key: a)");
  assertEquals(shapeOf({ a: 1, b: [], c: null }), "dict(3 keys: a, b, c)");
  assertEquals(shapeOf({ a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7 }), "dict(7 keys: a, b, c, d, e, …)");
});

Deno.test("shapeOf: arrays by their length and first item", () => {
  assertEquals(shapeOf([]), "list(empty)");
  assertEquals(shapeOf([9.9, 1]), "list[2] of 9.9");
  assertEquals(shapeOf([[1, 2], [], []]), "list[3] of list[2] of 1");
  assertEquals(shapeOf([{ a: 1, b: 2 }]), "list[1] of dict(2 keys: a, b)");
  assertEquals(shapeOf([[]]), "list[1] of list(empty)");
  assertEquals(shapeOf([null]), "list[1] of null");
  assertEquals(shapeOf(["x".repeat(41), ""]), "list[2] of str(41 chars)");
});

Deno.test("shapeOf: short scalars as JSON, long text by its length", () => {
  assertEquals(shapeOf("x".repeat(40)), `"${"x".repeat(40)}"`);
  assertEquals(shapeOf("x".repeat(812)), "str(812 chars)");
  assertEquals(shapeOf('say "hi"\n'), '"say \\"hi\\"\\n"');
  assertEquals([1.5, 1e21, true, false, null, ""].map(shapeOf), ["1.5", "1e+21", "true", "false", "null", '""']);
});

Deno.test("shapeOf: keys that would blur the list are quoted, long ones shortened", () => {
  assertEquals(shapeOf({ "": 1, "a, b": 2, "gazet/get_aoi/bbox": 3 }), 'dict(3 keys: "", "a, b", gazet/get_aoi/bbox)');
  assertEquals(shapeOf({ ["k".repeat(500)]: 1 }), `dict(1 key: ${"k".repeat(39)}…)`);
  assertEquals(shapeOf({ ["k".repeat(38) + "😀x"]: 1 }), `dict(1 key: ${"k".repeat(38)}…)`);
});

Deno.test("shapeOf: arrays in arrays end after some levels", () => {
  let value: JsonValue = 1;
  for (let i = 0; i < 90; i++) value = [value];
  assertEquals(shapeOf(value), "list[1] of ".repeat(9) + "…");
});

Deno.test("textCost: ASCII counts once, anything else twice", () => {
  assertEquals(["", "abc\n\x7f", "é", "日本", "😀"].map(textCost), [0, 5, 2, 4, 4]);
});

Deno.test("outline: the top level first, then what is below it", () => {
  const state = { title: "Trip", days: [{ city: "Copenhagen" }, { city: "Aarhus" }], "a/b": { "c~": null }, none: {} };
  assertEquals(
    outline(state, 1000),
    [
      "dict(4 keys: title, days, a/b, none)",
      '/title: "Trip"',
      "/days: list[2] of dict(1 key: city)",
      "/a~1b: dict(1 key: c~)",
      "/none: dict(empty)",
      "/days/0: dict(1 key: city)",
      "/days/1: dict(1 key: city)",
      "/a~1b/c~0: null",
      '/days/0/city: "Copenhagen"',
      '/days/1/city: "Aarhus"',
    ].join("\n"),
  );
});

Deno.test("outline: says how much was left out", () => {
  const state = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`key${i}`, { deep: i }]));
  const lines = outline(state, 300).split("\n");
  assertEquals(lines[0], "dict(100 keys: key0, key1, key2, key3, key4, …)");
  assertEquals(lines[1], "/key0: dict(1 key: deep)");
  assertEquals(lines.at(-1), `… ${200 - (lines.length - 2)} more keys and items left out`);
});

Deno.test("outline: looks into the first three items of an array", () => {
  assertEquals(outline({ list: [1, 2, 3, 4, 5] }, 1000).split("\n"), [
    "dict(1 key: list)",
    "/list: list[5] of 1",
    "/list/0: 1",
    "/list/1: 2",
    "/list/2: 3",
    "… 2 more keys and items left out",
  ]);
});

Deno.test("outline: one line a key, whatever is in it", () => {
  assertEquals(outline({ "a\nb": "c\nd" }, 1000), 'dict(1 key: "a\\nb")\n"/a\\nb": "c\\nd"');
});

Deno.test("outline: long keys are shortened", () => {
  const [, line] = outline({ ["k".repeat(100_000)]: { a: 1 } }, 1000).split("\n");
  assertEquals(line, `/${"k".repeat(79)}…: dict(1 key: a)`);
});

Deno.test("outline: a scalar is its shape", () => {
  assertEquals(outline("x".repeat(50_000), 100), "str(50000 chars)");
  assertEquals(outline(null, 100), "null");
});

Deno.test("outline: the first line is cut where there is no room for more", () => {
  assertEquals(outline({ alpha: 1 }, 8), "dict(1 k");
  assertEquals(outline({ alpha: 1 }, 0), "");
});

Deno.test("outline: never exceeds its budget, is well-formed and the same each time", () => {
  const value = fc.jsonValue({ stringUnit: "grapheme" }).map((given): JsonValue => JSON.parse(JSON.stringify(given)));
  fc.assert(fc.property(value, fc.nat({ max: 600 }), (given, budget) => {
    const text = outline(given, budget);
    assert(textCost(text) <= budget);
    assert(text.isWellFormed());
    assertEquals(outline(given, budget), text);
  }));
});

Deno.test("outline: very wide and very deep states", () => {
  const wide: JsonValue = {
    ones: Array<JsonValue>(500_000).fill(1),
    keys: Object.fromEntries(Array(50_000).entries()),
  };
  const text = outline(wide, 4000);
  assert(textCost(text) <= 4000);
  assertStringIncludes(text, "/ones: list[500000] of 1");
  assertStringIncludes(text, "over 100000 more keys and items left out");
  let deep: JsonValue = {};
  for (let i = 1; i < 100; i++) deep = { deeper: deep };
  assertEquals(outline(deep, 100_000).split("\n").length, 100);
});
