import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import {
  advance,
  decodeBody,
  EMPTY,
  encodeBody,
  type Entry,
  ENTRY_OVERHEAD,
  entryBytes,
  fold,
  type Folded,
  isKeyframeDue,
  KEYFRAME_SLACK,
  toPatch,
} from "../../src/document/journal.ts";
import type { KeyWrites } from "../../src/document/key_writes.ts";
import { jsonBytes, type JsonObject } from "../../src/document/json.ts";
import { applyJsonPatch, type JsonPatch } from "../../src/document/json_patch.ts";

const COPENHAGEN: JsonObject = { city: "Copenhagen", stops: ["Nyhavn"] };

function sized(state: JsonObject) {
  return { state, bytes: jsonBytes(state) };
}

/** An entry of which only version, writer, turn and body matter. */
function entry(version: number, body: unknown, { turn = 0, writer = "laptop" } = {}): Entry {
  return {
    version,
    writeId: `w${version}`,
    at: version,
    turn,
    writer,
    seq: version,
    offset: 0,
    body: JSON.stringify(body),
  };
}

const TRIP: Entry[] = [
  entry(1, COPENHAGEN),
  entry(2, [{ op: "replace", path: "/city", value: "Aarhus" }], { turn: 1, writer: "phone" }),
  entry(3, [{ op: "add", path: "/stops/-", value: "ARoS" }, { op: "add", path: "/days", value: 2 }], { turn: 1 }),
  entry(4, { city: "Odense", stops: ["Nyhavn", "ARoS"] }, { turn: 3 }),
];

Deno.test("fold: gives state, size and every key's past", () => {
  const { state, bytes, version, writeId, keys } = fold(EMPTY, TRIP);
  assertEquals({ state, bytes, version, writeId }, {
    ...sized({ city: "Odense", stops: ["Nyhavn", "ARoS"] }),
    version: 4,
    writeId: "w4",
  });
  const first = { version: 1, turn: 0 };
  assertEquals(
    new Map(keys),
    new Map<string, KeyWrites>([
      ["city", {
        versions: 3,
        turns: 2,
        first,
        last: { version: 4, turn: 3, writer: "laptop" },
        recentTurns: [1, 3],
        previous: { turn: 1, until: { version: 4, turn: 3 } },
      }],
      ["stops", {
        versions: 2,
        turns: 1,
        first,
        last: { version: 3, turn: 1, writer: "laptop" },
        recentTurns: [1],
        previous: { turn: 0, until: { version: 3, turn: 1 } },
      }],
      ["days", {
        versions: 2,
        turns: 2,
        first: { version: 3, turn: 1 },
        last: { version: 4, turn: 3, writer: "laptop" },
        recentTurns: [1, 3],
        previous: { turn: 1, until: { version: 4, turn: 3 } },
        isRemoved: true,
      }],
    ]),
  );
});

Deno.test("fold: goes on from any version, and leaves it as it was", () => {
  const whole = fold(EMPTY, TRIP);
  for (let at = 1; at < 4; at++) {
    const base = fold(EMPTY, TRIP.slice(0, at));
    const before = JSON.stringify(base.state);
    assertEquals(fold(base, TRIP.slice(at)), whole);
    assertEquals([JSON.stringify(base.state), base.version, Object.isFrozen(base.state)], [before, at, true]);
  }
  assertStrictEquals(fold(whole, []), whole);
});

Deno.test("fold: shares what it does not touch", () => {
  const base = fold(EMPTY, TRIP.slice(0, 1));
  assertStrictEquals(fold(base, TRIP.slice(1, 2)).state.stops, base.state.stops);
});

Deno.test("fold: refuses a gap, a repetition and a damaged entry", () => {
  const base = fold(EMPTY, TRIP.slice(0, 1));
  const wrong: [Folded, Entry[]][] = [
    [EMPTY, TRIP.slice(1)],
    [base, TRIP.slice(2)],
    [base, TRIP],
    [base, [TRIP[1], TRIP[3]]],
    [base, [entry(2, [{ op: "replace", path: "/absent", value: 1 }])]],
    [base, [entry(2, [{ op: "move", path: "/city", from: "/stops" }])]],
    [base, [entry(2, [{ op: "add", path: "/city" }])]],
    [base, [entry(2, [{ op: "remove", path: "" }])]],
    [base, [entry(2, [{ op: "replace", path: "", value: [] }])]],
    [base, [entry(2, "text")]],
    [base, [entry(2, null)]],
    [base, [entry(2, [1])]],
  ];
  for (const [onto, entries] of wrong) assertThrows(() => fold(onto, entries), TypeError);
  assertThrows(() => fold(base, [{ ...entry(2, 0), body: "{" }]), SyntaxError);
});

