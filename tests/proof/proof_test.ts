/**
 * The short form of `deno task proof`: the same simulations, processes and planted bugs, with fewer of each.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { campaign } from "./campaign.ts";
import { BUGS, faulty, plant, plantInCampaign } from "./planted.ts";
import type { PlanName } from "./plans.ts";
import { hunt } from "./simulate.ts";
import type { SiteName } from "./sites.ts";
import { loadModules, type SubjectName } from "./subjects.ts";

const modules = await loadModules(new URL("../../src", import.meta.url).href);

/** Another one with every run; the failure's seed and path have it again. */
const seed = Math.floor(Math.random() * 2 ** 31);

const SIMULATIONS: readonly (readonly [SubjectName, runs: number, plans: PlanName])[] = [
  ["memory", 120, "any"],
  ["memory", 80, "failover"],
  ["sqlite", 25, "any"],
  ["kv", 10, "any"],
  ["redis", 10, "any"],
];
for (const [name, runs, plans] of SIMULATIONS) {
  Deno.test(
    `store over ${name}${
      plans === "failover" ? ", failing over" : ""
    }: whatever order things happen in, one journal explains all answers`,
    async () => {
      const { failure, operations } = await hunt(name, modules, { seed, runs, plans });
      assertEquals(failure, undefined);
      assert(operations > runs);
    },
  );
}

for (const name of ["sqlite", "redis", "kv"] satisfies SiteName[]) {
  Deno.test(
    `store over ${name}: of several processes that are killed and hindered, one journal explains all answers`,
    async () => {
      const { anomalies, operations, events } = await campaign(name, {
        seed,
        processes: 2,
        callers: 3,
        calls: 25,
        faults: 4,
      });
      assertEquals(anomalies, []);
      assert(operations > 100 && events > 50);
    },
  );
}

Deno.test(
  "planted bugs: some of them, quickly found, are caught, and all of them can be planted",
  async () => {
    for (const bug of BUGS) {
      if (bug.isQuick) assert((await plant(bug, 1, 200)).report !== undefined, bug.name);
      else await faulty(bug);
    }
  },
);

Deno.test("planted bugs: one that several real processes run is caught by their history", async () => {
  const [bug] = BUGS.filter(({ name }) => name === "a cache that does not ask for the head");
  assert((await plantInCampaign(bug, seed, 4)).report !== undefined);
});
