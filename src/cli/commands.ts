/**
 * Every command there is. Each loads its own module only when it is run, so that none pays for the others.
 *
 * @module
 */

import { Call } from "./call.ts";
import type { Command } from "./command.ts";
import { BACKEND, JSON_OUTPUT, MAX_STATE_BYTES, USER, WRITER } from "./flags.ts";
import { didYouMean, UsageError } from "./usage.ts";

/** What happens without a command. */
export const DEFAULT_COMMAND = "serve";

/** By name, in the order of the help. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  serve: {
    summary: "serve MCP on standard input and output (what happens without a command)",
    arguments: [],
    flags: { backend: BACKEND, user: USER, writer: WRITER, "max-state-bytes": MAX_STATE_BYTES },
    examples: [
      { line: "", does: "state in ~/.mcpstate/state.db" },
      { line: "serve --backend redis://127.0.0.1:6379/0 --user alice", does: "state in Redis, for alice" },
    ],
    run: async (call) => await (await import("./serve.ts")).serve(call),
  },
  permissions: {
    summary: "print the deno run and deno compile lines with exactly what a command needs",
    details: "Everything after the command's name is as you would give it to that command.",
    arguments: [
      {
        name: "COMMAND",
        does: "the command that is to be run, with its arguments (default serve)",
        isOptional: true,
        isRest: true,
      },
    ],
    flags: { json: JSON_OUTPUT },
    examples: [
      { line: "permissions", does: "for a server with its state in ~/.mcpstate/state.db" },
      { line: "permissions serve --backend redis://127.0.0.1:6379/0", does: "for a server with its state in Redis" },
      { line: "permissions list --user alice", does: "for another command" },
    ],
    run: async (call) => await (await import("./permissions.ts")).permissions(call),
  },
};

/** A command's name and the words after it. */
export function splitName(words: readonly string[]): { readonly name: string; readonly words: readonly string[] } {
  const [first] = words;
  const isNamed = first !== undefined && !first.startsWith("-");
  return isNamed ? { name: first, words: words.slice(1) } : { name: DEFAULT_COMMAND, words };
}

/** @throws {UsageError} if there is no such command. */
export function commandOf(name: string): Command {
  if (Object.hasOwn(COMMANDS, name)) return COMMANDS[name];
  throw new UsageError(`There is no command ${name}.${didYouMean(name, Object.keys(COMMANDS))}`);
}

/** Reads a command line. @throws {UsageError} where it makes no sense. */
export function toCall(name: string, words: readonly string[]): Call {
  return new Call(name, commandOf(name), words);
}
