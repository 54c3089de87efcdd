import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import type { Folded } from "../../src/document/journal.ts";
import { jsonBytes, type JsonObject } from "../../src/document/json.ts";
import type { KeyWrites } from "../../src/document/key_writes.ts";
import { decodeKeyframe, encodeKeyframe, firstEntry } from "../../src/document/keyframe.ts";

const WRITES: KeyWrites = {
  versions: 3,
  turns: 2,
  first: { version: 1, turn: 0 },
  last: { version: 7, turn: 4, writer: "phone" },
  recentTurns: [2, 4],
};

function folded(state: JsonObject, keys: [string, KeyWrites][]): Folded {
  return { version: 7, writeId: "w7", state, bytes: jsonBytes(state), keys: new Map(keys) };
}

const TRIP = folded({ city: "Aarhus", "": null, "a/b": [1] }, [
  ["city", WRITES],
  ["", { ...WRITES, versions: 1 }],
  ["a/b", { ...WRITES, previous: { turn: 2, until: { version: 7, turn: 4 } } }],
  ["gone", {
    ...WRITES,
    last: { version: 6, turn: 3, writer: "laptop" },
    previous: { turn: 2, until: { version: 6, turn: 3 } },
    isRemoved: true,
  }],
]);

Deno.test("decodeKeyframe: gives back what was encoded, frozen", () => {
  const keyframe = encodeKeyframe(TRIP);
  assertEquals([keyframe.version, keyframe.writeId, keyframe.bytes], [7, "w7", TRIP.bytes]);
  const decoded = decodeKeyframe(keyframe);
  assertEquals(decoded, TRIP);
  assert(Object.isFrozen(decoded?.state) && Object.isFrozen(decoded?.state["a/b"]));
  const empty = folded({}, []);
  assertEquals(decodeKeyframe(encodeKeyframe(empty)), empty);
});

Deno.test("decodeKeyframe: knows nothing of another format or of a damaged record", () => {
  const keyframe = encodeKeyframe(TRIP);
  const { body } = keyframe;
  const bodies = [
    "",
    "{",
    "null",
    "[]",
    "5",
    "{}",
    body.slice(0, -1),
    body.replace('"format":2', '"format":1'),
    body.replace('"format":2', '"format":"2"'),
    body.replace(/"runs":\[.*?\]\]/, '"runs":[]'),
    body.replace(/"gone":\[.*?\]\]/, '"gone":null'),
    body.replace('"state":{', '"state":{"more":1,'),
    body.replace(/"state":.*/, '"state":[]}'),
  ];
  for (const each of bodies) {
    assert(each !== body, "every one is another");
    assertEquals(decodeKeyframe({ ...keyframe, body: each }), undefined, each);
  }
});

Deno.test("encodeKeyframe: leaves the state to an entry that holds it, and is nothing without that entry", () => {
  const { version, writeId, state } = TRIP;
  const whole = { version, writeId, at: 1, turn: 4, writer: "phone", body: JSON.stringify(state) };
  const keyframe = encodeKeyframe(TRIP, whole.body);
  assertEquals([keyframe.version, keyframe.writeId, keyframe.bytes], [7, "w7", TRIP.bytes]);
  assert(!keyframe.body.includes("Aarhus"));
  assertEquals(firstEntry(keyframe), 7);
  assertEquals(decodeKeyframe(keyframe, whole), TRIP);
  const patch = '[{"op":"add","path":"/city","value":"Aarhus"}]';
  for (const entry of [undefined, { ...whole, writeId: "lost" }, { ...whole, body: patch }, { ...whole, body: "{" }]) {
    assertEquals(decodeKeyframe(keyframe, entry), undefined);
  }
  const beside = encodeKeyframe(TRIP, patch);
  assertEquals([beside, firstEntry(beside)], [encodeKeyframe(TRIP), 8]);
  assertEquals(decodeKeyframe(beside, { ...whole, writeId: "lost" }), TRIP);
});

Deno.test("encodeKeyframe: of keys that were written together costs next to nothing for their past", () => {
  const keys = Array.from({ length: 10_000 }, (_, i) => `key ${i}`);
  const state = Object.fromEntries(keys.map((key, i) => [key, i]));
  const large = folded(state, keys.map((key, i) => [key, i < 9_000 ? WRITES : { ...WRITES, versions: 9 }]));
  const { body, bytes } = encodeKeyframe(large);
  assert(body.length < bytes + 300, `${body.length} for ${bytes}`);
  assertEquals(decodeKeyframe(encodeKeyframe(large)), large);
});

Deno.test("encodeKeyframe: keeps the past of any keys", () => {
  const turn = fc.nat(9);
  const plain = { noNullPrototype: true };
  const writes: fc.Arbitrary<KeyWrites> = fc.record({
    versions: fc.integer({ min: 1, max: 5 }),
    turns: turn,
    first: fc.record({ version: fc.integer({ min: 1, max: 9 }), turn }, plain),
    last: fc.record({
      version: fc.integer({ min: 1, max: 9 }),
      turn,
      writer: fc.constantFrom("phone", "laptop", "", "電話", '"\\'),
    }, plain),
    recentTurns: fc.array(turn, { maxLength: 16 }),
  }, plain);
  const stood = fc.record({ turn, until: fc.record({ version: fc.integer({ min: 1, max: 9 }), turn }, plain) }, plain);
  const previous = fc.option(stood, { nil: undefined });
  const name = fc.oneof(fc.constantFrom("0", "10", "9", "a", "", "constructor", "toString", "東京"), fc.string())
    .filter((key) => key !== "__proto__")
    .map((key) => key.toWellFormed());
  fc.assert(
    fc.property(fc.uniqueArray(fc.tuple(name, writes, fc.boolean(), previous), { selector: ([key]) => key }), (all) => {
      const state = Object.fromEntries(all.filter(([, , present]) => present).map(([key]) => [key, key]));
      const past = all.map(([key, each, present, previous]): [string, KeyWrites] => [key, {
        ...each,
        ...(previous === undefined ? {} : { previous }),
        ...(present ? {} : { isRemoved: true }),
      }]);
      const before = folded(state, past);
      const { keys, ...rest } = before;
      const after = decodeKeyframe(JSON.parse(JSON.stringify(encodeKeyframe(before))));
      assert(after !== undefined);
      const { keys: decoded, ...others } = after;
      assertEquals(others, rest);
      assertEquals(new Map([...decoded].sort()), new Map([...keys].sort()));
    }),
  );
});

Deno.test("encodeKeyframe: refuses a state of which the past is unknown", () => {
  assertThrows(() => encodeKeyframe(folded({ city: "Aarhus" }, [])), TypeError);
});
