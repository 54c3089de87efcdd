/**
 * What is said of a command: help, did-you-mean, the reading of a command line and `permissions` all derive from it.
 *
 * @module
 */

import type { Call } from "./call.ts";

/** What a value names, where that takes a permission: a backend, a file to be read or written, an address on the web. */
export type Names = "backend" | "file to read" | "file to write" | "address" | "address or file to read";

/** A flag of a command. */
export interface Flag {
  /** The name of its value, in capitals; absent for a switch. */
  readonly value?: string;
  /** The variable of the environment that stands in for it. */
  readonly variable?: string;
  /** What it does, as the rest of a line of help. */
  readonly does: string;
  /** The flag and its value without which this one means nothing. */
  readonly under?: { readonly flag: string; readonly value: string };
  /** What its value names. */
  readonly names?: Names;
  /** Refuses what it cannot be. */
  readonly check?: (text: string) => unknown;
  /** What stands where neither flag nor variable does, if that takes a permission too. */
  readonly default?: string;
}

/** What stands after a command's name without a flag before it, in order. */
export interface Argument {
  /** In capitals. */
  readonly name: string;
  /** What it is, as the rest of a line of help. */
  readonly does: string;
  /** Whether it may be left out; those after it too then. */
  readonly isOptional?: true;
  /** Whether it takes all words from here on as they are, flags too. The command's own switches come before. */
  readonly isRest?: true;
  /** What it names. */
  readonly names?: Names;
}

/** A command line and what it does. */
export interface Example {
  /** What follows the program's name. */
  readonly line: string;
  /** What it does. */
  readonly does: string;
  /** Whether it goes on until it is stopped. It says on standard error that it has begun then. */
  readonly isEndless?: true;
}

/** What a command needs beside what its flags and arguments name. */
export interface FurtherNeeds {
  /** Hosts with their ports: connecting to them, or listening there. */
  readonly hosts?: readonly string[];
  /** Variables of the environment that it cannot do without. */
  readonly variables?: readonly string[];
}

/** A command. */
export interface Command {
  /** One line of help. */
  readonly summary: string;
  /** More of it, where one line is not enough. */
  readonly details?: string;
  readonly arguments: readonly Argument[];
  readonly flags: Readonly<Record<string, Flag>>;
  readonly examples: readonly Example[];
  /** What it needs that its flags do not say by themselves. */
  needs?(call: Call): Promise<FurtherNeeds>;
  /** Runs it, with everything granted that it needs. Answers the exit code. */
  run(call: Call): Promise<number>;
}
