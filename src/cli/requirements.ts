/**
 * What a call needs to be allowed: worked out from what its flags and arguments name, and asked without prompting.
 *
 * @module
 */

import { dirname, isAbsolute, resolve } from "node:path";
import { type BackendNeeds, needsOf } from "../backends/open.ts";
import { type Call, readVariable } from "./call.ts";
import type { Names } from "./command.ts";
import { DEFAULT_COMMAND } from "./commands.ts";
import { UsageError } from "./usage.ts";

/** Where `~` is looked up. */
const HOME_VARIABLES = Deno.build.os === "windows" ? ["HOME", "USERPROFILE"] : ["HOME"];

/** What a call needs. Paths are absolute, or begin with `$HOME` where that may not be read. */
export interface Requirements {
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** Hosts with their ports. */
  readonly hosts: readonly string[];
  /** Variables without which it does not run. */
  readonly variables: readonly string[];
  /** Variables that it reads where it may. */
  readonly settings: readonly string[];
  /** Features, as in `--unstable-kv`. */
  readonly unstable: readonly string[];
  /** What follows the program's name: it means the same in any directory, and holds no secret. */
  readonly words: readonly string[];
  /** The variables of a shell, or of the environment, that secrets are in, which were left out of the words. */
  readonly secrets: readonly string[];
  /** Where state is kept, for messages. */
  readonly place: string;
}

/** Whether a URL may hold a password, in whatever way it is written: then it is shown nowhere. */
export function mayHoldSecrets(url: string): boolean {
  return !/^(sqlite|kv):[/:][^?]*(\?[a-z]+=(full|normal))?$/i.test(url) && /[@?]/.test(url);
}

/** Works out what a call needs. @throws {InvalidInput | UsageError} for a backend URL or another value that makes no sense. */
export async function requirementsOf(call: Call): Promise<Requirements> {
  await call.check();
  const collected = new Collected();
  const { command } = call;
  const words = call.name === DEFAULT_COMMAND ? [] : [call.name];
  for (const [index, text] of call.arguments.entries()) {
    const { names, name } = command.arguments[Math.min(index, command.arguments.length - 1)];
    words.push(names === undefined ? text : await collected.named(names, text) ?? collected.secret(`$${name}`));
  }
  for (const [name, { value, variable, names, default: byDefault }] of Object.entries(command.flags)) {
    if (!await call.matters(name)) continue;
    const given = call.text(name);
    const setting = await call.setting(name);
    if (variable !== undefined && given === undefined) collected.settings.add(variable);
    const text = setting?.text ?? byDefault;
    const shown = text === undefined || names === undefined ? text : await collected.named(names, text);
    if (value === undefined) words.push(...call.isSet(name) ? [`--${name}`] : []);
    else if (shown === undefined) {
      if (text !== undefined && variable !== undefined) collected.needSecret(variable);
    } else if (setting !== undefined && shown !== byDefault) words.push(`--${name}`, shown);
  }
  const further = await command.needs?.(call);
  for (const host of further?.hosts ?? []) collected.hosts.add(host);
  for (const variable of further?.variables ?? []) collected.variables.add(variable);
  return collected.finish(words);
}

class Collected {
  readonly settings = new Set<string>();
  readonly hosts = new Set<string>();
  readonly variables = new Set<string>();
  readonly #reads = new Set<string>();
  readonly #writes = new Set<string>();
  readonly #unstable = new Set<string>();
  readonly #secrets: string[] = [];
  readonly #places: string[] = [];

  /** Takes in what a text names; answers how to write it in any directory, or nothing if that would show a secret. */
  async named(names: Names, text: string): Promise<string | undefined> {
    switch (names) {
      case "backend":
        return await this.#backend(text);
      case "file to read":
        return text === "-" ? text : this.#file(this.#reads, text);
      case "file to write":
        return text === "-" ? text : this.#file(this.#writes, text);
      case "address":
        return this.#address(text);
      case "address or file to read":
        return /^https?:/i.test(text) ? this.#address(text) : this.#file(this.#reads, text);
    }
  }

  needSecret(variable: string): void {
    this.settings.add(variable);
    this.#secrets.push(variable);
  }

  /** A word for a shell to fill in. */
  secret(word: string): string {
    this.#secrets.push(word);
    return word;
  }

  finish(words: readonly string[]): Requirements {
    return {
      reads: [...this.#reads],
      writes: [...this.#writes],
      hosts: [...this.hosts],
      variables: [...this.variables],
      settings: [...this.settings].filter((variable) => !this.variables.has(variable)),
      unstable: [...this.#unstable],
      words,
      secrets: this.#secrets,
      place: this.#places.join(" and "),
    };
  }

  #file(files: Set<string>, path: string): string {
    const absolute = resolve(path);
    files.add(absolute);
    return absolute;
  }

  #address(url: string): string {
    const { host, port, protocol } = new URL(url);
    this.hosts.add(port === "" ? `${host}:${protocol === "http:" ? 80 : 443}` : host);
    return url;
  }

  async #backend(url: string): Promise<string | undefined> {
    const inHome = /^[a-z]+:\/\/\/~\//i.test(url);
    if (inHome) { for (const variable of HOME_VARIABLES) this.variables.add(variable); }
    const isUnknown = inHome && await homeIsUnknown();
    // As if home were "/": checks the rest of the URL, and names what is below home.
    const needs = await needsOf(isUnknown ? url.replace("///~/", "////") : url);
    this.#take(needs, isUnknown ? "$HOME" : undefined);
    if (mayHoldSecrets(url)) return undefined;
    const { file } = needs;
    if (file === undefined || inHome || isAbsolute(file)) return url;
    return url.replace("///", () => `///${encodeURI(resolve()).replaceAll("?", "%3F")}/`);
  }

  #take({ file, hosts, certificates, variables, unstable }: BackendNeeds, home: string | undefined): void {
    const directory = file === undefined
      ? undefined
      : home === undefined
      ? dirname(resolve(file))
      : `${home}${dirname(file).replace(/\/$/, "")}`;
    if (directory !== undefined) {
      this.#reads.add(directory);
      this.#writes.add(directory);
    }
    for (const host of hosts) this.hosts.add(host);
    if (certificates !== undefined) this.#reads.add(certificates);
    for (const variable of variables) this.variables.add(variable);
    for (const feature of unstable) this.#unstable.add(feature);
    const elsewhere = unstable.length > 0 ? "Deno KV" : "memory, until it ends";
    this.#places.push(directory ?? (hosts.length > 0 ? hosts.join(", ") : elsewhere));
  }
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
export async function isGranted({ reads, writes, hosts, variables, unstable }: Requirements): Promise<boolean> {
  if ([...reads, ...writes].some((path) => path.startsWith("$HOME"))) return false;
  if (unstable.includes("kv") && !("openKv" in Deno)) return false;
  const needed: Deno.PermissionDescriptor[] = [
    ...reads.map((path) => ({ name: "read", path }) as const),
    ...writes.map((path) => ({ name: "write", path }) as const),
    ...hosts.map((host) => ({ name: "net", host }) as const),
    ...variables.map((variable) => ({ name: "env", variable }) as const),
  ];
  const states = await Promise.all(needed.map((descriptor) => Deno.permissions.query(descriptor)));
  return states.every(({ state }) => state === "granted");
}
