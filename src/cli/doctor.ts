/**
 * `doctor`: looks a store over, and says what is wrong with it.
 *
 * @module
 */

import { checkStore, type Finding } from "../admin/doctor.ts";
import { checkUser } from "../document/checks.ts";
import type { Call } from "./call.ts";
import { backendOf } from "./flags.ts";
import { openSource } from "./open_store.ts";
import { startProgress } from "./progress.ts";
import { jsonText, printable, tinted } from "./terminal.ts";

/** Looks. Answers 1 if anything is wrong. */
export async function doctor(call: Call): Promise<number> {
  const user = await call.checked("user", checkUser);
  await using source = await openSource(await backendOf(call));
  const progress = startProgress();
  const findings: Finding[] = [];
  let checked = 0;
  const onChecked = () => progress.show(`${++checked} documents looked at`);
  for await (const finding of checkStore(source, { user, onChecked })) findings.push(finding);
  progress.end();
  if (call.isSet("json")) console.log(jsonText({ checked, findings: findings.map(toWire) }, 2));
  else for (const line of toText(checked, findings)) console.log(line);
  return findings.length === 0 ? 0 : 1;
}

function toText(checked: number, findings: readonly Finding[]): readonly string[] {
  const found = findings.length === 0 ? "nothing is wrong" : `${findings.length} things are wrong`;
  return [
    ...findings.map(({ user, id, problem }) => {
      const which = id === undefined ? "the store" : printable(id);
      const whose = user === undefined ? "" : ` of ${printable(user)}`;
      return `${tinted("removed", `${which}${whose}`)}: ${printable(problem)}`;
    }),
    `${checked} documents looked at: ${found}.`,
  ];
}

function toWire({ user, id, problem }: Finding): Record<string, unknown> {
  return { user: user ?? null, handle: id ?? null, problem };
}
