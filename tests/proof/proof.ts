/**
 * Proves at length, and prints what was done. Ends with an error if an anomaly was found or a planted bug was not.
 *
 * Arguments, all optional: a seed, and by how much to multiply the work. Or `replay`, and what was printed with a failure:
 * what is simulated, the sort of plans, the seed and the path.
 *
 * @module
 */

import { campaign } from "./campaign.ts";
import type { PlanName } from "./plans.ts";
import { BUGS, plant, plantInCampaign } from "./planted.ts";
import { hunt } from "./simulate.ts";
import type { SiteName } from "./sites.ts";
import { loadModules, type SubjectName } from "./subjects.ts";

const modules = await loadModules(new URL("../../src", import.meta.url).href);

if (Deno.args[0] === "replay") {
  const [, name, plans, seed, path] = Deno.args;
  const { failure } = await hunt(name as SubjectName, modules, {
    seed: Number(seed),
    path,
    runs: 1,
    plans: plans as PlanName,
  });
  console.log(failure?.report ?? "No anomaly.");
  Deno.exit(failure === undefined ? 0 : 1);
}

const seed = Number(Deno.args[0] ?? Math.floor(Math.random() * 2 ** 31));
const factor = Number(Deno.args[1] ?? 1);
let found = 0;

console.log(`seed ${seed}`);
const SIMULATIONS: readonly (readonly [SubjectName, runs: number])[] = [
  ["memory", 6_000],
  ["sqlite", 1_000],
  ["kv", 500],
  ["redis", 200],
];
for (const [name, runs] of SIMULATIONS) {
  for (const plans of name === "memory" ? ["any", "failover"] as const : ["any"] as const) {
    const done = await hunt(name, modules, { seed, runs: Math.ceil(runs * factor), plans });
    const what = `simulated over ${name}${plans === "failover" ? ", failing over" : ""}`;
    console.log(
      `${what}: ${done.runs} seeds, ${done.operations} operations, ${done.crashes} crash points, ${done.faults} faults, ` +
        `${done.failure === undefined ? 0 : 1} anomalies`,
    );
    if (done.failure === undefined) continue;
    found++;
    console.log(`${done.failure.repeat}\n${done.failure.report}`);
  }
}

for (const name of ["sqlite", "kv", "redis"] satisfies SiteName[]) {
  const rounds = Math.ceil(3 * factor);
  const sum = { operations: 0, versions: 0, events: 0, unknown: 0, failed: 0, kills: 0, processes: 0, anomalies: 0 };
  const faults: Record<string, number> = {};
  for (let i = 0; i < rounds; i++) {
    const done = await campaign(name, { seed: seed + i, processes: 4, callers: 4, calls: 120, faults: 24 });
    for (const key of ["operations", "versions", "events", "unknown", "failed", "kills", "processes"] as const) {
      sum[key] += done[key];
    }
    for (const [fault, count] of Object.entries(done.faults)) faults[fault] = (faults[fault] ?? 0) + count;
    sum.anomalies += done.anomalies.length;
    for (const { rule, what } of done.anomalies.slice(0, 20)) console.log(`seed ${seed + i}: ${rule}: ${what}`);
  }
  found += sum.anomalies;
  const happened = Object.entries(faults).map(([fault, count]) => `${count} × ${fault}`).join(", ");
  console.log(
    `processes on ${name}: ${rounds} histories of ${sum.processes} processes, ${sum.operations} operations, ` +
      `${sum.versions} versions, ${sum.events} events, ${sum.unknown} unknown outcomes, ${sum.failed} refused by the ` +
      `engine, ${sum.kills} kills (${happened}), ${sum.anomalies} anomalies`,
  );
}

/** By seeded plans, and some of them by real processes too. */
const attempts = [
  ...BUGS.map((bug) => () => plant(bug, seed, 3_000)),
  ...BUGS.filter(({ inCampaign }) => inCampaign).map((bug) => () => plantInCampaign(bug, seed, 4)),
];
let caught = 0;
for (const attempt of attempts) {
  const { bug, report, runs, by } = await attempt();
  if (report !== undefined) caught++;
  const outcome = report === undefined ? "MISSED" : "caught";
  console.log(`${outcome} after ${runs} ${by}: ${bug.name} (${report?.split("\n")[0]})`);
}
console.log(
  `planted bugs caught: ${caught} of ${attempts.length}, of which ${BUGS.length} by plans, the others by processes`,
);
Deno.exit(found === 0 && caught === attempts.length ? 0 : 1);
