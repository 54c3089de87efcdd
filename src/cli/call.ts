/**
 * From words on a command line to a call of a command: what was given, by flag or else by variable.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { StateError } from "../document/errors.ts";
import type { Command, Flag } from "./command.ts";
import { didYouMean, UsageError } from "./usage.ts";

/** A value and where it comes from, for messages: `--user`, `MCPSTATE_USER`. */
export interface Setting {
  readonly text: string;
  readonly source: string;
}

/** A variable of the environment; absent too where it may not be read. Never prompts. */
export async function readVariable(variable: string): Promise<string | undefined> {
  const { state } = await Deno.permissions.query({ name: "env", variable });
  return state === "granted" ? Deno.env.get(variable) || undefined : undefined;
}

/** A command with what it was given. */
export class Call {
  readonly name: string;
  readonly command: Command;
  /** What was given without a flag, in order. */
  readonly arguments: readonly string[];
  readonly #values: Readonly<Record<string, unknown>>;

  /** Reads the words after a command's name. @throws {UsageError} where they make no sense. */
  constructor(name: string, command: Command, words: readonly string[]) {
    const { values, positionals } = parse(command, words);
    const most = command.arguments.at(-1)?.isRest ? Infinity : command.arguments.length;
    if (positionals.length > most) {
      throw new UsageError("There is something on the command line that is no flag. Values follow their flag.");
    }
    const missing = command.arguments[positionals.length];
    if (missing !== undefined && !missing.isOptional) {
      throw new UsageError(`${name} needs ${missing.name}: ${missing.does}.`);
    }
    this.name = name;
    this.command = command;
    this.arguments = positionals;
    this.#values = values;
  }

  /** What a flag was given on the command line. */
  text(flag: string): string | undefined {
    const value = this.#valueOf(flag);
    return typeof value === "string" ? value : undefined;
  }

  /** Whether a switch was given. */
  isSet(flag: string): boolean {
    return this.#valueOf(flag) === true;
  }

  /** What a flag was given, or else its variable. */
  async setting(flag: string): Promise<Setting | undefined> {
    const text = this.text(flag);
    if (text !== undefined) return { text, source: `--${flag}` };
    const { variable } = this.command.flags[flag];
    const found = variable === undefined ? undefined : await readVariable(variable);
    return found === undefined || variable === undefined ? undefined : { text: found, source: variable };
  }

  /** The same, checked. @throws {UsageError} naming where it comes from. */
  async checked<T>(flag: string, check: (text: string) => T): Promise<T | undefined> {
    const setting = await this.setting(flag);
    if (setting === undefined) return undefined;
    try {
      return check(setting.text);
    } catch (error) {
      if (error instanceof StateError || error instanceof UsageError) {
        throw new UsageError(`${setting.source}: ${error.message}`);
      }
      throw error;
    }
  }

  /** @throws {UsageError} if a value can be none, or a flag means nothing as the others are. */
  async check(): Promise<void> {
    for (const [name, { check, under }] of Object.entries(this.command.flags)) {
      if (!await this.matters(name)) {
        if (this.#values[name] === undefined || under === undefined) continue;
        throw new UsageError(`--${name} means something with --${under.flag} ${under.value} only.`);
      }
      if (check !== undefined) await this.checked(name, check);
    }
  }

  /** Whether a flag, or its variable, means something as the others are. */
  async matters(flag: string): Promise<boolean> {
    const { under } = this.command.flags[flag];
    return under === undefined || (await this.setting(under.flag))?.text === under.value;
  }

  /** A whole number that a flag was given. @throws {UsageError} if it is none, or not in its range. */
  wholeNumber(flag: string, least: number, most: number = Number.MAX_SAFE_INTEGER): number | undefined {
    const text = this.text(flag);
    return text === undefined ? undefined : toWholeNumber(`--${flag}`, text, least, most);
  }

  #valueOf(flag: string): unknown {
    if (!Object.hasOwn(this.command.flags, flag)) throw new TypeError(`${this.name} has no flag --${flag}`);
    return this.#values[flag];
  }
}

/** @throws {UsageError} unless the text is a whole number in a range. */
export function toWholeNumber(
  source: string,
  text: string,
  least: number,
  most: number = Number.MAX_SAFE_INTEGER,
): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= least && number <= most) return number;
  const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
  throw new UsageError(`${source} must be a whole number ${range}.`);
}

function parse(command: Command, words: readonly string[]) {
  const options = Object.fromEntries(
    Object.entries(command.flags).map(([name, flag]) => [name, { type: typeOf(flag) }]),
  );
  const own = command.arguments.at(-1)?.isRest ? leadingSwitches(command, words) : words.length;
  try {
    const { values, positionals } = parseArgs({
      args: words.slice(0, own),
      options,
      strict: true,
      allowPositionals: true,
    });
    return { values, positionals: [...positionals, ...words.slice(own)] };
  } catch (error) {
    throw toUsageError(error, command);
  }
}

function leadingSwitches({ flags }: Command, words: readonly string[]): number {
  const end = words.findIndex((word) => !Object.hasOwn(flags, word.replace(/^--/, "")) || !word.startsWith("--"));
  return end === -1 ? words.length : end;
}

function typeOf({ value }: Flag): "boolean" | "string" {
  return value === undefined ? "boolean" : "string";
}

function toUsageError(error: unknown, { flags }: Command): Error {
  if (!(error instanceof TypeError) || !("code" in error)) return error instanceof Error ? error : new Error();
  switch (error.code) {
    case "ERR_PARSE_ARGS_UNKNOWN_OPTION": {
      // A value may be a secret: only the name is repeated.
      const flag = /'(-[^'=]*)/.exec(error.message)?.[1] ?? "a flag";
      return new UsageError(
        `There is no flag ${flag}.${didYouMean(flag, Object.keys(flags).map((name) => `--${name}`))}`,
      );
    }
    case "ERR_PARSE_ARGS_INVALID_OPTION_VALUE": {
      const name = /'(--?[\w-]+)/.exec(error.message)?.[1] ?? "A flag";
      if (error.message.includes("does not take")) return new UsageError(`${name} takes no value.`);
      return new UsageError(`${name} needs a value. One that begins with a dash is written ${name}=-value.`);
    }
    default:
      return new UsageError("There is something on the command line that is no flag. Values follow their flag.");
  }
}
