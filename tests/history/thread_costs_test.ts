import { assert } from "@std/assert";
import { type Counting, countingKv, countingRedis, countingSqlite } from "../counting.ts";
import { threadCosts } from "../thread_costs.ts";

async function assertFlat(open: () => Promise<Counting>): Promise<void> {
  await using engine = await open();
  const short = await threadCosts(engine, 10);
  const long = await threadCosts(engine, 1_000);
  for (const [i, { turn, count, bytes, sessionBytes }] of long.entries()) {
    const told = `turn ${turn} of 1,000 touches ${count}, turn ${short[i].turn} of 10 touches ${short[i].count}`;
    assert(count > 0 && Math.abs(count - short[i].count) <= 2, told);
    assert(bytes <= 2.5 * sessionBytes + 64 * 1024, `turn ${turn} of 1,000 takes ${bytes} bytes`);
  }
}

Deno.test("sqlite threads: a turn of 1,000 touches as many rows as one of 10", () => assertFlat(countingSqlite));
Deno.test("kv threads: a turn of 1,000 touches as many keys as one of 10", () => assertFlat(countingKv));
Deno.test("redis threads: a turn of 1,000 takes as many commands as one of 10", () => assertFlat(countingRedis));
