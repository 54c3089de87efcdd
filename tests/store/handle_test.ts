import { assert, assertEquals, assertMatch } from "@std/assert";
import { isNearMiss, mintHandle, mintWriteId } from "../../src/store/handle.ts";

Deno.test("mintHandle: draws every base32 digit about as often, in every place", () => {
  const counts = Array.from({ length: 8 }, () => new Map<string, number>());
  const draws = 6_400;
  for (let i = 0; i < draws; i++) {
    const handle = mintHandle("cart", 8);
    assertMatch(handle, /^cart_[a-z2-7]{8}$/);
    for (const [place, digit] of [...handle.slice(5)].entries()) {
      counts[place].set(digit, (counts[place].get(digit) ?? 0) + 1);
    }
  }
  for (const count of counts) {
    assertEquals(count.size, 32);
    // 200 are expected in each; seven standard deviations are about 97.
    assert([...count.values()].every((times) => times > 100 && times < 300));
  }
});

Deno.test("mintWriteId: never repeats", () => {
  const ids = new Set(Array.from({ length: 10_000 }, mintWriteId));
  assertEquals(ids.size, 10_000);
  assertEquals([...ids].every((id) => id.length === 16), true);
});

Deno.test("isNearMiss: is one character added, left out, changed or swapped", () => {
  const near = ["cart_abce", "cart_abc", "cart_abcdd", "xcart_abcd", "art_abcd", "cart_abdc", "cart-abcd", "acrt_abcd"];
  for (const other of near) {
    assertEquals([isNearMiss(other, "cart_abcd"), isNearMiss("cart_abcd", other)], [true, true], other);
  }
  const far = ["cart_abcd", "cart_ab", "cart_abcdef", "cart_abef", "cart_badc", "trip_abcd", "", "c", "cart_dbca"];
  for (const other of far) {
    assertEquals([isNearMiss(other, "cart_abcd"), isNearMiss("cart_abcd", other)], [false, false], other);
  }
  assertEquals([isNearMiss("", "a"), isNearMiss("a", ""), isNearMiss("", "")], [true, true, false]);
});
