/**
 * A home with a seeded store, and commands run in it under exactly the flags that `permissions` prints for them.
 *
 * @module
 */

import { append, setKey } from "../../src/document/ops.ts";
import { HandleStore } from "../../src/store/store.ts";
import { emptyHome, environment, PROGRAM } from "../server/client.ts";
import { readText, type Run, runProgram } from "./program.ts";

/** What `permissions --json` says. */
export interface Permissions {
  readonly flags: readonly string[];
  readonly run: string;
  readonly compile: string;
  readonly secrets: readonly string[];
}

/** A home, and where the store is. Disposing it removes the home. */
export class CommandSite implements AsyncDisposable {
  readonly #home = emptyHome();
  readonly #engine: string | undefined;

  /** With the URL of a store elsewhere, or none for the default one in this home. */
  constructor(engine?: string) {
    this.#engine = engine;
  }

  get home(): string {
    return this.#home.path;
  }

  /** The URL of the store. */
  get url(): string {
    return this.#engine ?? `sqlite:///${this.home}/.mcpstate/state.db`;
  }

  /** The store, open. */
  async open(): Promise<HandleStore> {
    return await HandleStore.fromUrl(this.url);
  }

  /** A research session of the user `local` in four versions. Answers its handle. */
  async seed(): Promise<string> {
    await using store = await this.open();
    const local = { user: "local" };
    const first = { city: "Copenhagen", sources: [] };
    const handle = await store.mint("research", first, { ...local, writer: "laptop", title: "Which city", turn: 1 });
    await store.patch(handle, [append("sources", "kk.dk/housing")], { ...local, writer: "phone", turn: 2 });
    const third = { city: "Aarhus", sources: ["kk.dk/housing"], budget: { rent: 1400 } };
    await store.save(handle, third, { ...local, expectVersion: 2, writer: "phone" });
    await store.patch(handle, [setKey("budget", "rent", 1100)], { ...local, writer: "laptop" });
    return handle;
  }

  /** What a command needs, as the program itself says. */
  async permissions(words: readonly string[]): Promise<Permissions> {
    const flags = ["--allow-env=HOME,MCPSTATE_BACKEND"];
    const args = ["permissions", "--json", ...words];
    const { code, stdout, stderr } = await runProgram({ home: this.home, flags, args, env: this.#env, cwd: this.home });
    if (code !== 0) throw new Error(stderr);
    return JSON.parse(stdout);
  }

  /** Runs a command with exactly the flags that it is said to need. */
  async run(...words: string[]): Promise<Run> {
    return await this.runWith((await this.permissions(words)).flags, words);
  }

  /** Runs a command with these flags. */
  async runWith(flags: readonly string[], words: readonly string[], input?: string): Promise<Run> {
    const at = { home: this.home, flags, args: words, env: this.#env, cwd: this.home };
    return await runProgram(input === undefined ? at : { ...at, input });
  }

  /** The JSON that a command prints. */
  // deno-lint-ignore no-explicit-any -- as JSON.parse
  async json(...words: string[]): Promise<any> {
    const { code, stdout, stderr } = await this.run(...words, "--json");
    if (code !== 0) throw new Error(stderr);
    return JSON.parse(stdout);
  }

  /** Starts a command that goes on until it is stopped, with exactly the flags that it needs. */
  async start(...words: string[]): Promise<Endless> {
    const { flags } = await this.permissions(words);
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", ...flags, PROGRAM, ...words],
      env: environment(this.home, this.#env),
      clearEnv: true,
      cwd: this.home,
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    return new Endless(child);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#home[Symbol.asyncDispose]();
  }

  get #env(): Record<string, string> {
    return this.#engine === undefined ? {} : { MCPSTATE_BACKEND: this.#engine };
  }
}

/** A process that runs until it is told to stop. */
export class Endless implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #out: ReadableStreamDefaultReader<string>;
  readonly #err: ReadableStreamDefaultReader<string>;
  #text = "";

  constructor(child: Deno.ChildProcess) {
    this.#child = child;
    this.#out = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    this.#err = child.stderr.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** Waits until it says on standard error that it has begun. */
  async begun(): Promise<string> {
    const { value } = await this.#err.read();
    return value ?? "";
  }

  /** Waits until what it printed satisfies a condition, and answers that. */
  async printed(isEnough: (text: string) => boolean): Promise<string> {
    while (!isEnough(this.#text)) {
      const { value, done } = await this.#out.read();
      if (done) throw new Error(`it ended after ${JSON.stringify(this.#text)}, ${await readText(this.#err)}`);
      this.#text += value;
    }
    return this.#text;
  }

  /** Tells it to stop. Answers its exit code. */
  async stop(signal: Deno.Signal = "SIGTERM"): Promise<number> {
    this.#child.kill(signal);
    return (await this.#child.status).code;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // it has ended already
    }
    await this.#child.status;
    await Promise.all([readText(this.#out), readText(this.#err)]);
  }
}
