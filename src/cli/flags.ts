/**
 * What a server is told: by flags, else by environment variables, else by default.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { DEFAULT_URL } from "../backends/open.ts";
import { StateError } from "../document/errors.ts";
import { checkUser, checkWriter } from "../document/checks.ts";
import { didYouMean, UsageError } from "./usage.ts";

/** The settings of a server. */
export interface ServeSettings {
  /** The URL of the backend. May hold credentials: not to be shown. */
  readonly backend: string;
  readonly user: string;
  /** Absent: the host's name, or the client's. */
  readonly writer?: string;
  /** Absent: the store's default. */
  readonly maxStateBytes?: number;
}

/** Whose documents a local server serves if nothing is said. */
export const DEFAULT_USER = "local";

/** Every flag with its environment variable. */
export const FLAGS = {
  backend: {
    variable: "MCPSTATE_BACKEND",
    value: "URL",
    does: `where state is kept (default ${DEFAULT_URL})`,
  },
  user: { variable: "MCPSTATE_USER", value: "NAME", does: `whose documents these are (default ${DEFAULT_USER})` },
  writer: { variable: "MCPSTATE_WRITER", value: "NAME", does: "who is recorded as the writer (default: this host)" },
  "max-state-bytes": {
    variable: "MCPSTATE_MAX_STATE_BYTES",
    value: "N",
    does: "the largest state, in bytes of JSON (default 1048576)",
  },
} as const;

type Flag = keyof typeof FLAGS;
const NAMES = Object.keys(FLAGS) as readonly Flag[];

/** The variables that a server reads where it may. */
export const VARIABLES: readonly string[] = NAMES.map((name) => FLAGS[name].variable);

/** Flags as lines of a help text. */
export function flagsHelp(): string {
  return NAMES.map((name) => {
    const { value, does, variable } = FLAGS[name];
    return `  --${name} ${value}`.padEnd(26) + `${does}\n${"".padEnd(26)}or ${variable}`;
  }).join("\n");
}

/** A variable of the environment; absent too where it may not be read. Never prompts. */
export async function readVariable(variable: string): Promise<string | undefined> {
  const { state } = await Deno.permissions.query({ name: "env", variable });
  return state === "granted" ? Deno.env.get(variable) || undefined : undefined;
}

/** Reads settings. @throws {UsageError} for a flag or a value that makes no sense. */
export async function readSettings(args: readonly string[]): Promise<ServeSettings> {
  const flags = parseFlags(args);
  const read = async (name: Flag) => {
    const flag = flags[name];
    if (flag !== undefined) return { text: flag, source: `--${name}` };
    const { variable } = FLAGS[name];
    const text = await readVariable(variable);
    return text === undefined ? undefined : { text, source: variable };
  };
  const [backend, user, writer, maxStateBytes] = await Promise.all(NAMES.map(read));
  return {
    backend: backend?.text ?? DEFAULT_URL,
    user: user === undefined ? DEFAULT_USER : checked(user, checkUser),
    ...(writer === undefined ? {} : { writer: checked(writer, checkWriter) }),
    ...(maxStateBytes === undefined ? {} : { maxStateBytes: checked(maxStateBytes, toBytes) }),
  };
}

/** The flags that say the same settings, but for a backend with credentials. */
export function toFlags({ backend, user, writer, maxStateBytes }: ServeSettings): readonly string[] {
  return [
    ...(backend === DEFAULT_URL || mayHoldSecrets(backend) ? [] : ["--backend", backend]),
    ...(user === DEFAULT_USER ? [] : ["--user", user]),
    ...(writer === undefined ? [] : ["--writer", writer]),
    ...(maxStateBytes === undefined ? [] : ["--max-state-bytes", String(maxStateBytes)]),
  ];
}

/** Whether a URL may hold a password, in whatever way it is written: then it is shown nowhere. */
export function mayHoldSecrets(url: string): boolean {
  return !/^(sqlite|kv):[/:][^?]*(\?[a-z]+=(full|normal))?$/i.test(url) && /[@?]/.test(url);
}

function parseFlags(args: readonly string[]): Readonly<Partial<Record<Flag, string>>> {
  const options = Object.fromEntries(NAMES.map((name) => [name, { type: "string" as const }]));
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw toUsageError(error, args);
  }
}

function toUsageError(error: unknown, args: readonly string[]): Error {
  if (!(error instanceof TypeError) || !("code" in error)) return error instanceof Error ? error : new Error();
  switch (error.code) {
    case "ERR_PARSE_ARGS_UNKNOWN_OPTION": {
      // A value may be a secret: only the name is repeated.
      const flag = /'(-[^'=]*)/.exec(error.message)?.[1] ?? "a flag";
      return new UsageError(`There is no flag ${flag}.${didYouMean(flag, NAMES.map((name) => `--${name}`))}`);
    }
    case "ERR_PARSE_ARGS_INVALID_OPTION_VALUE": {
      const flag = args.find((arg) => error.message.includes(`'${arg} `)) ?? "A flag";
      return new UsageError(`${flag} needs a value. One that begins with a dash is written ${flag}=-value.`);
    }
    default:
      return new UsageError("There is something on the command line that is no flag. Values follow their flag.");
  }
}

function checked<T>({ text, source }: { text: string; source: string }, check: (text: string) => T): T {
  try {
    return check(text);
  } catch (error) {
    if (error instanceof StateError || error instanceof UsageError) {
      throw new UsageError(`${source}: ${error.message}`);
    }
    throw error;
  }
}

/** The largest state that a message of the protocol can carry. */
const MOST_STATE_BYTES = 4 * 1024 * 1024;

function toBytes(text: string): number {
  const bytes = Number(text);
  if (/^\d+$/.test(text) && bytes >= 2 && bytes <= MOST_STATE_BYTES) return bytes;
  throw new UsageError(`a whole number of bytes up to ${MOST_STATE_BYTES} is needed, such as 1048576.`);
}
