/**
 * `migrate`: from one store to another.
 *
 * @module
 */

import type { ImportProgress } from "../admin/import.ts";
import { migrate as copy } from "../admin/migrate.ts";
import { openMaintenance } from "../backends/open.ts";
import { checkUser } from "../document/checks.ts";
import type { Call } from "./call.ts";
import { maxStateBytesOf } from "./flags.ts";
import { printReport } from "./import_report.ts";
import { openSource } from "./open_store.ts";
import { startProgress } from "./progress.ts";

/** Copies. Answers 1 if anything was refused. */
export async function migrate(call: Call): Promise<number> {
  const [from, to] = call.arguments;
  const [user, maxStateBytes] = [await call.checked("user", checkUser), await maxStateBytesOf(call)];
  await using source = await openSource(from);
  await using target = await openMaintenance(to);
  const progress = startProgress();
  const onProgress = ({ adopted, existing, refused }: ImportProgress) => {
    progress.show(`${adopted} new, ${existing} there already, ${refused} refused`);
  };
  const report = await copy(source, target, { user, dryRun: call.isSet("dry-run"), maxStateBytes, onProgress });
  progress.end();
  return printReport(report, call);
}
