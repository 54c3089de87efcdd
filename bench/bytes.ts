/**
 * Bytes beside those that the bare driver needs: on disk for each write, on the wire for each call.
 *
 * @module
 */

import { append } from "../mod.ts";
import { startRedis } from "../tests/redis_server.ts";
import { ENGINES, openStore } from "./engines.ts";
import { openRawRedis } from "./raw_redis.ts";
import { BARE, ours as serverAt, Process } from "./stdio.ts";
import { text } from "./texts.ts";

/** What one operation takes. */
export interface Bytes {
  readonly name: string;
  readonly ours: number;
  readonly raw: number;
}

const user = "alice";
const RUNS = 1_000;

/** On disk, for each of a thousand appends of 100 bytes to a document of 1 KB, keyframes included. */
export async function onDisk(): Promise<Bytes[]> {
  const found: Bytes[] = [];
  for (const open of ENGINES) {
    await using engine = await open();
    await using store = await openStore(engine);
    const handle = await store.mint("bench", { note: text(1024), log: [] }, { user });
    const before = await engine.disk();
    for (let i = 0; i < RUNS; i++) {
      const item = text(100, i);
      await store.patch(handle, [append("log", item)], { user });
      await engine.raw.write(JSON.stringify([{ op: "add", path: "/log/-", value: item }]));
    }
    const after = await engine.disk();
    found.push({
      name: `append of 100 bytes, on disk, ${engine.name}`,
      ours: (after.ours - before.ours) / RUNS,
      raw: (after.raw - before.raw) / RUNS,
    });
  }
  return found;
}

/** Between the store and Redis, both ways. */
export async function toRedis(): Promise<Bytes[]> {
  await using server = await startRedis();
  await using store = await openStore({ url: server.url });
  using raw = await openRawRedis(server.url);
  const passed = async () => {
    const stats = await server.cli("INFO", "stats");
    return ["input", "output"].reduce(
      (sum, way) => sum + Number(new RegExp(`total_net_${way}_bytes:(\\d+)`).exec(stats)?.[1]),
      0,
    );
  };
  const idle = await passed();
  const perLook = await passed() - idle;
  const measure = async (run: (i: number) => Promise<unknown>) => {
    await run(0);
    const before = await passed();
    for (let i = 1; i <= RUNS; i++) await run(i);
    return (await passed() - before - perLook) / RUNS;
  };
  const small = await store.mint("bench", { note: text(1024), log: [] }, { user });
  const large = await store.mint("bench", { note: text(1000 * 1024), log: [] }, { user });
  const item = text(100);
  const body = JSON.stringify([{ op: "add", path: "/log/-", value: item }]);
  await raw.write(body);
  const [head, write] = [await measure(() => raw.head()), await measure(() => raw.write(body))];
  return [
    { name: "get of 1 MiB, warm, to and from Redis", ours: await measure(() => store.get(large, { user })), raw: head },
    {
      name: "append of 100 bytes, to and from Redis",
      ours: await measure(() => store.patch(small, [append("log", item)], { user })),
      raw: write,
    },
  ];
}

/** Of a call's request and answer over stdio; over HTTP their bodies are the same. The raw side is an echo of 1 KB. */
export async function ofCalls(): Promise<Bytes[]> {
  const home = await Deno.makeTempDir();
  const [ours, bare] = [new Process(serverAt(home)), new Process(BARE)];
  const measure = async (server: Process, name: string, args: Record<string, unknown>) => {
    const before = server.bytes;
    const answer = await server.request("tools/call", { name, arguments: args });
    return { bytes: server.bytes - before, answer };
  };
  const echo = (await measure(bare, "echo", { text: text(1000) })).bytes;
  const state = { note: text(1000), count: 0 };
  const { answer } = await measure(ours, "state_save", { kind: "bench", state });
  const { handle } = (answer as { structuredContent: { handle: string } }).structuredContent;
  const calls: Record<string, Record<string, unknown>> = {
    state_load: { handle },
    state_patch: { handle, ops: [{ op: "increment", path: "count", by: 1 }] },
    state_changes: { handle, since: 1 },
    state_list: {},
  };
  const found: Bytes[] = [];
  for (const [name, args] of Object.entries(calls)) {
    found.push({
      name: `${name}, a state of 1 KB, request and answer`,
      ours: (await measure(ours, name, args)).bytes,
      raw: echo,
    });
  }
  await Promise.all([ours.end(), bare.end()]);
  await Deno.remove(home, { recursive: true });
  return found;
}
