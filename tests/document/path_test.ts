import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import fc from "fast-check";
import { InvalidInput, PathNotFound } from "../../src/document/errors.ts";
import {
  childAt,
  firstToken,
  parsePath,
  pointerToken,
  resolvePath,
  toIndex,
  toPointer,
} from "../../src/document/path.ts";

Deno.test("parsePath: the empty path is the root", () => {
  assertEquals(parsePath(""), []);
});

Deno.test("parsePath: dotted segments, among them indexes", () => {
  assertEquals(parsePath("profile.tags.0"), ["profile", "tags", "0"]);
  assertEquals(parsePath("a/b.c~d"), ["a/b", "c~d"]);
});

Deno.test("parsePath: JSON Pointers reach every key", () => {
  assertEquals(parsePath("/"), [""]);
  assertEquals(parsePath("//a"), ["", "a"]);
  assertEquals(parsePath("/a.b/0"), ["a.b", "0"]);
  assertEquals(parsePath("/a~1b/~0"), ["a/b", "~"]);
  assertEquals(parsePath("/~01"), ["~1"]);
});

Deno.test("parsePath: a bad escape, an empty segment, a lone surrogate are refused, naming the field", () => {
  for (const path of ["/a~", "/~2", "/a/~x/b", "a..b", ".a", "a.", ".", "a\ud800", "/\udc00"]) {
    assertEquals(assertThrows(() => parsePath(path, "ops"), InvalidInput).field, "ops", path);
  }
  assertStringIncludes(assertThrows(() => parsePath("a..b"), InvalidInput).message, "JSON Pointer");
});

Deno.test("toPointer: parsePath reads back any path", () => {
  fc.assert(fc.property(fc.array(fc.string({ unit: "grapheme" })), (path) => {
    assertEquals(parsePath(toPointer(path)), path);
  }));
});

Deno.test("pointerToken: escapes ~ before /", () => {
  assertEquals(pointerToken("a/b~c~1"), "a~1b~0c~01");
});

Deno.test("toIndex: digits without sign or leading zeros, within the array", () => {
  assertEquals(["0", "2", "3", "-", "-1", "+1", "01", "1.0", "1e0", "", " 1"].map((token) => toIndex(token, 3)), [
    0,
    2,
    ...Array(9).fill(undefined),
  ]);
});

Deno.test("childAt: own keys and items only", () => {
  assertEquals(childAt({ a: null }, "a"), null);
  assertEquals(childAt({}, "constructor"), undefined);
  assertEquals(childAt([1, 2], "1"), 2);
  assertEquals(childAt([1, 2], "length"), undefined);
  assertEquals(childAt("text", "0"), undefined);
  assertEquals(childAt(null, "a"), undefined);
});

Deno.test("resolvePath: through objects and arrays to the value", () => {
  const state = { days: [{ city: "Copenhagen" }, { city: "Aarhus" }], "": { "0": "x" } };
  assertEquals(resolvePath(state, []), state);
  assertEquals(resolvePath(state, parsePath("days.1.city")), "Aarhus");
  assertEquals(resolvePath(state, parsePath("//0")), "x");
});

Deno.test("resolvePath: says where the path failed and what is there", () => {
  const state = { days: [{ city: "Copenhagen" }, { city: "Aarhus" }], empty: [], one: [1], n: 1 };
  const failure = (path: string) => assertThrows(() => resolvePath(state, parsePath(path)), PathNotFound).toPayload();
  const facts = (path: string) => {
    const { path: whole, failed_at, available } = failure(path);
    return { whole, failed_at, available };
  };
  assertEquals(facts("dayz.0"), { whole: "/dayz/0", failed_at: "/dayz", available: ["days", "empty", "one", "n"] });
  assertEquals(facts("days.2.city"), { whole: "/days/2/city", failed_at: "/days/2", available: ["0 to 1"] });
  assertEquals(facts("days.0.town"), { whole: "/days/0/town", failed_at: "/days/0/town", available: ["city"] });
  assertEquals(facts("empty.0"), { whole: "/empty/0", failed_at: "/empty/0", available: [] });
  assertEquals(facts("one.1"), { whole: "/one/1", failed_at: "/one/1", available: ["0"] });
  assertEquals(facts("n.x.y"), { whole: "/n/x/y", failed_at: "/n/x", available: [] });
});

Deno.test("resolvePath: names at most 20 of many keys, long ones shortened", () => {
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`key${i}`.padEnd(200, "x"), i]));
  const { available } = assertThrows(() => resolvePath(many, ["none"]), PathNotFound);
  assertEquals(available.length, 20);
  assertEquals(available[19], "… 481 more");
  assertEquals(available[0].length, 80);
});

Deno.test("firstToken: what parsePath finds first", () => {
  for (const path of ["", "/", "/a", "/a/b", "/a~1b~0c/d", "/a/~01", "//", "a", "a.b", "a.b/c", "a/b.c"]) {
    assertEquals(firstToken(path), parsePath(path)[0], path);
  }
});
