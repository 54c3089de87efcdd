import { assertEquals, assertThrows } from "@std/assert";
import { checkInteger, checkTime } from "../../src/document/checks.ts";
import { InvalidInput } from "../../src/document/errors.ts";

Deno.test("checkTime: takes dates, milliseconds and ISO 8601 with a zone", () => {
  const noon = Date.UTC(2026, 6, 28, 12);
  for (
    const time of [new Date(noon), noon, "2026-07-28T12:00:00Z", "2026-07-28T14:00:00.000+02:00", "2026-07-28T12:00Z"]
  ) {
    assertEquals(checkTime("at", time), noon);
  }
  assertEquals(checkTime("at", "2026-07-28"), Date.UTC(2026, 6, 28));
});

Deno.test("checkTime: refuses what would be another time elsewhere, and what is no time", () => {
  const wrong = [
    "2026-07-28T12:00:00",
    "2026-11-31T00:00:00Z",
    "2026-02-30",
    "2026-13-01",
    "2026-07-28T25:00:00Z",
    "yesterday",
    "",
    NaN,
    Infinity,
    1e300,
    null,
    {},
    new Date("x"),
  ];
  for (const time of wrong) assertEquals(assertThrows(() => checkTime("at", time), InvalidInput).field, "at");
});

Deno.test("checkInteger: says the range that is asked for", () => {
  const message = (least: number, most?: number) =>
    assertThrows(() => checkInteger("turn", 1.5, least, most), InvalidInput).message;
  assertEquals(message(Number.MIN_SAFE_INTEGER), "turn must be a whole number.");
  assertEquals(message(1), "turn must be a whole number of at least 1.");
  assertEquals(message(1, 9), "turn must be a whole number from 1 to 9.");
});
