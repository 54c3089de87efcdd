/**
 * What every backend must keep, whatever its engine. An engine runs it with one line and gives nothing but a target:
 *
 * ```ts
 * backendContract("sqlite", async () => { … });
 * ```
 *
 * Times to live are real and short here, since an engine may have a clock of its own.
 *
 * @module
 */

import { appendCases } from "./append_cases.ts";
import { createCases } from "./create_cases.ts";
import { journalCases } from "./journal_cases.ts";
import { lifetimeCases } from "./lifetime_cases.ts";
import { listCases } from "./list_cases.ts";
import { readCases } from "./read_cases.ts";
import { removeCases } from "./remove_cases.ts";
import { requestCases } from "./request_cases.ts";
import { scaleCases } from "./scale_cases.ts";
import { subscribeCases } from "./subscribe_cases.ts";
import type { Case, Target } from "./target.ts";
import { turnCases } from "./turn_cases.ts";
import { userCases } from "./user_cases.ts";

export { inOneConnection, type Target } from "./target.ts";

/** Runs the contract on one engine; each test gets a target of its own. */
export function backendContract(name: string, makeTarget: () => Promise<Target>): void {
  const contract: Case = (title, body) => {
    Deno.test(`${name} ${title}`, async () => {
      await using target = await makeTarget();
      await using opened = new AsyncDisposableStack();
      const open = async () => opened.use(await target.open());
      await body(await open(), open);
    });
  };
  createCases(contract);
  readCases(contract);
  turnCases(contract);
  appendCases(contract);
  journalCases(contract);
  requestCases(contract);
  removeCases(contract);
  lifetimeCases(contract);
  listCases(contract);
  subscribeCases(contract);
  userCases(contract);
  scaleCases(contract);
}
