import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { InvalidInput } from "../../src/document/errors.ts";
import type { JsonObject, JsonValue } from "../../src/document/json.ts";
import { textCost } from "../../src/document/outline.ts";
import { parsePath, resolvePath } from "../../src/document/path.ts";
import { readStateKey } from "../../src/history/inspect.ts";
import { search } from "../../src/history/matches.ts";
import { compilePattern, MAX_PATTERN_CHARS } from "../../src/history/pattern.ts";
import { renderReading } from "../../src/history/render.ts";

async function matching(state: JsonObject, pattern: string, key?: string) {
  const reading = await readStateKey({ state, keys: new Map(), where: { as: "current" } }, { key, pattern });
  assert(reading.outcome === "matches");
  return reading;
}

const PLACES = { "a/b": { name: "Århus", bbox: [9.9, 56.1] }, other: "Copenhagen", none: null, list: [] };

Deno.test("pattern: finds lines `path = value`, whatever the case", async () => {
  assertEquals((await matching(PLACES, "århus")).lines, ['/a~1b/name = "Århus"']);
  assertEquals((await matching(PLACES, "^/a~1b/bbox/\\d = ")).lines, ["/a~1b/bbox/0 = 9.9", "/a~1b/bbox/1 = 56.1"]);
  assertEquals((await matching(PLACES, "= (null|\\[\\])$")).lines, ["/none = null", "/list = []"]);
  assertEquals((await matching(PLACES, '"copenhagen"$')).lines, ['/other = "Copenhagen"']);
  assertEquals((await matching(PLACES, "hagen$")).lines, ['/other = "Copenhagen"']);
});

Deno.test("pattern: within a key, paths are those that `path` takes", async () => {
  assertEquals((await matching(PLACES, "9", "a/b")).lines, ["/bbox/0 = 9.9"]);
  assertEquals((await matching(PLACES, "open", "other")).lines, ['value = "Copenhagen"']);
});

Deno.test("pattern: fifty matches are told, and how many there are", async () => {
  const found = await matching({ rows: Array.from({ length: 212 }, (_, i) => `row ${i}`) }, "row");
  assertEquals([found.lines.length, found.total, found.searched], [50, 212, 212]);
  assertStringIncludes(renderReading(found), '50 of 212 matches for "row"; narrow it');
});

Deno.test("pattern: one that is no regular expression is taken literally, and that is said", async () => {
  for (const pattern of ["f(", "[a", "a**", "(?=x)", "(a)\\1", "\\"]) {
    const found = await matching({ code: `call ${pattern}`, other: "nothing" }, pattern);
    assertEquals([found.isLiteral, found.total], [true, 1]);
    assertStringIncludes(renderReading(found), "taken as plain text");
  }
  assertEquals((await matching({ a: "F(x" }, "f(")).total, 1);
});

Deno.test("pattern: a long one is refused, an empty one is none", async () => {
  await assertRejects(() => compilePattern("x".repeat(MAX_PATTERN_CHARS + 1)), InvalidInput, "500 characters");
  const reading = await readStateKey({ state: { a: 1 }, keys: new Map(), where: { as: "current" } }, { pattern: "" });
  assertEquals(reading.outcome, "keys");
});

Deno.test("pattern: one that would hold a backtracking engine for ever answers at once", async () => {
  const text = `${"a".repeat(1_000_000)}b`;
  assertEquals((await matching({ text }, "(a|aa)+$")).total, 0);
  assertEquals((await matching({ text }, "(a*)*c")).total, 0);
  assertEquals((await matching({ text }, "(x+x+)+y")).total, 0);
});

Deno.test("pattern: one that is too costly for a text says what was not searched", async () => {
  const found = await matching({ text: "ab".repeat(500_000), short: "ab" }, "(a|b)*a(a|b){900}c|ab");
  assertEquals([found.lines, found.searched, found.unsearched], [['/short = "ab"'], 1, 1]);
  assertStringIncludes(renderReading(found), "1 line not searched: the pattern is too costly");
});

Deno.test("pattern: of a long line, the part is shown that matches", async () => {
  const [line] =
    (await matching({ text: `${"x ".repeat(5_000)}Aarhus\nis "here" ${"y ".repeat(5_000)}` }, "aarhus")).lines;
  assert(textCost(line) <= 240, line);
  assertStringIncludes(line, "/text = …");
  assertStringIncludes(line, 'Aarhus\\nis \\"here\\"');
});

Deno.test("pattern: lines of several keys come with the notes of these keys", async () => {
  const writes = { versions: 2, turns: 0, first: { version: 1, turn: 0 }, recentTurns: [] };
  const keys = new Map([["a", { ...writes, last: { version: 3, turn: 0, writer: "phone" } }]]);
  const reading = await readStateKey({ state: { a: "x", b: "x" }, keys, where: { as: "current" } }, { pattern: "x" });
  assertEquals(
    renderReading(reading),
    '2 matches for "x":\n/a = "x"\n/b = "x"\n— a: rewritten, 2 versions, last by phone',
  );
});

Deno.test("property: lines stay within their limits, and their paths lead to their values", async () => {
  const pattern = await compilePattern("[a-z0-9]|=");
  const json = fc.json({ maxDepth: 4, stringUnit: "binary" }).map((text): JsonValue => JSON.parse(text));
  fc.assert(fc.property(json, fc.integer({ min: 300, max: 9_000 }), (value, maxChars) => {
    const { lines, total, searched } = search(value, [], pattern, maxChars);
    assertEquals(total, searched);
    assert(lines.length <= 50 && lines.every((line) => textCost(line) <= 240 && !line.includes("\n")));
    assert(textCost(lines.join("\n")) <= maxChars);
    for (const line of lines) {
      const [, path, text] = /^(\/.*?|value) = (.*)$/.exec(line) ?? [];
      if (path === undefined || path.includes(" = ") || line.includes("…")) continue;
      const found = resolvePath(value, path === "value" ? [] : parsePath(path));
      if (!text.includes("<data:")) assertEquals(JSON.stringify(found), text);
    }
  }));
});
