import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { InvalidInput } from "../../src/document/errors.ts";
import type { JsonObject, JsonValue } from "../../src/document/json.ts";
import { countWrites, type KeyHistory } from "../../src/document/key_writes.ts";
import { textCost } from "../../src/document/outline.ts";
import { compareStates } from "../../src/history/difference.ts";
import { readStateKey } from "../../src/history/inspect.ts";
import type { OutlinedValue } from "../../src/history/reading.ts";
import { renderReading } from "../../src/history/render.ts";
import { MAX_CHARS, type StateRequest, type StateView } from "../../src/history/view.ts";
import { toWireReading } from "../../src/history/wire.ts";

function viewOf(state: JsonObject, more: Partial<StateView> = {}): StateView {
  return { state, keys: new Map(), where: { as: "current" }, ...more };
}

async function text(state: JsonObject, request: StateRequest = {}, more: Partial<StateView> = {}): Promise<string> {
  return renderReading(await readStateKey(viewOf(state, more), request));
}

function written(key: string, ...turns: readonly number[]): KeyHistory {
  let keys: KeyHistory = new Map();
  turns.forEach((turn, i) => keys = countWrites(keys, [key], { version: i + 1, turn, writer: "phone" }, { [key]: i }));
  return keys;
}

Deno.test("readStateKey: keys with their shapes", async () => {
  assertEquals(
    await text({ bbox: [9.9, 56.1], place: { name: "Aarhus" }, notes: "x".repeat(812), tags: [], none: null, "": {} }),
    [
      "bbox: list[2] of 9.9",
      "place: dict(1 key: name)",
      "notes: str(812 chars)",
      "tags: list(empty)",
      "none: null",
      '"": dict(empty)',
    ].join("\n"),
  );
  assertEquals(await text({}), "There are no keys.");
});

Deno.test("readStateKey: a key written once is its value and nothing else", async () => {
  assertEquals(await text({ bbox: [12.4, 55.5] }, { key: "bbox" }, { keys: written("bbox", 1) }), "[12.4,55.5]");
});

Deno.test("readStateKey: a note shows the newest turns", async () => {
  const keys = written("a", ...Array.from({ length: 30 }, (_, i) => i + 1));
  const readable = { turns: [{ from: 1, to: 30 }] };
  assertEquals(
    await text({ a: 1 }, {}, { keys, readable }),
    "a: 1 — rewritten, 30 versions (turns …, 23, 24, 25, 26, 27, 28, 29, 30), last by phone; turn=29 reads the earlier",
  );
});

Deno.test("readStateKey: a literal key, whatever it holds", async () => {
  for (const key of ["a/b", "a.b", "", "constructor", "toString", "*.x", "~1", "日本", "a b", "x\ny", '"q"']) {
    assertEquals(await text({ [key]: 7 }, { key }), "7");
    const missing = await text({}, { key });
    assert(key === "" ? missing === "There are no keys." : missing.startsWith("There is no key "), missing);
  }
  const state: JsonObject = JSON.parse('{"__proto__": 7}');
  assertEquals(await text(state, { key: "__proto__" }), "7");
  assertEquals(await text(state), "__proto__: 7");
  assertEquals(JSON.stringify(toWireReading(await readStateKey(viewOf(state), {}))), '{"keys":{"__proto__":"7"}}');
  assertStringIncludes(await text({}, { key: "__proto__" }), "There is no key");
});

Deno.test("readStateKey: a path where a key was meant", async () => {
  assertEquals(
    await text({ profile: { tags: ["x"] }, "a.b": 1 }, { key: "profile.tags" }),
    'There is no key "profile.tags". To read a place in a value use path: path="/profile/tags". ' +
      'The keys: "profile", "a.b".',
  );
});

Deno.test("readStateKey: a path within a key, or within the state", async () => {
  const state = { "a/b": { list: [{ c: 1 }, 2] } };
  assertEquals(await text(state, { key: "a/b", path: "list.0" }), '{"c":1}');
  assertEquals(await text(state, { key: "a/b", path: "/list/1" }), "2");
  assertEquals(await text(state, { path: "/a~1b/list/0/c" }), "1");
});

Deno.test("readStateKey: a path that leads nowhere says where it failed and what is there", async () => {
  const state = { place: { name: "Aarhus", bbox: [1, 2] } };
  assertEquals(
    await text(state, { key: "place", path: "bbox.2.x" }),
    'There is nothing at "/bbox/2" in "place". What is there: "0 to 1".',
  );
  assertEquals(
    await text(state, { path: "/place/nam" }),
    'There is nothing at "/place/nam". What is there: "name", "bbox".',
  );
  assertEquals(
    await text(state, { key: "place", path: "name.x" }),
    'There is nothing at "/name/x" in "place". What is above it is empty or no container.',
  );
  await assertRejects(() => text(state, { key: "place", path: "a..b" }), InvalidInput, "empty segment");
});

Deno.test("readStateKey: up to 4,000 characters whole, beyond that an outline", async () => {
  const whole = "x".repeat(MAX_CHARS - 2);
  assertEquals(await text({ a: whole }, { key: "a" }), JSON.stringify(whole));
  const longer = await readStateKey(viewOf({ a: whole + "x" }), { key: "a" });
  assertEquals(
    [longer.outcome, (longer as OutlinedValue).outline, (longer as OutlinedValue).chars],
    ["outline", "str(3999 chars)", 4001],
  );
  // Characters that are not ASCII cost two.
  assertEquals((await readStateKey(viewOf({ a: "東".repeat(1_999) }), { key: "a" })).outcome, "value");
  assertEquals((await readStateKey(viewOf({ a: "東".repeat(2_000) }), { key: "a" })).outcome, "outline");
});

