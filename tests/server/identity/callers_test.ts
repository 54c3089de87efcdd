/**
 * Names of users: no two callers share one, and none is the server's own.
 *
 * @module
 */

import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { checkUser } from "../../../src/document/checks.ts";
import { InvalidInput } from "../../../src/document/errors.ts";
import { checkCaller, handleUser, subjectUser, TOKENS_USER } from "../../../src/server/identity/callers.ts";

Deno.test("subjectUser: no two pairs share a user, wherever the line between them is", () => {
  const pairs = [
    ["a/b", "c"],
    ["a", "b/c"],
    ["a:b", "c"],
    ["a", "b:c"],
    ["a%3Ab", "c"],
    ["a", "b%3Ac"],
    ["", "abc"],
    ["abc", ""],
    ["https://id.example", "alice"],
    ["https://id.example/", "alice"],
    ["https://id.example", "Alice"],
    ["https://id.example", "alice\0"],
    ["https://id.example", "alice "],
    ["i".repeat(600), "s"],
    ["i".repeat(599), "is"],
    ["i", "s".repeat(600)],
  ];
  const users = pairs.map(([issuer, subject]) => subjectUser(issuer, subject));
  assertEquals(new Set(users).size, pairs.length);
  for (const user of users) assertEquals(checkCaller(user), user);
});

Deno.test("subjectUser: any two different pairs differ, and each is a user that the store takes", () => {
  const part = fc.oneof(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme", minLength: 300 }));
  fc.assert(fc.property(part, part, part, part, (issuer, subject, issuer2, subject2) => {
    const [one, two] = [subjectUser(issuer, subject), subjectUser(issuer2, subject2)];
    checkUser(one);
    assertEquals(one === two, issuer === issuer2 && subject === subject2);
  }));
});

Deno.test("subjectUser: one that had to be hashed cannot be written out", () => {
  const hashed = subjectUser("https://id.example", "s".repeat(600));
  assert(hashed.startsWith("oauth-sha256:"));
  assert(!subjectUser("sha256", hashed.slice("oauth-sha256:".length)).startsWith("oauth-sha256:"));
});

Deno.test("handleUser: a user of its own for each handle", () => {
  const users = ["cart_a", "cart_b", ""].map(handleUser);
  assertEquals(new Set(users).size, users.length);
  for (const user of users) assertEquals(checkCaller(user), user);
});

Deno.test("checkCaller: the server's own users are nobody's", () => {
  assertThrows(() => checkCaller(TOKENS_USER), InvalidInput);
  assertThrows(() => checkCaller(" "), InvalidInput);
  assertEquals(checkCaller("alice"), "alice");
});
