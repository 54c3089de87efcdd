import { assertEquals, assertRejects } from "@std/assert";
import { Deadlines } from "../../src/backends/redis/deadlines.ts";

const HOUR_MS = 3_600_000;

/** Keeps the process alive, as the socket does of whatever is waited for. */
function socket(): Disposable {
  const interval = setInterval(() => {}, HOUR_MS);
  return { [Symbol.dispose]: () => clearInterval(interval) };
}

function never(): Promise<string> {
  return new Promise(() => {});
}

Deno.test("within: settles as what is waited for does", async () => {
  const deadlines = new Deadlines();
  const late = () => new Error("late");
  assertEquals(await deadlines.within(Promise.resolve("Aarhus"), HOUR_MS, late), "Aarhus");
  await assertRejects(() => deadlines.within(Promise.reject(new Error("refused")), HOUR_MS, late), Error, "refused");
  deadlines.close();
});

Deno.test("within: ends each wait at its own time, whichever began first", async () => {
  using _ = socket();
  const deadlines = new Deadlines();
  const ended: string[] = [];
  const wait = (name: string, timeoutMs: number) =>
    deadlines.within(never(), timeoutMs, () => new Error(name)).catch((error) => ended.push(error.message));
  const settled = deadlines.within(Promise.resolve("Odense"), 1, () => new Error("settled"));
  const waits = [wait("third", 60), wait("first", 1), wait("second", 30)];
  assertEquals(await settled, "Odense");
  await Promise.all(waits);
  assertEquals(ended, ["first", "second", "third"]);
  await wait("after a pause", 1);
  assertEquals(ended.at(-1), "after a pause");
  deadlines.close();
});

Deno.test("close: leaves no timer, and lets what is still waited for end in time", async () => {
  using _ = socket();
  const deadlines = new Deadlines();
  const left = deadlines.within(never(), 5, () => new Error("late"));
  const { promise, resolve } = Promise.withResolvers<string>();
  const arriving = deadlines.within(promise, HOUR_MS, () => new Error("late"));
  deadlines.close();
  await assertRejects(() => left, Error, "late");
  resolve("Aarhus");
  assertEquals(await arriving, "Aarhus");
});
