/**
 * The parsers of values, paths, operations, times, cursors, routes and patterns, given anything.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { admitState } from "../../src/document/admit.ts";
import {
  checkHandle,
  checkInteger,
  checkKind,
  checkQuery,
  checkRequestId,
  checkTime,
  checkTitle,
  checkTtl,
  checkTtlChange,
  checkUser,
  checkWriter,
  checkWriteTurn,
} from "../../src/document/checks.ts";
import { compileOps } from "../../src/document/compile.ts";
import type { JsonObject } from "../../src/document/json.ts";
import { parseOps } from "../../src/document/parse_ops.ts";
import { firstToken, parsePath, resolvePath, toPointer } from "../../src/document/path.ts";
import { search } from "../../src/history/matches.ts";
import { compilePattern } from "../../src/history/pattern.ts";
import { parseThreadRoute } from "../../src/server/http/threads.ts";
import { decodeWatchCursor, encodeWatchCursor } from "../../src/store/watch_cursor.ts";
import { hostileJson, hostileText, hostileValue, spoilt } from "./hostile.ts";
import { always, attempt } from "./rule.ts";

const ops = fc.array(
  fc.constantFrom<object>(
    { op: "append", path: "items", value: { tea: 1 } },
    { op: "set_key", path: "", key: "city", value: "Aarhus", create: true },
    { op: "del_key", path: "/places", key: "a/b" },
    { op: "merge", mapping: { a: 1 }, path: "places" },
    { op: "increment", path: "/n", by: 2 },
    { op: "add_to_set", path: "items", value: 7 },
    { op: "remove", path: "items", value: 7 },
  ),
  { minLength: 1, maxLength: 4 },
);
const admitted = admitState({ items: [7, { tea: 1 }], places: { "a/b": 1 }, n: 0 });
const state = { state: admitted.value, bytes: admitted.bytes };

Deno.test("operations: whatever is sent is refused by its field, or parsed and applied to a copy", async () => {
  const judge = async (input: unknown) => {
    const parsed = await attempt(() => parseOps(input));
    if (parsed === undefined) return;
    assert(Array.isArray(input) && parsed.value.length === input.length);
    await attempt(() => compileOps(state, parsed.value));
    assertEquals(state.state, { items: [7, { tea: 1 }], places: { "a/b": 1 }, n: 0 });
  };
  await always(spoilt(ops), judge, 1_000);
  await always(spoilt(ops, hostileValue), judge, 500);
  await always(hostileValue, judge);
  await always(ops, async (input) => assert(await attempt(() => parseOps(input)) !== undefined), 50);
});

Deno.test("state: whatever is passed is refused with its place, or is JSON, a copy, and measured", async () => {
  const valid = fc.constant({ items: [1, "two", { three: null }], deep: { deeper: { deepest: true } } });
  const judge = async (input: unknown) => {
    const admitted = await attempt(() => admitState(input));
    if (admitted === undefined) return;
    const { value, bytes } = admitted.value;
    const text = JSON.stringify(value);
    assertEquals(new TextEncoder().encode(text).length, bytes);
    assertEquals(JSON.parse(text), value);
    assert(Object.isFrozen(value) && value !== input);
    assert(!text.includes('"__proto__":'));
  };
  await always(spoilt(valid), judge, 500);
  await always(spoilt(valid, hostileValue), judge, 500);
  await always(hostileValue, judge, 500);
});

Deno.test("paths: are refused, or lead somewhere or nowhere, and come back as the pointers that they are", async () => {
  const root: JsonObject = JSON.parse('{"constructor": {"a/b": [1, 2]}, "": {"0": "x"}, "~": [[[]]]}');
  const paths = fc.oneof(
    hostileText,
    fc.array(fc.constantFrom("constructor", "a~1b", "", "0", "1", "-", "~0", "__proto__", "~", "length")).map((
      tokens,
    ) => "/" + tokens.join("/")),
    fc.array(fc.constantFrom("constructor", "0", "toString", "__proto__", "~")).map((tokens) => tokens.join(".")),
  );
  await always(paths, async (path) => {
    const parsed = await attempt(() => parsePath(path));
    if (parsed === undefined) return;
    const tokens = parsed.value;
    assertEquals(parsePath(toPointer(tokens)), tokens);
    assertEquals(firstToken(path), tokens[0]);
    const found = await attempt(() => resolvePath(root, tokens));
    if (found === undefined) return;
    assert(typeof found.value !== "function" && found.value !== Object.prototype);
  }, 1_000);
});

Deno.test("single values: each check takes what it is for and refuses the rest by its field", async () => {
  const checks: readonly (readonly [name: string, check: (value: unknown) => unknown, good: readonly unknown[]])[] = [
    ["user", checkUser, ["alice", "*", "__proto__", "a:b/c{d}%#"]],
    ["writer", checkWriter, ["phone"]],
    ["title", checkTitle, ["Cart", undefined]],
    ["query", checkQuery, ["tea", undefined]],
    ["request id", checkRequestId, ["r-1", undefined]],
    ["handle", checkHandle, ["cart_k3x9q2ma"]],
    ["kind", checkKind, ["cart", "constructor"]],
    ["ttl", checkTtl, [1, 5e-324, 36_525]],
    ["new ttl", checkTtlChange, [null, undefined, 0.5]],
    ["turn", checkWriteTurn, [1, undefined]],
    ["integer", (value) => checkInteger("limit", value, 1, 100), [1, 100]],
    ["time", (value) => checkTime("at", value), [0, new Date(0), "2026-07-28", "2024-02-29T23:59:59.999+14:00"]],
  ];
  for (const [name, check, good] of checks) {
    for (const value of good) assert(await attempt(() => check(value)) !== undefined, name);
    await always(hostileValue, async (value) => {
      const taken = await attempt(() => check(value));
      if (taken !== undefined && typeof value === "string" && name !== "time") assertEquals(taken.value, value);
    });
  }
});

Deno.test("cursors of a watch: only what was given out to this user is taken", async () => {
  const given = encodeWatchCursor({ seq: 7, last: { id: "cart_1", version: 2, writeId: "w" } }, "alice");
  assertEquals(decodeWatchCursor(given, "alice").seq, 7);
  assertEquals(await attempt(() => decodeWatchCursor(given, "bob")), undefined);
  const broken = fc.oneof(
    hostileValue,
    fc.tuple(fc.nat(given.length), fc.string({ maxLength: 3 })).map(([at, text]) =>
      given.slice(0, at) + text + given.slice(at + 1)
    ),
    hostileJson.map((value) =>
      new TextEncoder().encode(JSON.stringify(value) ?? "").toBase64({ alphabet: "base64url" })
    ),
  );
  await always(broken, async (text) => {
    const taken = await attempt(() => decodeWatchCursor(text as string, "alice"));
    if (taken !== undefined) assert(Number.isSafeInteger(taken.value.seq));
  }, 500);
});

Deno.test("routes of threads: any path is one or is none", async () => {
  const parts = fc.array(
    fc.oneof(hostileText, fc.constantFrom("threads", "turns", "state", "%2F", "%00", "%ff", "..")),
  );
  await always(parts, async (each) => {
    for (const path of [`/${each.join("/")}`, `/threads/${each.join("/")}`, `/threads/t/state/${each.join("/")}`]) {
      const route = (await attempt(() => parseThreadRoute(path)))?.value;
      if (route !== undefined) assert(typeof route.handle === "string");
    }
  });
});

Deno.test("patterns: of whatever sort, are searched for in the time that the text allows", async () => {
  const atoms = fc.constantFrom(
    "a",
    "(",
    ")",
    "*",
    "+",
    "{1000}",
    "{2,}",
    "|",
    "[",
    "]",
    "^",
    "$",
    "\\",
    "(?i)",
    "(?=",
    ".",
    "\\p{L}",
  );
  const patterns = fc.oneof(fc.array(atoms, { maxLength: 12 }).map((parts) => parts.join("")), hostileText);
  const texts: JsonObject = {
    a: "a".repeat(20_000),
    b: "ab".repeat(5_000),
    c: { d: [["a", 1, null]] },
    "\u2028": "\n",
  };
  await always(patterns, async (source) => {
    const pattern = (await attempt(() => compilePattern(source)))?.value;
    if (pattern === undefined) return assert(source.length > 500);
    const { total, searched, unsearched, lines } = search(texts, [], pattern, 4_000);
    assert(total <= searched && searched + unsearched === 6 && lines.length <= 50);
  }, 400);
});
