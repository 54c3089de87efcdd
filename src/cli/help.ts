/**
 * Help, out of the table of commands.
 *
 * @module
 */

import type { Command, Flag } from "./command.ts";
import { COMMANDS } from "./commands.ts";

/** What every help says of exit codes. */
const EXIT_CODES = "Exit codes: 0 done, 1 it failed, 2 the command line makes no sense.";

/** The program's. */
export function programHelp(): string {
  const commands = Object.entries(COMMANDS).map(([name, { summary }]) => line(name, summary));
  return `Durable, versioned state for MCP clients.

Usage: mcpstate [command] [arguments] [flags]

Commands:
${commands.join("\n")}

mcpstate COMMAND --help tells of a command, its flags and examples; mcpstate --version prints the version.
mcpstate stands for the compiled program, or for deno run with the flags that mcpstate permissions COMMAND prints.
Flags win over environment variables.

${EXIT_CODES}`;
}

/** One command's. */
export function commandHelp(name: string, command: Command): string {
  const { summary, details, arguments: args, flags, examples } = command;
  return [
    `${summary[0].toUpperCase()}${summary.slice(1)}.${details === undefined ? "" : `\n${details}`}`,
    `Usage: ${usage(name, command)}`,
    ...args.length === 0 ? [] : [`Arguments:\n${args.map((each) => line(each.name, each.does)).join("\n")}`],
    `Flags:\n${
      [...Object.entries(flags).map(([flag, spec]) => flagLine(flag, spec)), line("--help", "this text")].join("\n")
    }`,
    `Examples:\n${examples.map((each) => `  # ${each.does}\n  ${`mcpstate ${each.line}`.trim()}`).join("\n")}`,
    `mcpstate permissions ${name} prints the deno run line with exactly what it needs.\n${EXIT_CODES}`,
  ].join("\n\n");
}

/** How a command is written. */
function usage(name: string, command: Command): string {
  const args = command.arguments.map((each) => each.isOptional ? `[${each.name}]` : each.name);
  return ["mcpstate", name, ...args, "[flags]"].join(" ");
}

function flagLine(name: string, { value, does, variable }: Flag): string {
  const first = line(value === undefined ? `--${name}` : `--${name} ${value}`, does);
  return variable === undefined ? first : `${first}\n${line("", `or ${variable}`)}`;
}

function line(term: string, does: string): string {
  return `  ${term.padEnd(24)} ${does}`;
}
