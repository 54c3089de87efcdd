/**
 * A failure is found again by what is printed of it, and is as small as fast-check can make it.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { BUGS, withPlanted } from "./planted.ts";
import { hunt } from "./simulate.ts";
import { loadModules, openField, type SubjectName } from "./subjects.ts";
import { PLANS } from "./plans.ts";
import fc from "fast-check";
import { simulate } from "./simulation.ts";

for (const name of ["a merge that loses a branch", "a cache that does not ask for the head"]) {
  Deno.test(`a failing seed: ${name} is found again by seed and path, with the same words`, async () => {
    const [bug] = BUGS.filter((each) => each.name === name);
    await withPlanted(bug, async (source) => {
      const modules = await loadModules(source);
      const { failure, runs } = await hunt(bug.subject, modules, { seed: 42, runs: 500, mostMs: 3_000 });
      assert(failure !== undefined);
      const { seed, path, repeat } = failure;
      assertEquals(repeat, `deno task proof replay ${bug.subject} any 42 ${path}`);
      const again = await hunt(bug.subject, modules, { seed, path, runs: 1 });
      assertEquals(again.failure, failure);
      assertEquals(again.runs, 1);
      assert(path.includes(":") && runs > 1, "it was shrunk");
      const right = await hunt(bug.subject, await loadModules(SOURCE), { seed, path, runs: 1 });
      assertEquals(right.failure, undefined);
    });
  });
}

const SOURCE = new URL("../../src", import.meta.url).href;

// Deno KV and Redis work in threads and processes of their own: on a busy machine they answer in another order.
for (const name of ["memory", "sqlite"] satisfies SubjectName[]) {
  Deno.test(`a plan over ${name}: comes to the same history each time`, async () => {
    const modules = await loadModules(SOURCE);
    await using field = await openField(name);
    for (const plan of fc.sample(PLANS.any, { seed: 7, numRuns: 8 })) {
      const histories: string[] = [];
      for (let i = 0; i < 2; i++) {
        await using subject = await field.make(modules);
        const { history } = await simulate(plan, subject);
        histories.push(withoutNames(JSON.stringify(history)));
      }
      assertEquals(histories[0], histories[1]);
    }
  });
}

/** Handles are minted by chance. */
function withoutNames(history: string): string {
  const handles = [...new Set(history.match(/\bcart_[a-z2-7]{8}\b/g))];
  return handles.reduce((text, handle, i) => text.replaceAll(handle, `cart_${i}`), history);
}
