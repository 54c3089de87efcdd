/**
 * The program: finds the command and runs it.
 *
 * @module
 */

import { StateError } from "./document/errors.ts";
import { flagsHelp } from "./cli/flags.ts";
import { didYouMean, UsageError } from "./cli/usage.ts";

interface Command {
  readonly does: string;
  run(args: readonly string[]): Promise<number>;
}

/** Each command loads its own module, so that none pays for the others. */
const COMMANDS: Readonly<Record<string, Command>> = {
  serve: {
    does: "serve MCP on standard input and output (what happens without a command)",
    run: async (args) => await (await import("./cli/serve.ts")).serve(args),
  },
  permissions: {
    does: "print the deno run and deno compile lines with exactly what is needed",
    run: async (args) => await (await import("./cli/permissions.ts")).permissions(args),
  },
};

/** Runs the program and ends the process. */
export async function main(): Promise<never> {
  Deno.exit(await run(Deno.args));
}

async function run(args: readonly string[]): Promise<number> {
  try {
    const [first = "serve"] = args;
    const isCommand = !first.startsWith("-");
    const name = isCommand ? first : "serve";
    const rest = isCommand ? args.slice(1) : args;
    if (rest.includes("--help") || rest.includes("-h") || name === "help") {
      console.log(help());
      return 0;
    }
    if (rest.includes("--version") || rest.includes("-V")) {
      console.log((await import("./server/version.ts")).VERSION);
      return 0;
    }
    if (!Object.hasOwn(COMMANDS, name)) {
      throw new UsageError(`There is no command ${name}.${didYouMean(name, Object.keys(COMMANDS))}`);
    }
    return await COMMANDS[name].run(rest);
  } catch (error) {
    return report(error);
  }
}

function report(error: unknown): number {
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

function help(): string {
  const commands = Object.entries(COMMANDS).map(([name, { does }]) => `  ${name.padEnd(24)}${does}`);
  return `Durable, versioned state for MCP clients.

Usage: mcpstate [command] [flags]

Commands:
${commands.join("\n")}

Flags:
${flagsHelp()}
  --help, --version

Flags win over environment variables.`;
}
