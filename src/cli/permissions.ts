/**
 * What a server needs to be allowed: asked without prompting, and told as the exact line to run.
 *
 * @module
 */

import { dirname, isAbsolute, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type BackendNeeds, needsOf } from "../backends/open.ts";
import { mayHoldSecrets, readSettings, readVariable, type ServeSettings, toFlags, VARIABLES } from "./flags.ts";
import { UsageError } from "./usage.ts";

/** The package as users name it. */
const PACKAGE = "jsr:@mcpstate/server";

/** Where `~` is looked up. */
const HOME_VARIABLES = Deno.build.os === "windows" ? ["HOME", "USERPROFILE"] : ["HOME"];

/** What a server needs. */
export interface Requirements {
  /** The directory of the database: absolute, or beginning with `$HOME` where that may not be read. */
  readonly directory?: string;
  /** What the backend needs beside it. */
  readonly needs: BackendNeeds;
  /** Settings that mean the same whatever the working directory is. */
  readonly settings: ServeSettings;
}

/** Works out what settings need. @throws {InvalidInput} for a backend URL that makes no sense. */
export async function requirementsOf(settings: ServeSettings): Promise<Requirements> {
  const inHome = /^[a-z]+:\/\/\/~\//i.test(settings.backend);
  if (inHome && await homeIsUnknown()) {
    // As if home were "/": checks the rest of the URL, and names what is below home.
    const needs = await needsOf(settings.backend.replace("///~/", "////"));
    const { file } = needs;
    return {
      directory: file === undefined ? undefined : `$HOME${dirname(file).replace(/\/$/, "")}`,
      needs,
      settings,
    };
  }
  const needs = await needsOf(settings.backend);
  const { file } = needs;
  if (file === undefined) return { needs, settings };
  const backend = !inHome && !isAbsolute(file)
    ? settings.backend.replace("///", () => `///${encodeURI(resolve()).replaceAll("?", "%3F")}/`)
    : settings.backend;
  return { directory: dirname(resolve(file)), needs, settings: { ...settings, backend } };
}

/** @throws {UsageError} if it may be read and is empty: no permission helps then. */
async function homeIsUnknown(): Promise<boolean> {
  const values = await Promise.all(HOME_VARIABLES.map(readVariable));
  if (values.some((value) => value !== undefined)) return false;
  const states = await Promise.all(
    HOME_VARIABLES.map((variable) => Deno.permissions.query({ name: "env", variable })),
  );
  if (states.some(({ state }) => state !== "granted")) return true;
  throw new UsageError("HOME is not set, so ~ cannot be found. Set it, or say where to keep state with --backend.");
}

/** Whether everything that is needed is granted. Never prompts. */
export async function isGranted({ directory, needs }: Requirements): Promise<boolean> {
  if (directory?.startsWith("$HOME")) return false;
  if (needs.unstable.includes("kv") && !("openKv" in Deno)) return false;
  const needed: Deno.PermissionDescriptor[] = [
    ...(directory === undefined ? [] : [
      { name: "read", path: directory } as const,
      { name: "write", path: directory } as const,
    ]),
    ...needs.hosts.map((host) => ({ name: "net", host }) as const),
    ...(needs.certificates === undefined ? [] : [{ name: "read", path: needs.certificates } as const]),
    ...needs.variables.map((variable) => ({ name: "env", variable }) as const),
  ];
  const states = await Promise.all(needed.map((descriptor) => Deno.permissions.query(descriptor)));
  return states.every(({ state }) => state === "granted");
}

/** The permission flags, one by one. @throws {UsageError} where flags cannot name the directory. */
function permissionFlags({ directory, needs }: Requirements): readonly string[] {
  if (directory?.includes(",")) {
    throw new UsageError(
      "The path of the database's directory has a comma in it, which Deno's permission flags cannot say. Keep it elsewhere, with --backend.",
    );
  }
  const readable = [directory, needs.certificates].filter((path) => path !== undefined);
  return [
    ...needs.unstable.map((feature) => `--unstable-${feature}`),
    ...(readable.length === 0 ? [] : [`--allow-read=${readable.join(",")}`]),
    ...(directory === undefined ? [] : [`--allow-write=${directory}`]),
    ...(needs.hosts.length === 0 ? [] : [`--allow-net=${needs.hosts.join(",")}`]),
    `--allow-env=${[...HOME_VARIABLES, ...VARIABLES, ...needs.variables].join(",")}`,
  ];
}

/** The program as it was started, to be started again. */
function entryPoint(mainModule: string): string {
  if (Deno.build.standalone) return PACKAGE; // the path inside a binary means nothing outside of it
  if (mainModule.startsWith("file:")) return fileURLToPath(mainModule);
  return mainModule.startsWith("https://jsr.io/@mcpstate/server/") ? PACKAGE : mainModule;
}

/** The line that starts the server with exactly what it needs. */
export function runLine(requirements: Requirements): string {
  return shellLine(["deno", "run", ...permissionFlags(requirements), ...program(requirements)]);
}

/** The line that makes one binary of it, with exactly what it needs. */
export function compileLine(requirements: Requirements): string {
  return shellLine([
    "deno",
    "compile",
    "--output=mcpstate",
    ...permissionFlags(requirements),
    ...program(requirements),
  ]);
}

/** What to paste into a client's configuration. */
export function clientConfiguration(requirements: Requirements): string {
  const { settings } = requirements;
  const args = ["run", ...permissionFlags(requirements), ...program(requirements)];
  const env = mayHoldSecrets(settings.backend) ? { env: { MCPSTATE_BACKEND: "…" } } : {};
  return JSON.stringify({ mcpServers: { mcpstate: { command: "deno", args, ...env } } }, null, 2);
}

function program({ settings }: Requirements): readonly string[] {
  return [entryPoint(Deno.mainModule), ...toFlags(settings)];
}

/** Quotes for a POSIX shell; `$HOME` at the start of a path is left for the shell to fill in. */
function shellLine(words: readonly string[]): string {
  return words.map((word) => {
    const [, before, rest] = /^(--[a-z-]+=)\$HOME(.*)$/.exec(word) ?? [];
    if (before !== undefined) return `${before}"$HOME${rest.replaceAll(/["\\`$]/g, "\\$&")}"`;
    return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
  }).join(" ");
}

/** What the lines leave out, if anything. */
export function remark({ settings }: Requirements): string {
  return mayHoldSecrets(settings.backend) ? "\n# with the backend URL in MCPSTATE_BACKEND\n" : "";
}

/** `permissions`: prints the lines for a configuration. */
export async function permissions(args: readonly string[]): Promise<number> {
  const requirements = await requirementsOf(await readSettings(args));
  const lines = `# run\n${runLine(requirements)}\n\n# or make one binary of it\n${compileLine(requirements)}`;
  console.log(`${lines}\n${remark(requirements)}`.trimEnd());
  return 0;
}
