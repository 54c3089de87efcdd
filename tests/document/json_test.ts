import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  canonicalJson,
  equal,
  freeze,
  isArray,
  isObject,
  jsonBytes,
  type JsonValue,
  ownValue,
  stringBytes,
  typeName,
} from "../../src/document/json.ts";

const utf8 = (text: string) => new TextEncoder().encode(text).length;
const parse = (value: unknown): JsonValue => JSON.parse(JSON.stringify(value));

Deno.test("stringBytes: every control character, quote and escape as JSON writes it", () => {
  for (let code = 0; code < 0x100; code++) {
    const text = String.fromCharCode(code);
    assertEquals(stringBytes(text), utf8(JSON.stringify(text)), `U+${code.toString(16)}`);
  }
});

Deno.test("stringBytes: text beyond the basic plane is four bytes a character", () => {
  for (const text of ["", "é", "København", "日本語", "\u2028\u2029\ufeff\uffff", "😀", "a😀b🏳️‍🌈c"]) {
    assertEquals(stringBytes(text), utf8(JSON.stringify(text)));
  }
});

Deno.test("stringBytes: UTF-8 length of any well-formed text", () => {
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "binary", minLength: 60, maxLength: 300 }));
  fc.assert(fc.property(text, (text) => stringBytes(text) === utf8(JSON.stringify(text))));
});

Deno.test("jsonBytes: UTF-8 length of the compact JSON of any value", () => {
  fc.assert(fc.property(fc.jsonValue({ stringUnit: "binary" }).map(parse), (value) => {
    assertEquals(jsonBytes(value), utf8(JSON.stringify(value)));
  }));
});

Deno.test("jsonBytes: numbers as JSON writes them", () => {
  for (const number of [0, -0, 1, -1.5, 1e21, 1e-7, 5e-324, Number.MAX_VALUE, Number.MAX_SAFE_INTEGER]) {
    assertEquals(jsonBytes(number), JSON.stringify(number).length);
  }
});

Deno.test("equal: the order of keys does not count", () => {
  assert(equal({ a: 1, b: [{ c: null, d: "x" }] }, { b: [{ d: "x", c: null }], a: 1 }));
});

Deno.test("equal: values of different types differ", () => {
  const values: JsonValue[] = [0, 1, "", "0", "1", true, false, null, [], {}, [1], { 0: 1 }, [null], [[]]];
  for (const [i, a] of values.entries()) {
    for (const [j, b] of values.entries()) assertEquals(equal(a, b), i === j, JSON.stringify([a, b]));
  }
});

Deno.test("equal: null is not absent, and inherited names are not keys", () => {
  assert(!equal({ a: null }, {}));
  assert(!equal({ a: null }, { b: null }));
  assert(!equal({ toString: 1 }, { valueOf: 1 }));
});

Deno.test("equal: agrees with canonicalJson", () => {
  fc.assert(fc.property(fc.jsonValue().map(parse), fc.jsonValue().map(parse), (a, b) => {
    assertEquals(equal(a, b), canonicalJson(a) === canonicalJson(b));
    assert(equal(a, parse(a)));
  }));
});

Deno.test("canonicalJson: one text whatever the order of keys", () => {
  assertEquals(canonicalJson({ b: 1, a: [{ d: null, c: "é" }] }), '{"a":[{"c":"é","d":null}],"b":1}');
});

Deno.test("freeze: freezes all the way down, in place", () => {
  const value = parse({ a: [{ b: {} }], c: [] });
  assert(freeze(value) === value);
  assertDeepFrozen(value);
});

Deno.test("ownValue: finds data, not what every object inherits", () => {
  assertEquals(ownValue({}, "constructor"), undefined);
  assertEquals(ownValue({ constructor: 1 }, "constructor"), 1);
});

Deno.test("typeName, isObject, isArray: tell null, arrays and objects apart", () => {
  assertEquals([null, [], {}, "", 0, true].map(typeName), ["null", "array", "object", "string", "number", "boolean"]);
  assertEquals([null, [], {}, ""].map(isObject), [false, false, true, false]);
  assertEquals([null, [], {}, ""].map(isArray), [false, true, false, false]);
});

function assertDeepFrozen(value: JsonValue): void {
  assert(Object.isFrozen(value));
  if (typeof value === "object" && value !== null) Object.values(value).forEach(assertDeepFrozen);
}