Deno.test("readStateKey: an outline fits, and names the call to make next", async () => {
  const state = { rows: Array.from({ length: 5_000 }, (_, i) => ({ id: i, name: `東京 ${i}` })) };
  const reading = await readStateKey(viewOf(state), { key: "rows" });
  assert(reading.outcome === "outline" && textCost(reading.outline) <= MAX_CHARS);
  assertStringIncludes(reading.outline, "list[5000] of dict(2 keys: id, name)");
  assertStringIncludes(renderReading(reading), "Read a part with path");
});

Deno.test("readStateKey: a listing of many keys is cut, and says by how many", async () => {
  const state = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`key ${i}`, i]));
  const reading = await readStateKey(viewOf(state), {});
  assert(reading.outcome === "keys" && reading.keys.length > 100);
  assertEquals(reading.keys.length + reading.omitted, 10_000);
  assertStringIncludes(renderReading(reading), `… ${reading.omitted} more keys left out`);
});

Deno.test("readStateKey: data URIs are replaced by a marker everywhere", async () => {
  const uri = `data:image/png;base64,${"QUJD".repeat(3_000)}`;
  const state = { map: uri, tiles: [{ src: uri }], html: `see <img src="${uri}">!` };
  const marker = `<data:image/png ${uri.length} chars>`;
  assertEquals(await text(state, { key: "map" }), JSON.stringify(marker));
  assertEquals(await text(state, { key: "tiles" }), JSON.stringify([{ src: marker }]));
  assertEquals(await text(state, { key: "html" }), JSON.stringify(`see <img src="${marker}">!`));
  assertStringIncludes(await text(state), `map: ${marker}\ntiles: list[1] of dict(1 key: src)`);
  assertEquals(
    await text(state, { pattern: "png" }),
    [
      '3 matches for "png":',
      `/map = "${marker}"`,
      `/tiles/0/src = "${marker}"`,
      `/html = ${JSON.stringify(`see <img src="${marker}">!`)}`,
    ].join("\n"),
  );
  assertEquals(await text(state, { pattern: "QUJD" }), 'None of 3 lines matches "QUJD".');
  const compared = await compareStates(viewOf({ map: 1 }), viewOf(state), { key: "map" });
  assert(!JSON.stringify(toWireReading(compared)).includes("QUJD"));
  assert(!renderReading(compared).includes("QUJD"));
});

Deno.test("readStateKey: an evicted key is not one that never was", async () => {
  const evicted = new Map([["bbox", { turn: 2, until: 3, writer: "get_aoi" }]]);
  assertEquals(
    await text({}, { key: "bbox" }, { evicted }),
    '"bbox" was evicted: it was written, last by get_aoi, and its value was dropped to make room. ' +
      "To have it again, run what wrote it.",
  );
  assertStringIncludes(
    await text({}, { key: "bbox" }, { evicted, readable: { turns: [{ from: 1, to: 3 }] } }),
    "turn=2 reads it as it was",
  );
  assertEquals(await text({ a: 1 }, {}, { evicted }), "a: 1\nbbox: evicted");
});

Deno.test("compareStates: a difference that is too long is told by lines", async () => {
  const rows = (from: number) =>
    Array.from({ length: 300 }, (_, i) => ({ id: i, name: `row ${i * from}`, text: "x".repeat(200) }));
  const compared = await compareStates(viewOf({ rows: rows(1) }), viewOf({ rows: rows(7) }), {});
  assert(compared.difference?.as === "lines");
  assertEquals(compared.difference.lines[0], 'replace "/rows/1/name": "row 7"');
  assertEquals(compared.difference.lines.length + compared.difference.omitted, 299);
});

const json = fc.json({ maxDepth: 4 }).map((text): JsonValue => JSON.parse(text));
const key = fc.oneof(
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.constantFrom("__proto__", "constructor", "a/b", "a.b", "", "*", "~", "\n"),
);
const state = fc.array(fc.tuple(key, json), { maxLength: 8 }).map((entries): JsonObject => Object.fromEntries(entries));
const pattern = fc.option(
  fc.oneof(fc.string({ maxLength: 20 }), fc.constantFrom("(", ".", "[^x]", "(a|aa)+$", "\\d")),
  {
    nil: undefined,
  },
);

Deno.test("property: no key makes a reading throw, and none is over its limit", async () => {
  await fc.assert(
    fc.asyncProperty(state, key, fc.boolean(), pattern, fc.integer({ min: 200, max: 4_000 }), async (...drawn) => {
      const [state, key, isKnown, pattern, maxChars] = drawn;
      const keys = countWrites(written(key, 1), Object.keys(state), { version: 2, turn: 2, writer: key }, state);
      const view = viewOf(state, { where: { as: "version", version: 2 }, ...(isKnown ? { keys } : {}) });
      const reading = await readStateKey(view, { key, pattern, maxChars });
      const limit = 2 * maxChars + 3_000;
      assert(textCost(renderReading(reading)) <= limit);
      assert(textCost(JSON.stringify(toWireReading(reading))) <= 2 * limit);
      const compared = await compareStates(view, viewOf(state), { key, pattern, maxChars });
      assert(textCost(renderReading(compared)) <= 3 * limit);
    }),
    { numRuns: 300 },
  );
});

Deno.test("property: every own key is read back as it is", async () => {
  await fc.assert(
    fc.asyncProperty(state, async (state) => {
      for (const key of Object.keys(state)) {
        if (key === "*") continue;
        const reading = await readStateKey(viewOf(state), { key });
        if (reading.outcome === "value" && !JSON.stringify(state[key]).includes("data:")) {
          assertEquals(reading.value, state[key]);
        } else assert(["value", "outline"].includes(reading.outcome));
      }
    }),
  );
});
