/**
 * Runs the program to its end.
 *
 * @module
 */

import { environment, PROGRAM } from "../server/client.ts";

/** What a run came to. */
export interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** How to run it. */
export interface RunOptions {
  readonly home: string;
  readonly flags?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  readonly input?: string;
}

/** `deno run`, with nothing on standard input unless something is given. */
export async function runProgram({ home, flags = [], args = [], env, cwd, input }: RunOptions): Promise<Run> {
  return await runCommand(Deno.execPath(), ["run", ...flags, PROGRAM, ...args], environment(home, env), cwd, input);
}

/** The rest of a stream. */
export async function readText(reader: ReadableStreamDefaultReader<string>): Promise<string> {
  let text = "";
  for (let read = await reader.read(); !read.done; read = await reader.read()) text += read.value;
  return text;
}

/** A line in a shell, with `deno` found and this input. */
export async function runLine(line: string, home: string, input: string, cwd?: string): Promise<Run> {
  const directory = Deno.execPath().replace(/\/[^/]*$/, "");
  const env = environment(home);
  return await runCommand("sh", ["-c", line], { ...env, PATH: `${directory}:${env.PATH}` }, cwd, input);
}

async function runCommand(
  command: string,
  args: readonly string[],
  env: Record<string, string>,
  cwd?: string,
  input = "",
): Promise<Run> {
  const child = new Deno.Command(command, {
    args: [...args],
    env,
    clearEnv: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
    ...(cwd === undefined ? {} : { cwd }),
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input)).catch(() => {}); // it may have ended already
  await writer.close().catch(() => {});
  const { code, stdout, stderr } = await child.output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

/** What a client says that mints a cart and goes. */
export const MINT_AND_GO = [
  {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bare", version: "1" } },
  },
  { jsonrpc: "2.0", method: "notifications/initialized" },
  {
    jsonrpc: "2.0",
    id: 2,
    method: "tools/call",
    params: { name: "state_save", arguments: { kind: "cart", state: { tea: 1 } } },
  },
].map((message) => JSON.stringify(message) + "\n").join("");
