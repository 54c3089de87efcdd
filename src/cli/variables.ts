/**
 * Variables of the environment that look like ours, and mean nothing.
 *
 * @module
 */

import { COMMANDS } from "./commands.ts";
import { didYouMean } from "./usage.ts";

/** Says so on standard error. Names can be seen only where the whole environment may be read. */
export async function warnOfVariables(): Promise<void> {
  const { state } = await Deno.permissions.query({ name: "env" });
  if (state !== "granted") return;
  const known = Object.values(COMMANDS).flatMap(({ flags }) =>
    Object.values(flags).flatMap((flag) => flag.variable ?? [])
  );
  for (const name of Object.keys(Deno.env.toObject())) {
    if (!name.startsWith("MCPSTATE_") || known.includes(name)) continue;
    console.error(`mcpstate: the variable ${name} is set, and means nothing here.${didYouMean(name, known)}`);
  }
}
