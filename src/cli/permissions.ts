/**
 * `permissions`: what a command needs, as lines to run.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import type { Call } from "./call.ts";
import { commandOf, DEFAULT_COMMAND, splitName, toCall } from "./commands.ts";
import { type Requirements, requirementsOf } from "./requirements.ts";
import { UsageError } from "./usage.ts";

/** The package as users name it. */
const PACKAGE = "jsr:@mcpstate/server";

/** The permission flags, one by one. @throws {UsageError} where flags cannot name a path. */
export function permissionFlags(requirements: Requirements): readonly string[] {
  const { reads, writes, hosts, variables, settings, unstable } = requirements;
  if ([...reads, ...writes].some((path) => path.includes(","))) {
    throw new UsageError(
      "A path has a comma in it, which Deno's permission flags cannot say. Keep the file elsewhere.",
    );
  }
  const list = (name: string, values: readonly string[]) => values.length === 0 ? [] : [`${name}=${values.join(",")}`];
  return [
    ...unstable.map((feature) => `--unstable-${feature}`),
    ...list("--allow-read", reads),
    ...list("--allow-write", writes),
    ...list("--allow-net", hosts),
    ...list("--allow-env", [...variables, ...settings]),
  ];
}

/** The program as it was started, to be started again. */
function entryPoint(mainModule: string): string {
  if (Deno.build.standalone) return PACKAGE; // the path inside a binary means nothing outside of it
  if (mainModule.startsWith("file:")) return fileURLToPath(mainModule);
  return mainModule.startsWith("https://jsr.io/@mcpstate/server/") ? PACKAGE : mainModule;
}

/** The words after `deno run`. */
export function runWords(requirements: Requirements): readonly string[] {
  return [...permissionFlags(requirements), entryPoint(Deno.mainModule), ...requirements.words];
}

/** The line that runs a command with exactly what it needs. */
export function runLine(requirements: Requirements): string {
  return shellLine(["deno", "run", ...runWords(requirements)], requirements.secrets);
}

/** The line that makes one binary of it, with exactly what it needs. */
function compileLine(requirements: Requirements): string {
  return shellLine(["deno", "compile", "--output=mcpstate", ...runWords(requirements)], requirements.secrets);
}

/** Quotes for a POSIX shell. `$HOME` at the start of a path, and secrets, are left for the shell to fill in. */
function shellLine(words: readonly string[], secrets: readonly string[]): string {
  return words.map((word) => {
    if (secrets.includes(word)) return `"${word}"`;
    const [, flag, value] = /^(--allow-[a-z]+=)(.*[$]HOME.*)$/.exec(word) ?? [];
    if (value !== undefined) return `${flag}"${value.split(",").map(withHome).join(",")}"`;
    return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
  }).join(" ");
}

function withHome(path: string): string {
  const home = path.startsWith("$HOME") ? "$HOME" : "";
  return home + path.slice(home.length).replaceAll(/["\\`$]/g, "\\$&");
}

/** What the lines leave out, if anything. */
export function remark({ secrets }: Requirements): string {
  return secrets.length === 0 ? "" : `\n# with the backend URL in ${secrets.join(" and ").replaceAll("$", "")}\n`;
}

/** For a call that is not allowed what it needs. */
export function refusal(call: Call, requirements: Requirements): string {
  const what = call.name === DEFAULT_COMMAND
    ? `not allowed to keep state at ${requirements.place}. Nothing was written.`
    : `${call.name} is not allowed what it needs. Nothing was done.`;
  return `mcpstate: ${what} Run:\n\n${runLine(requirements)}\n${remark(requirements)}`;
}

/** Prints the lines for a command, given as it would be run. */
export async function permissions(call: Call): Promise<number> {
  const { name, words } = splitName(call.arguments);
  // After the command's name too, where that has no such flag of its own.
  const isOurs = !Object.hasOwn(commandOf(name).flags, "json") && words.includes("--json");
  const requirements = await requirementsOf(toCall(name, isOurs ? words.filter((word) => word !== "--json") : words));
  const [run, compile] = [runLine(requirements), compileLine(requirements)];
  if (isOurs || call.isSet("json")) {
    const { secrets } = requirements;
    console.log(JSON.stringify({ flags: permissionFlags(requirements), run, compile, secrets }, null, 2));
    return 0;
  }
  console.log(`# run\n${run}\n\n# or make one binary of it\n${compile}\n${remark(requirements)}`.trimEnd());
  return 0;
}
