/**
 * The server as a bare process: what goes in line by line, and every byte that comes out.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { documentedFlags, environment, PROGRAM } from "./client.ts";

/** A JSON-RPC message. */
export interface Message {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}

/** How to start the process. */
export interface ProcessOptions {
  readonly home: string;
  readonly flags?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
  readonly program?: string;
  readonly cwd?: string;
}

/** A server process of a test, killed at its end if it still runs. */
export class ServerProcess implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #stderr: Promise<string>;
  readonly #reading: Promise<void>;
  readonly #waiting = new Set<() => void>();
  #output = "";
  #isInputOpen = true;
  #hasEnded = false;

  constructor({ home, flags = documentedFlags(home), args = [], env, program = PROGRAM, cwd }: ProcessOptions) {
    this.#child = new Deno.Command(Deno.execPath(), {
      args: ["run", ...flags, program, ...args],
      clearEnv: true,
      env: environment(home, env),
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
      ...(cwd === undefined ? {} : { cwd }),
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.#stderr = new Response(this.#child.stderr).text();
    this.#reading = this.#read();
  }

  async #read(): Promise<void> {
    for await (const text of this.#child.stdout.pipeThrough(new TextDecoderStream())) {
      this.#output += text;
      for (const wake of this.#waiting) wake();
    }
    this.#hasEnded = true;
    for (const wake of this.#waiting) wake();
  }

  /** What came on standard output, after checking that it is JSON-RPC, line by line, and nothing else. */
  messages(): readonly Message[] {
    const lines = this.#output.split("\n");
    assertEquals(this.#hasEnded ? lines.pop() : (lines.pop(), ""), "", "the last line is not whole");
    return lines.map((line) => {
      const message: Message = JSON.parse(line);
      assertEquals(message.jsonrpc, "2.0");
      return message;
    });
  }

  /** Sends one line. */
  async send(message: unknown): Promise<void> {
    await this.#input.write(new TextEncoder().encode(typeof message === "string" ? message : JSON.stringify(message)));
    await this.#input.write(new TextEncoder().encode("\n"));
  }

  /** Sends a request and waits for its answer. */
  async request(id: number, method: string, params: Record<string, unknown>): Promise<Message> {
    await this.send({ jsonrpc: "2.0", id, method, params });
    return await this.answerTo(id);
  }

  /** Waits for the answer to a request; fails if the process ends without one. */
  async answerTo(id: number): Promise<Message> {
    for (;;) {
      const found = this.messages().find((message) => message.id === id);
      if (found !== undefined) return found;
      if (this.#hasEnded) throw new Error(`the server ended without an answer to ${id}: ${await this.#stderr}`);
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.add(resolve);
      await promise;
      this.#waiting.delete(resolve);
    }
  }

  /** The handshake of 2025-11-25. */
  async initialize(): Promise<void> {
    await this.request(0, "initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "bare", version: "1.0.0" },
    });
    await this.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  }

  /** Calls a tool and answers what its text says. */
  async call(id: number, name: string, args: Record<string, unknown>): Promise<Record<string, unknown>> {
    return readText(await this.request(id, "tools/call", { name, arguments: args }));
  }

  /** Closes standard input. */
  async end(): Promise<void> {
    if (!this.#isInputOpen) return;
    this.#isInputOpen = false;
    await this.#input.close();
  }

  /** Sends a signal. */
  kill(signal: Deno.Signal): void {
    this.#child.kill(signal);
  }

  /** Waits for the end: exit code, and what went to standard error. */
  async finish(): Promise<{ readonly code: number; readonly stderr: string }> {
    const { code } = await this.#child.status;
    await this.#reading;
    return { code, stderr: await this.#stderr };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.end();
    } catch {
      // the process has closed it
    }
    try {
      this.kill("SIGKILL");
    } catch {
      // it has ended already
    }
    await this.finish();
  }
}

/** The JSON in the text of a tool's answer. */
export function readText(message: Message): Record<string, unknown> {
  const content = message.result?.content;
  if (!Array.isArray(content)) throw new Error(`no content: ${JSON.stringify(message)}`);
  return JSON.parse(content[0].text);
}
