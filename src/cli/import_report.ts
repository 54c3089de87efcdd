/**
 * What came of an import or a migration.
 *
 * @module
 */

import type { ImportReport, Refusal } from "../admin/import.ts";
import type { Call } from "./call.ts";
import { jsonText, printable, tinted } from "./terminal.ts";

/** Prints it. Answers the exit code: 1 if anything was refused, or the export is not whole. */
export function printReport(report: ImportReport, call: Call): number {
  const { adopted, existing, ended, tombstones, refused, isComplete } = report;
  const isDry = call.isSet("dry-run");
  if (call.isSet("json")) {
    const wire = { adopted, existing, ended, tombstones, refused: refused.map(toWire), complete: isComplete };
    console.log(jsonText({ ...wire, dry_run: isDry }, 2));
    return refused.length === 0 && isComplete ? 0 : 1;
  }
  for (const refusal of refused) console.error(`mcpstate: ${toText(refusal)}`);
  if (!isComplete) console.error("mcpstate: the export is not whole: what it announces did not all come.");
  console.log(
    `${isDry ? "Would take in" : "Took in"} ${adopted} documents and what is left of ${tombstones} that ended. ` +
      `There already: ${existing}; ended there: ${ended}; refused: ${refused.length}.`,
  );
  return refused.length === 0 && isComplete ? 0 : 1;
}

function toText({ user, id, line, reason }: Refusal): string {
  const which = id === undefined ? "" : `, ${printable(id)}${user === undefined ? "" : ` of ${printable(user)}`}`;
  return `${tinted("warning", "refused")} line ${line}${which}: ${printable(reason)}`;
}

function toWire({ user, id, line, reason }: Refusal): Record<string, unknown> {
  return { user: user ?? null, handle: id ?? null, line, reason };
}
