/**
 * The server on stdio beside the least server on the same SDK: what share of a start and of a call is ours.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { compare, type Comparison, type Contestant, print } from "./side_by_side.ts";

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1.0.0" },
};

/** A server process, spoken to in bare JSON-RPC so that no client's share is counted. */
export class Process {
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #lines: AsyncIterator<string>;
  #id = 0;
  /** Of all requests and answers so far. */
  bytes = 0;

  constructor(args: readonly string[]) {
    this.#child = new Deno.Command(Deno.execPath(), { args: [...args], stdin: "piped", stdout: "piped" }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.#lines = lines(this.#child.stdout);
  }

  async request(method: string, params: Record<string, unknown> = {}): Promise<unknown> {
    const id = ++this.#id;
    const message = JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta: META } });
    await this.#input.write(new TextEncoder().encode(message + "\n"));
    const { value } = await this.#lines.next();
    this.bytes += message.length + (value?.length ?? 0) + 2;
    const answer = JSON.parse(value ?? "{}");
    if (answer.id !== id || answer.error !== undefined) throw new Error(`unexpected answer: ${value}`);
    return answer.result;
  }

  async end(): Promise<void> {
    await this.#input.close();
    await this.#child.status;
  }
}

async function* lines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    yield* parts;
  }
}

/** Our server, with its database in a directory. */
export const ours = (home: string): readonly string[] => [
  "run",
  "-q",
  `--allow-read=${home}`,
  `--allow-write=${home}`,
  path("../mod.ts"),
  "--backend",
  `sqlite:///${home}/state.db`,
  "--user",
  "local",
  "--writer",
  "bench",
];
/** The least one. */
export const BARE = ["run", "-q", path("./bare_server.ts")];

function path(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}

/** From the start of the process to its first answer. */
function start(args: readonly string[]): Contestant {
  return {
    run: async () => {
      const server = new Process(args);
      await server.request("server/discover");
      await server.end();
    },
  };
}

/** Times a start and calls. */
export async function timeStdio(): Promise<Comparison[]> {
  const home = await Deno.makeTempDir();
  const server = ours(home);
  const results: Comparison[] = [
    await compare("start to first answer | bare server, one tool", start(server), start(BARE), {
      runs: 20,
      block: 1,
      target: 1.5,
    }),
  ];
  const [own, bare] = [new Process(server), new Process(BARE)];
  results.push(
    await compare("tools/list, 8 tools | 1 tool", { run: () => own.request("tools/list") }, {
      run: () => bare.request("tools/list"),
    }, { runs: 1_000 }),
  );
  const minted = await own.request("tools/call", {
    name: "state_save",
    arguments: { kind: "bench", state: { city: "Copenhagen" } },
  }) as { structuredContent: { handle: string } };
  const { handle } = minted.structuredContent;
  results.push(
    await compare(
      "state_load of a small state | echo",
      {
        run: () => own.request("tools/call", { name: "state_load", arguments: { handle } }),
      },
      { run: () => bare.request("tools/call", { name: "echo", arguments: { text: handle } }) },
      { runs: 1_000 },
    ),
  );
  await own.end();
  await bare.end();
  await Deno.remove(home, { recursive: true });
  return results;
}

if (import.meta.main) print(await timeStdio());
