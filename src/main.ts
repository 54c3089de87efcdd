/**
 * The program: finds the command, sees that it may do what it needs, and runs it.
 *
 * @module
 */

import { commandOf, splitName, toCall } from "./cli/commands.ts";
import { commandHelp, programHelp } from "./cli/help.ts";
import { refusal } from "./cli/permissions.ts";
import { isGranted, requirementsOf } from "./cli/requirements.ts";
import { UsageError } from "./cli/usage.ts";
import { warnOfVariables } from "./cli/variables.ts";
import { StateError } from "./document/errors.ts";

/** Runs the program and ends the process. */
export async function main(): Promise<never> {
  console.log = print;
  Deno.exit(await run(Deno.args));
}

async function run(args: readonly string[]): Promise<number> {
  try {
    return await dispatch(args);
  } catch (error) {
    return report(error);
  }
}

async function dispatch(args: readonly string[]): Promise<number> {
  const [first] = args;
  if (first === "--help" || first === "-h" || first === "help" && args.length === 1) return print(programHelp());
  if (first === "--version" || first === "-V") return print((await import("./server/version.ts")).VERSION);
  const { name, words } = splitName(first === "help" ? args.slice(1) : args);
  const command = commandOf(name);
  const isHelp = first === "help" || words.some((word) => word === "--help" || word === "-h");
  if (isHelp) return print(commandHelp(name, command));
  const call = toCall(name, words);
  await warnOfVariables();
  const requirements = await requirementsOf(call);
  if (!await isGranted(requirements)) {
    console.error(refusal(call, requirements));
    return 1;
  }
  return await command.run(call);
}

/** What a command prints is an answer to whoever asked: as a log, Deno would send it to where telemetry goes. */
function print(text: string): number {
  let rest = new TextEncoder().encode(`${text}\n`);
  while (rest.length > 0) rest = rest.subarray(Deno.stdout.writeSync(rest));
  return 0;
}

function report(error: unknown): number {
  if (error instanceof Deno.errors.BrokenPipe) return 0; // whoever reads has seen enough
  if (error instanceof UsageError) {
    console.error(`mcpstate: ${error.message}\nRun it with --help to see what there is.`);
    return 2;
  }
  if (error instanceof StateError) {
    console.error(`mcpstate: ${error.message}`);
    if (error.cause instanceof Error) console.error(`  because: ${error.cause.message}`);
    return 1;
  }
  console.error("mcpstate:", error);
  return 1;
}
