/**
 * Starts `worker.ts` as processes with no more permissions than they need, and talks to them.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { needsOf } from "../../src/backends/open.ts";

/** What a worker answers. */
export interface Answer {
  readonly item?: string;
  readonly version?: number;
  readonly handle?: string;
  readonly state?: unknown;
  readonly pid?: number;
  readonly failed?: string;
  readonly message?: string;
  readonly busy?: boolean;
  readonly unknown?: boolean;
  readonly ready?: true;
  readonly released?: true;
}

const WORKER = fileURLToPath(new URL("worker.ts", import.meta.url));

/** How a worker is started. */
export interface Start {
  /** Instead of what the store of the URL needs. */
  readonly permissions?: readonly string[];
  /** Beside those. */
  readonly flags?: readonly string[];
  /** Shell commands that set limits before. */
  readonly limits?: string;
}

/** The flags without which the store of a URL cannot be opened. */
async function flagsOf(url: string): Promise<string[]> {
  const { file, hosts, unstable } = await needsOf(url);
  const directory = file === undefined ? [] : [`--allow-read=${dirname(file)}`, `--allow-write=${dirname(file)}`];
  const net = hosts.length === 0 ? [] : [`--allow-net=${hosts.join(",")}`];
  return [...directory, ...net, ...unstable.map((feature) => `--unstable-${feature}`)];
}

/** Starts a process that works on the store of a URL. */
export async function startProcess(url: string, args: readonly string[], start: Start = {}): Promise<Process> {
  const { permissions = await flagsOf(url), flags = [], limits } = start;
  const run = ["run", "-q", "--no-lock", "--no-prompt", ...permissions, ...flags, WORKER, url, ...args];
  const [command, before] = limits === undefined
    ? [Deno.execPath(), []]
    : ["sh", ["-c", `${limits}; exec "$@"`, "sh", Deno.execPath()]];
  const options = { stdin: "piped", stdout: "piped", stderr: "inherit" } as const;
  return new Process(new Deno.Command(command, { args: [...before, ...run], ...options }).spawn());
}

/** A process that works on a store. Disposing it kills it. */
export class Process implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #answers: AsyncIterator<Answer>;
  readonly #stdin: WritableStreamDefaultWriter<Uint8Array>;

  constructor(child: Deno.ChildProcess) {
    this.#child = child;
    this.#stdin = child.stdin.getWriter();
    this.#answers = lines(child.stdout);
  }

  /** The next answer; `undefined` at the end. */
  async next(): Promise<Answer | undefined> {
    const { value, done } = await this.#answers.next();
    return done ? undefined : value;
  }

  /** All answers from here on. */
  async rest(): Promise<Answer[]> {
    const all: Answer[] = [];
    for (let answer = await this.next(); answer !== undefined; answer = await this.next()) all.push(answer);
    return all;
  }

  /** Lets it go on where it waits. */
  async go(): Promise<void> {
    await this.#stdin.write(new TextEncoder().encode("go\n"));
  }

  /** How it has ended, once it has. */
  async code(): Promise<number> {
    return (await this.#child.status).code;
  }

  /** kill −9. */
  kill(): void {
    try {
      this.#child.kill("SIGKILL");
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // it has ended already
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill();
    await this.rest();
    await this.#stdin.abort().catch(() => undefined);
    await this.#child.status;
  }
}

/** Starts processes, lets them go at once when all are ready, and hears each of them out until it ends by itself. */
export async function together(
  url: string,
  commands: readonly (readonly string[])[],
  start: Start = {},
): Promise<Answer[][]> {
  await using all = new AsyncDisposableStack();
  const processes = await Promise.all(commands.map(async (args) => all.use(await startProcess(url, args, start))));
  const first = await Promise.all(processes.map((process) => process.next()));
  assertEquals(first, processes.map(() => ({ ready: true })));
  await Promise.all(processes.map((process) => process.go()));
  const answers = await Promise.all(processes.map((process) => process.rest()));
  assertEquals(await Promise.all(processes.map((process) => process.code())), processes.map(() => 0));
  return answers;
}

/** A line that was cut off by a kill was not said. */
async function* lines(stream: ReadableStream<Uint8Array>): AsyncGenerator<Answer> {
  let text = "";
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    const parts = (text + chunk).split("\n");
    text = parts.pop() ?? "";
    for (const part of parts) yield JSON.parse(part);
  }
}
