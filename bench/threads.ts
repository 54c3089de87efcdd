/**
 * Reading a turn of a thread of 10 and of 10,000 turns, on each engine: what is touched, and how long it takes.
 *
 * @module
 */

import { countingKv, countingRedis, countingSqlite } from "../tests/counting.ts";
import { threadCosts } from "../tests/thread_costs.ts";

if (import.meta.main) {
  const [turns = "10000"] = Deno.args;
  for (const [name, open] of Object.entries({ sqlite: countingSqlite, kv: countingKv, redis: countingRedis })) {
    await using engine = await open();
    const short = await threadCosts(engine, 10);
    const long = await threadCosts(engine, Number(turns));
    for (const [i, cost] of long.entries()) {
      const { turn, count, bytes, ms } = short[i];
      console.log(
        `${name.padEnd(7)} turn ${turn} of 10: ${count} touched, ${bytes} bytes | turn ${cost.turn} of ${turns}: ` +
          `${cost.count} touched, ${cost.bytes} bytes | ${(cost.ms / ms).toFixed(2)} × the time`,
      );
    }
  }
}