Deno.test("advance: makes what a fold of the entry makes", () => {
  let folded = EMPTY;
  const patches: [JsonPatch, number, string][] = [
    [[{ op: "replace", path: "", value: COPENHAGEN }], 0, "laptop"],
    [[{ op: "replace", path: "/city", value: "Aarhus" }], 1, "phone"],
    [[{ op: "remove", path: "/stops" }, { op: "add", path: "/a~1b", value: null }], 1, "laptop"],
    [[{ op: "replace", path: "", value: { city: "Aarhus", "": "x".repeat(2_000) } }], 2, "phone"],
  ];
  const entries: Entry[] = [];
  for (const [patch, turn, writer] of patches) {
    const after = applyJsonPatch(folded, patch);
    entries.push({ ...entry(entries.length + 1, 0, { turn, writer }), body: encodeBody(patch, after) });
    folded = advance(folded, { patch, after, writeId: `w${entries.length}`, writer, turn });
    assertEquals(folded, fold(EMPTY, entries));
  }
  assertEquals([...folded.keys.keys()].sort(), ["", "a/b", "city", "stops"]);
});

Deno.test("encodeBody: is the patch, or the state where that is shorter and it counts", () => {
  const small = sized({ n: 1 });
  const patch: JsonPatch = [{ op: "replace", path: "/n", value: 1 }];
  assertEquals(encodeBody(patch, small), '[{"op":"replace","path":"/n","value":1}]');
  const many: JsonPatch = Array.from({ length: 40 }, (_, i) => ({ op: "remove", path: `/key ${i}` }));
  assertEquals(encodeBody(many, small), '{"n":1}');
  const large = sized({ notes: "n".repeat(5_000) });
  assertEquals(decodeBody(encodeBody(many, large)), { patch: many });
  const root: JsonPatch = [{ op: "replace", path: "", value: large.state }];
  assertEquals(decodeBody(encodeBody(root, large)), { state: large.state });
  assertEquals(toPatch({ state: large.state }), root);
  assertEquals(toPatch({ patch }), patch);
});

Deno.test("entryBytes: charges UTF-8 bytes and an overhead", () => {
  assertEquals(entryBytes('{"by":"København 東京 🦊"}'), 31 + ENTRY_OVERHEAD);
  assertEquals(entryBytes(""), ENTRY_OVERHEAD);
});

Deno.test("isKeyframeDue: when reading would fetch more than twice the state and some slack", () => {
  const base = { version: 5, bytes: 1_000, offset: 50_000 };
  const most = 2 * 3_000 + KEYFRAME_SLACK - base.bytes;
  assertEquals(isKeyframeDue(base, 50_000 + most, 3_000), false);
  assertEquals(isKeyframeDue(base, 50_000 + most + 1, 3_000), true);
  assertEquals(isKeyframeDue({ ...base, bytes: 100_000 }, 50_100, 10), true);
});

Deno.test("fold: a key's past does not depend on where the fold began", () => {
  const keys = Array.from({ length: 400 }, (_, i) => `k${i}`);
  const entries = [
    entry(1, Object.fromEntries(keys.map((key) => [key, 1]))),
    ...keys.map((key, i) => entry(i + 2, [{ op: "remove", path: `/${key}` }])),
    entry(402, [{ op: "add", path: "/k0", value: 2 }]),
  ];
  const whole = fold(EMPTY, entries);
  for (const middle of [2, 200, 300, 401]) {
    const base = fold(EMPTY, entries.slice(0, middle));
    assertEquals(new Map(fold(base, entries.slice(middle)).keys), new Map(whole.keys));
  }
});

Deno.test("encodeBody: takes the patch as long as its text is no longer than the state, to the character", () => {
  for (const op of ["replace", "add"] as const) {
    for (const value of ["n".repeat(3_000), '"'.repeat(3_000), "日".repeat(3_000)]) {
      const patch: JsonPatch = [{ op: "remove", path: "/old" }, { op, path: "/note", value }];
      const { length } = JSON.stringify(patch);
      for (const bytes of [length - 1, length, length + 1]) {
        const isPatch = encodeBody(patch, { state: { note: value }, bytes }).startsWith("[");
        assertEquals(isPatch, length <= bytes);
      }
    }
  }
});
