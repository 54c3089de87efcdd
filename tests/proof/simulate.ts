/**
 * Looks for a plan whose history no single journal could have made, and shrinks it.
 *
 * @module
 */

import fc from "fast-check";
import { type Anomaly, check } from "./checker.ts";
import { failoverPlans, plans } from "./plans.ts";
import { type Plan, type Run, simulate } from "./simulation.ts";
import { makeSubject, type Modules, type SubjectName } from "./subjects.ts";

/** What was simulated, and what came of it. */
export interface Hunt {
  readonly runs: number;
  readonly operations: number;
  readonly crashes: number;
  /** Messages lost or carried out twice, jumps of the clock, listeners cut off. */
  readonly faults: number;
  /** How to have the failure again, and what is wrong; absent if nothing is. */
  readonly failure?: { readonly seed: number; readonly path: string; readonly report: string };
}

/** What to look for. */
export interface HuntOptions {
  readonly seed: number;
  readonly runs: number;
  /** Goes straight to a failure that was found before. */
  readonly path?: string;
  readonly failover?: boolean;
  /** Whether it is enough that there is a failure: it is not shrunk then. */
  readonly first?: boolean;
  /** Code that must stand the same plan, or the failure does not count: it is not the variant's. */
  readonly control?: Modules;
}

/** Runs one plan and checks it. */
export async function judge(plan: Plan, name: SubjectName, modules: Modules): Promise<Run & { anomalies: Anomaly[] }> {
  await using subject = await makeSubject(name, modules);
  const run = await simulate(plan, subject);
  const anomalies = check(run.history);
  if (!run.isOver) anomalies.push({ rule: "liveness", what: "somebody waits for ever" });
  return { ...run, anomalies };
}

/** Draws plans until one fails or there were enough. */
export async function hunt(name: SubjectName, modules: Modules, options: HuntOptions): Promise<Hunt> {
  const { seed, runs, path, failover = false, first = false, control } = options;
  const sum = { runs: 0, operations: 0, crashes: 0, faults: 0 };
  const property = fc.asyncProperty(failover ? failoverPlans : plans, async (plan) => {
    const { history, anomalies, crashes, faults } = await judge(plan, name, modules);
    sum.runs++;
    sum.operations += history.operations.length;
    sum.crashes += crashes;
    sum.faults += faults;
    if (anomalies.length === 0) return;
    if (control !== undefined && (await judge(plan, name, control)).anomalies.length > 0) return;
    throw new Error(anomalies.map(({ rule, what }) => `${rule}: ${what}`).join("\n"));
  });
  const details = await fc.check(property, { seed, numRuns: runs, path, endOnFailure: first || path !== undefined });
  if (!details.failed) return sum;
  const { counterexamplePath, counterexample, errorInstance } = details;
  const report = `${errorInstance instanceof Error ? errorInstance.message : errorInstance}\n` +
    `plan: ${JSON.stringify(counterexample?.[0])}`;
  return { ...sum, failure: { seed: details.seed, path: counterexamplePath ?? "", report } };
}
