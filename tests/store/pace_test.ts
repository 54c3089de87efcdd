import { assertEquals } from "@std/assert";
import { setImmediate } from "node:timers";
import { Pace } from "../../src/store/pace.ts";

Deno.test("Pace: begins everything once and in order, and gives way to others in between", async () => {
  const pace = new Pace();
  const begun: number[] = [];
  const atOnce: number[] = [];
  for (let i = 0; i < 100; i++) pace.begin(() => begun.push(i));
  assertEquals(begun, []);
  while (begun.length < 100) {
    await new Promise<void>((resolve) => setImmediate(resolve));
    atOnce.push(begun.length);
  }
  assertEquals(begun, Array.from({ length: 100 }, (_, i) => i));
  assertEquals(atOnce.length > 3, true);
});

Deno.test("Pace: work that queues work is followed by it", async () => {
  const pace = new Pace();
  const begun: string[] = [];
  await new Promise<void>((resolve) => {
    pace.begin(() => {
      begun.push("first");
      pace.begin(() => {
        begun.push("second");
        resolve();
      });
    });
  });
  assertEquals(begun, ["first", "second"]);
});
