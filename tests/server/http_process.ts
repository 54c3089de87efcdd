/**
 * The program as a process that serves over HTTP.
 *
 * @module
 */

import { environment } from "./client.ts";

/** What the process tells on standard error, line by line. */
export interface LogLine {
  readonly level: string;
  readonly event: string;
  readonly url?: string;
  readonly [field: string]: unknown;
}

/** A server of a test, killed at its end if it still runs. */
export interface HttpProcess extends AsyncDisposable {
  readonly url: URL;
  /** What it has told so far. */
  readonly lines: readonly LogLine[];
  kill(signal: Deno.Signal): void;
  /** Waits for the end. */
  finish(): Promise<{ readonly code: number; readonly signal: Deno.Signal | null }>;
}

/** Starts a line of a shell, with `deno` found, and waits until it listens. */
export async function startServer(line: string, home: string, env: Record<string, string> = {}): Promise<HttpProcess> {
  const directory = Deno.execPath().replace(/\/[^/]*$/, "");
  const variables = environment(home, env);
  const child = new Deno.Command("sh", {
    args: ["-c", `exec ${line}`],
    clearEnv: true,
    env: { ...variables, PATH: `${directory}:${variables.PATH}` },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const lines: LogLine[] = [];
  const other: string[] = [];
  const { promise: listening, resolve, reject } = Promise.withResolvers<URL>();
  const reading = (async () => {
    let rest = "";
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) {
      const parts = (rest + text).split("\n");
      rest = parts.pop() ?? "";
      for (const part of parts) {
        if (!part.startsWith("{")) {
          other.push(part);
          continue;
        }
        const told: LogLine = JSON.parse(part);
        lines.push(told);
        if (told.event === "listening") resolve(new URL(told.url ?? ""));
      }
    }
    reject(new Error(`it ended without listening: ${[...other, rest].join("\n")}`));
  })();
  const finish = async () => {
    const { code, signal } = await child.status;
    await reading;
    return { code, signal };
  };
  const url = await listening.catch(async (error) => {
    await finish();
    throw error;
  });
  return {
    url,
    lines,
    kill: (signal) => child.kill(signal),
    finish,
    async [Symbol.asyncDispose]() {
      try {
        child.kill("SIGKILL");
      } catch {
        // it has ended already
      }
      await finish();
    },
  };
}
