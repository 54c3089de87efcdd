/**
 * Looks for a plan whose history no single journal could have made, and shrinks it.
 *
 * @module
 */

import fc from "fast-check";
import { type Anomaly, check } from "./checker.ts";
import { type PlanName, PLANS } from "./plans.ts";
import { type Plan, type Run, simulate } from "./simulation.ts";
import { type Field, type Modules, openField, type SubjectName } from "./subjects.ts";

/** What was simulated, and what came of it. */
export interface Hunt {
  readonly runs: number;
  readonly operations: number;
  readonly crashes: number;
  /** Messages lost or carried out twice, jumps of the clock, listeners cut off. */
  readonly faults: number;
  /** What is wrong; absent if nothing is. */
  readonly failure?: Failure;
}

/** A plan that fails. */
export interface Failure {
  readonly seed: number;
  /** Where fast-check comes to it: which draw, and how it was shrunk. */
  readonly path: string;
  /** What is wrong, and the plan. */
  readonly report: string;
  /** The command that has it again. */
  readonly repeat: string;
}

/** What to look for. */
export interface HuntOptions {
  readonly seed: number;
  readonly runs: number;
  /** Goes straight to a failure that was found before. */
  readonly path?: string;
  /** What is drawn. Default: `any`. */
  readonly plans?: PlanName;
  /** Whether it is enough that there is a failure: it is not shrunk then. */
  readonly first?: boolean;
  /** How long looking and shrinking may take, in milliseconds. Default: as long as it takes. */
  readonly mostMs?: number;
  /** Code that must stand the same plan, or the failure does not count: it is not the variant's. */
  readonly control?: Modules;
}

/** Runs one plan and checks it. */
export async function judge(plan: Plan, field: Field, modules: Modules): Promise<Run & { anomalies: Anomaly[] }> {
  await using subject = await field.make(modules);
  let run: Run;
  try {
    run = await simulate(plan, subject);
  } catch (error) { // the journals cannot be read in the end
    const history = { operations: [], watches: [], journals: [], slack: 0 };
    const what = error instanceof Error ? error.message : String(error);
    return { history, isOver: false, crashes: 0, faults: 0, anomalies: [{ rule: "unreadable", what }] };
  }
  const anomalies = check(run.history);
  if (!run.isOver) anomalies.push({ rule: "liveness", what: "somebody waits for ever" });
  return { ...run, anomalies };
}

/** Draws plans until one fails or there were enough. */
export async function hunt(name: SubjectName, modules: Modules, options: HuntOptions): Promise<Hunt> {
  const { seed, runs, path, plans = "any", first = false, mostMs, control } = options;
  await using field = await openField(name);
  const sum = { runs: 0, operations: 0, crashes: 0, faults: 0 };
  const stand = async (plan: Plan) => {
    const { history, anomalies, crashes, faults } = await judge(plan, field, modules);
    sum.runs++;
    sum.operations += history.operations.length;
    sum.crashes += crashes;
    sum.faults += faults;
    if (anomalies.length === 0) return;
    if (control !== undefined && (await judge(plan, field, control)).anomalies.length > 0) return;
    throw new Error(anomalies.map(({ rule, what }) => `${rule}: ${what}`).join("\n"));
  };
  let latest: Promise<void> = Promise.resolve();
  const property = fc.asyncProperty(PLANS[plans], (plan: Plan) => latest = stand(plan));
  const details = await fc.check(property, {
    seed,
    numRuns: runs,
    path,
    endOnFailure: first || path !== undefined,
    interruptAfterTimeLimit: mostMs,
  });
  await latest.catch(() => {}); // one that was interrupted goes on, and its clock and timers are those of the whole process
  if (!details.failed) return sum;
  const { counterexamplePath, counterexample, errorInstance } = details;
  const again = counterexamplePath ?? "";
  const report = `${errorInstance instanceof Error ? errorInstance.message : errorInstance}\n` +
    `plan: ${JSON.stringify(counterexample?.[0])}`;
  const repeat = `deno task proof replay ${name} ${plans} ${details.seed} ${again}`;
  return { ...sum, failure: { seed: details.seed, path: again, report: withPlainNames(report), repeat } };
}

/** Handles are minted by chance; here they are numbered, so that a failure reads the same each time. */
function withPlainNames(report: string): string {
  const names = new Map<string, string>();
  return report.replaceAll(/\bcart_[a-z2-7]{8}\b/g, (handle) => {
    const name = names.get(handle) ?? `cart_${names.size + 1}`;
    names.set(handle, name);
    return name;
  });
}
