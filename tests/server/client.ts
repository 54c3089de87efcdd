/**
 * Real clients of the real server process, started with exactly the documented flags.
 *
 * @module
 */

import { Client as ModernClient } from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernTransport } from "@modelcontextprotocol/client/stdio";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as LegacyTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv-provider.js";
import { assert, assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import type { ServerOptions } from "../../src/server/mod.ts";
import { createServer } from "../../src/server/server.ts";
import type { HandleStore } from "../../src/store/store.ts";

/** The program. */
export const PROGRAM = fileURLToPath(new URL("../../mod.ts", import.meta.url));

/** What users are told to allow, for the default database below a home. */
export function documentedFlags(home: string): string[] {
  const directory = `${home}/.mcpstate`;
  return [
    `--allow-read=${directory}`,
    `--allow-write=${directory}`,
    "--allow-env=HOME,MCPSTATE_BACKEND,MCPSTATE_USER,MCPSTATE_WRITER,MCPSTATE_MAX_STATE_BYTES",
  ];
}

/** An empty home, removed afterwards. */
export function emptyHome(): { readonly path: string } & AsyncDisposable {
  const path = Deno.makeTempDirSync({ prefix: "mcpstate-home-" });
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

/** The environment of a server whose home is elsewhere, with the modules of this one. */
export function environment(home: string, variables: Record<string, string> = {}): Record<string, string> {
  return { HOME: home, DENO_DIR, PATH: Deno.env.get("PATH") ?? "", NO_COLOR: "1", ...variables };
}

const DENO_DIR = await denoDir();

async function denoDir(): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).output();
  return JSON.parse(new TextDecoder().decode(stdout)).denoDir;
}

/** What a call of a tool came back with. */
export interface ToolResult {
  readonly isError?: boolean;
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: unknown;
}

/** A tool as it is listed. */
export interface ListedTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: Record<string, unknown>;
  readonly outputSchema?: Record<string, unknown>;
  readonly annotations?: Record<string, unknown>;
  readonly _meta?: Record<string, unknown>;
}

/** A client that is connected. */
export interface Connection extends AsyncDisposable {
  readonly tools: readonly ListedTool[];
  readonly instructions: string | undefined;
  /** Calls a tool and answers as it came. */
  raw(name: string, args: Record<string, unknown>, meta?: Record<string, unknown>): Promise<ToolResult>;
}

/** How to start a server. */
export interface Start {
  readonly home: string;
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
}

function parameters({ home, args = [], env }: Start) {
  return {
    command: Deno.execPath(),
    args: ["run", ...documentedFlags(home), PROGRAM, ...args],
    env: environment(home, env),
    stderr: "inherit" as const,
  };
}

/** Ends what a client leaves running after a process is gone: the timers by which it would have killed it. */
async function withoutTimers<T>(work: () => Promise<T>): Promise<T> {
  const original = globalThis.setTimeout;
  const started: ReturnType<typeof setTimeout>[] = [];
  const recorded = (...args: Parameters<typeof setTimeout>) => {
    const timer = original(...args);
    started.push(timer);
    return timer;
  };
  globalThis.setTimeout = Object.assign(recorded, original);
  try {
    return await work();
  } finally {
    globalThis.setTimeout = original;
    for (const timer of started) clearTimeout(timer);
  }
}

/** The part of a client that both generations have. */
export interface AnyClient {
  getInstructions(): string | undefined;
  listTools(): Promise<{ tools: unknown }>;
  callTool(
    params: { name: string; arguments: Record<string, unknown>; _meta?: Record<string, unknown> },
  ): Promise<unknown>;
  close(): Promise<void>;
}

/** A connection, and the client itself for what only one generation can do. */
export type Connected<Client> = Connection & { readonly client: Client };

/** What the tests do with a client of either generation. */
export async function toConnection<Client extends AnyClient>(client: Client): Promise<Connected<Client>> {
  return {
    client,
    instructions: client.getInstructions(),
    tools: (await client.listTools()).tools as readonly ListedTool[],
    raw: async (name, args, _meta) => await client.callTool({ name, arguments: args, _meta }) as ToolResult,
    [Symbol.asyncDispose]: () => withoutTimers(() => client.close()),
  };
}

