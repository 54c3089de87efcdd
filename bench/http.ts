/**
 * The server over HTTP beside the least server on the same SDK: requests a second under the same load, in turns, and
 * whether memory stays where it is.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { startRedis } from "../tests/redis_server.ts";
import { callTool } from "../tests/server/http_client.ts";

/** Requests under way at once. */
const LANES = 16;

/** A server process and a load for it. */
class Server {
  #id = 0;

  private constructor(readonly child: Deno.ChildProcess, readonly url: URL) {}

  static async start(args: readonly string[]): Promise<Server> {
    const child = new Deno.Command(Deno.execPath(), { args: ["run", "-q", ...args], stderr: "piped", stdout: "null" })
      .spawn();
    let text = "";
    const reader = child.stderr.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) throw new Error(text);
      text += value;
      const line = text.split("\n").find((each) => each.includes('"listening"'));
      if (line === undefined) continue;
      void (async () => {
        for (;;) if ((await reader.read()).done) return;
      })();
      return new Server(child, new URL(JSON.parse(line).url));
    }
  }

  async call(name: string, args: Record<string, unknown>): Promise<Record<string, unknown>> {
    const answer = await callTool({ url: this.url }, name, args, { id: ++this.#id });
    const { result, error } = await answer.json();
    if (error !== undefined || result.isError === true) throw new Error(JSON.stringify(error ?? result));
    return result.structuredContent;
  }

  /** CPU time of the process in seconds, and its resident memory in MiB. */
  async used(): Promise<{ readonly cpu: number; readonly rss: number }> {
    // Deno lets nobody read below /proc who may not do everything; cat may.
    const { stdout } = await new Deno.Command("cat", { args: [`/proc/${this.child.pid}/stat`] }).output();
    const [, rest] = new TextDecoder().decode(stdout).split(") ");
    const fields = rest.split(" ");
    return { cpu: (Number(fields[11]) + Number(fields[12])) / 100, rss: Number(fields[21]) * 4096 / 2 ** 20 };
  }

  async stop(): Promise<void> {
    this.child.kill("SIGTERM");
    await this.child.status;
  }
}

interface Measured {
  readonly perSecond: number;
  /** Microseconds of the server's CPU time for a call. */
  readonly cpu: number;
}

/** Calls before anything is timed, of each side: a server runs for long, so what compiles at the start is not its speed. */
const WARM_UP = 6_000;
const ROUNDS = 12;
/** Calls in a round. */
const CALLS = 1_500;

async function load(server: Server, count: number, call: (i: number) => Promise<unknown>): Promise<Measured> {
  const { cpu } = await server.used();
  const started = performance.now();
  let next = 0;
  const lane = async () => {
    while (next < count) await call(next++);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  const seconds = (performance.now() - started) / 1000;
  return { perSecond: count / seconds, cpu: ((await server.used()).cpu - cpu) / count * 1e6 };
}

/** Requests a second of ours and of the bare server. */
export interface Throughput {
  readonly name: string;
  readonly ours: Measured;
  readonly bare: Measured;
  /** Ours by bare, of each round: the least, the middle and the most. */
  readonly ratios: readonly [number, number, number];
  /** What the middle one is to reach. */
  readonly target: number;
}

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

function ours(backend: string, home: string): Promise<Server> {
  const redis = backend.startsWith("redis:") ? `,${new URL(backend).host}` : "";
  return Server.start([
    `--allow-read=${home}`,
    `--allow-write=${home}`,
    `--allow-net=127.0.0.1:0${redis}`,
    "--allow-env=HOME",
    path("../mod.ts"),
    ...["--transport", "http", "--port", "0", "--user", "bench", "--rate", "1000000", "--backend", backend],
  ]);
}

const total = (all: readonly Measured[]) => ({
  perSecond: all.length / all.reduce((sum, { perSecond }) => sum + 1 / perSecond, 0),
  cpu: all.reduce((sum, { cpu }) => sum + cpu, 0) / all.length,
});

/** In turns, so that a machine whose speed drifts drifts for both. */
async function compare(
  name: string,
  server: Server,
  bare: Server,
  call: (i: number) => Promise<unknown>,
  target: number,
): Promise<Throughput> {
  const [a, b]: [Measured[], Measured[]] = [[], []];
  const echo = () => bare.call("echo", { text: "x".repeat(1024) });
  for (let warm = 0; warm < WARM_UP; warm += CALLS) {
    await load(server, CALLS, call);
    await load(bare, CALLS, echo);
  }
  for (let round = 0; round < ROUNDS; round++) {
    a.push(await load(server, CALLS, call));
    b.push(await load(bare, CALLS, echo));
  }
  const ratios = a.map(({ perSecond }, i) => perSecond / b[i].perSecond).toSorted((one, other) => one - other);
  const result: Throughput = {
    name,
    ours: total(a),
    bare: total(b),
    ratios: [ratios[0], (ratios[ROUNDS / 2 - 1] + ratios[ROUNDS / 2]) / 2, ratios[ROUNDS - 1]],
    target,
  };
  console.log(toLine(result));
  return result;
}

function toLine({ name, ours, bare, ratios: [least, middle, most], target }: Throughput): string {
  return `${name.padEnd(46)} ${ours.perSecond.toFixed(0).padStart(6)}/s  bare ${
    bare.perSecond.toFixed(0).padStart(6)
  }/s  ratio ${middle.toFixed(2)} (${least.toFixed(2)}–${most.toFixed(2)}, ≥ ${target})  ` +
    `CPU/call ${ours.cpu.toFixed(0)} µs | ${bare.cpu.toFixed(0)} µs`;
}

/** Lets both serve, and prints as it goes. @param calls is over how many calls the memory is looked at; none if 0. */
export async function timeHttp(calls: number): Promise<Throughput[]> {
  const results: Throughput[] = [];
  const bare = await Server.start(["--allow-net=127.0.0.1:0", path("./bare_http_server.ts")]);
  await using redis = await startRedis();
  const home = await Deno.makeTempDir();
  const backends = {
    "SQLite, synchronous=normal": `sqlite:///${home}/state.db?synchronous=normal`,
    "Redis 7 on loopback": redis.url,
  };
  for (const [name, backend] of Object.entries(backends)) {
    const server = await ours(backend, home);
    const { handle } = await server.call("state_save", { kind: "bench", state: { text: "x".repeat(1000), count: 0 } });
    const loadIt = () => server.call("state_load", { handle });
    results.push(await compare(`state_load of 1 KB, ${name}`, server, bare, loadIt, 0.8));
    const handles = await Promise.all(
      Array.from({ length: LANES }, () => server.call("state_save", { kind: "bench", state: { count: 0 } })),
    );
    const ops = [{ op: "increment", path: "count", by: 1 }];
    const patch = (i: number) => server.call("state_patch", { handle: handles[i % LANES].handle, ops });
    results.push(await compare(`state_patch, ${name}`, server, bare, patch, 0.6));
    if (calls > 0 && backend.startsWith("sqlite")) {
      const seen = [(await server.used()).rss];
      for (let round = 0; round < 10; round++) {
        await load(server, calls / 10, (i) => i % 10 === 0 ? patch(i) : loadIt());
        seen.push((await server.used()).rss);
      }
      console.log(`resident MiB over ${calls} calls: ${seen.map((each) => each.toFixed(0)).join(" ")}`);
    }
    await server.stop();
  }
  await bare.stop();
  await Deno.remove(home, { recursive: true });
  return results;
}

if (import.meta.main) await timeHttp(Number(Deno.args[0] ?? 100_000));
