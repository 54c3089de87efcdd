/**
 * Starts `worker.ts` as a process with no more permissions than it needs, and talks to it.
 *
 * @module
 */

import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

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
  readonly ready?: true;
  readonly released?: true;
}

const WORKER = fileURLToPath(new URL("worker.ts", import.meta.url));

/** How a worker is started. */
export interface Start {
  /** Instead of reading and writing the database's directory. */
  readonly permissions?: readonly string[];
  /** Shell commands that set limits before. */
  readonly limits?: string;
}

/** A process that works on a database. Disposing it kills it. */
export class Process implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #answers: AsyncIterator<Answer>;
  readonly #stdin: WritableStreamDefaultWriter<Uint8Array>;

  constructor(path: string, args: readonly string[], { permissions, limits }: Start = {}) {
    const allowed = permissions ?? [`--allow-read=${dirname(path)}`, `--allow-write=${dirname(path)}`];
    const run = ["run", "-q", "--no-lock", "--no-prompt", ...allowed, WORKER, path, ...args];
    const command = limits === undefined
      ? new Deno.Command(Deno.execPath(), { args: run, stdin: "piped", stdout: "piped", stderr: "inherit" })
      : new Deno.Command("sh", {
        args: ["-c", `${limits}; exec "$@"`, "sh", Deno.execPath(), ...run],
        stdin: "piped",
        stdout: "piped",
        stderr: "inherit",
      });
    this.#child = command.spawn();
    this.#stdin = this.#child.stdin.getWriter();
    this.#answers = lines(this.#child.stdout);
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

/** A line that was cut off by a kill was not said. */
async function* lines(stream: ReadableStream<Uint8Array>): AsyncGenerator<Answer> {
  let text = "";
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n")) {
      yield JSON.parse(text.slice(0, end));
      text = text.slice(end + 1);
    }
  }
}