/** The 1.x client, which opens with `initialize`. */
export async function connectLegacy(start: Start): Promise<Connected<LegacyClient>> {
  const client = new LegacyClient({ name: "legacy-laptop", version: "1.0.0" });
  await withoutTimers(() => client.connect(new LegacyTransport(parameters(start))));
  return await toConnection(client);
}

/** How to start any program that serves MCP on stdio. */
export interface Program {
  readonly command: string;
  readonly args: string[];
  readonly cwd?: string;
  readonly env?: Record<string, string>;
  readonly stderr?: "inherit";
}

/** The 2.x client, which speaks nothing but 2026-07-28. */
export async function connectModern(start: Start): Promise<Connected<ModernClient>> {
  return await connectTo(parameters(start));
}

/** The same, to any program. */
export async function connectTo(program: Program): Promise<Connected<ModernClient>> {
  const client = new ModernClient(
    { name: "modern-phone", version: "1.0.0" },
    { versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  await withoutTimers(() => client.connect(new ModernTransport(program)));
  assertEquals(client.getNegotiatedProtocolVersion(), "2026-07-28");
  return await toConnection(client);
}

/** A client of a server in this process. */
export async function connectInProcess(store: HandleStore, options: ServerOptions): Promise<Connection> {
  const client = new LegacyClient({ name: "in-process", version: "1.0.0" });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await createServer(store, options).connect(far);
  await client.connect(near);
  return await toConnection(client);
}

/** What the tests look at in an answer. Each tool has some of it. */
export interface Answer {
  readonly handle: string;
  readonly version: number;
  readonly bytes: number;
  readonly last_writer: string;
  readonly expires_at: string | null;
  readonly state: unknown;
  readonly outline: string;
  readonly next: string;
  readonly changed: readonly string[];
  readonly handles: readonly { readonly handle: string }[];
  readonly next_cursor: string | null;
  readonly entries: readonly Entry[];
  readonly more: boolean;
  readonly [field: string]: unknown;
}

/** An entry, as `state_changes` and a stale write tell it. */
export interface Entry {
  readonly version: number;
  readonly writer: string;
  readonly turn: number | null;
  readonly paths: readonly string[];
  readonly patch: readonly unknown[] | null;
}

/** What the tests look at in an error. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly field: string;
  readonly path: string;
  readonly current: Answer;
  readonly changes: readonly Entry[];
  readonly [fact: string]: unknown;
}

const validator = new AjvJsonSchemaValidator();

/** Calls a tool that succeeds: with an answer of the schema that is listed, and with the same JSON as text. */
export async function succeed(
  connection: Connection,
  name: string,
  args: Record<string, unknown>,
  meta?: Record<string, unknown>,
): Promise<Answer> {
  const result = await connection.raw(name, args, meta);
  assertEquals(result.isError ?? false, false, result.content[0]?.text);
  assertEquals(result.content.length, 1);
  assertEquals(JSON.parse(result.content[0].text ?? ""), result.structuredContent);
  const schema = connection.tools.find((tool) => tool.name === name)?.outputSchema ?? false;
  const { valid, errorMessage } = validator.getValidator(schema as never)(result.structuredContent);
  assert(valid, errorMessage);
  return result.structuredContent as Answer;
}

/** Calls a tool that fails: text alone, with a code and a message. Answers the error. */
export async function fail(
  connection: Connection,
  name: string,
  args: Record<string, unknown>,
  meta?: Record<string, unknown>,
): Promise<Failure> {
  const result = await connection.raw(name, args, meta);
  assertEquals(result.isError, true, result.content[0]?.text);
  assertEquals(result.structuredContent, undefined);
  assertEquals(result.content.map(({ type }) => type), ["text"]);
  const { ok, error } = JSON.parse(result.content[0].text ?? "");
  assertEquals([ok, typeof error.code, typeof error.message], [false, "string", "string"]);
  return error;
}
