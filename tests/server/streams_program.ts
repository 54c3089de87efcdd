/**
 * Opens and closes streams of a server in this process, round by round, and prints how many bytes are then in use. Run with
 * `--v8-flags=--expose-gc`, so that what is in use is what is held.
 *
 * @module
 */

import { openSite } from "./http_site.ts";
import { openStream } from "./listening.ts";

const [rounds, perRound] = Deno.args.map(Number);
const USERS = 20;

const collect: unknown = Reflect.get(globalThis, "gc");
if (typeof collect !== "function") throw new Error("run with --v8-flags=--expose-gc");

await using site = await openSite();
const callers = await Promise.all(Array.from({ length: USERS }, async (_, i) => {
  const user = `user ${i}`;
  return { reach: await site.caller(user), handle: await site.store.mint("trip", {}, { user }) };
}));
const used: number[] = [];
for (let round = 0; round < rounds; round++) {
  for (let i = 0; i < perRound; i += USERS) {
    await Promise.all(callers.map(async ({ reach, handle }) => {
      const reader = (await openStream(reach, [handle])).body?.getReader();
      await reader?.read(); // the acknowledgement: it is open
      await reader?.cancel();
    }));
  }
  for (let i = 0; i < 3; i++) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  used.push(Deno.memoryUsage().heapUsed);
}
console.log(JSON.stringify(used));
