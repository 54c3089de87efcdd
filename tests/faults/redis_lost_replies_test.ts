import { assert, assertEquals } from "@std/assert";
import { Redis } from "ioredis";
import type { Backend } from "../../src/backends/backend.ts";
import { openRedisBackend } from "../../src/backends/redis.ts";
import { append } from "../../src/document/ops.ts";
import { HandleStore } from "../../src/store/store.ts";
import { appendAfter, entriesOf, expected, find, mint, removal, requestDraft, TRIP } from "../contract/drafts.ts";
import { startRedis } from "../redis_server.ts";
import { TcpProxy } from "../tcp_proxy.ts";

const server = await startRedis();
const CUTS = 200;

async function openThrough(proxy: TcpProxy): Promise<Backend> {
  const prefix = `test-${crypto.randomUUID()}`;
  return await openRedisBackend({ url: `redis://127.0.0.1:${proxy.port}`, prefix, onWarning: () => {} });
}

Deno.test("redis: of 200 writes whose reply is lost each has one effect, and all are acknowledged", async () => {
  await using proxy = new TcpProxy(server.port);
  await using backend = await openThrough(proxy);
  await writeWhileCut(backend, proxy);
});

Deno.test("redis by ioredis: of 200 writes whose reply is lost each has one effect, and all are acknowledged", async () => {
  await using proxy = new TcpProxy(server.port);
  // It sends by itself again what was not answered.
  const redis = new Redis(proxy.port, "127.0.0.1", { maxRetriesPerRequest: 3, retryStrategy: () => 5 });
  redis.on("error", () => {});
  {
    await using backend = await openRedisBackend({
      client: { sendCommand: ([command, ...args]) => redis.call(command, ...args) },
      prefix: `test-${crypto.randomUUID()}`,
      onWarning: () => {},
    });
    await writeWhileCut(backend, proxy);
  }
  await redis.quit();
});

/** Every other write loses its reply; every third carries a request id; some go as a batch. */
async function writeWhileCut(backend: Backend, proxy: TcpProxy): Promise<void> {
  let head = await mint(backend, TRIP);
  const wanted: string[] = [];
  for (let i = 0; proxy.cuts < CUTS; i++) {
    const bodies = Array.from({ length: 1 + i % 3 }, (_, j) => `[{"op":"add","path":"/stop-${i}-${j}","value":1}]`);
    const draft = appendAfter(head, bodies);
    const steps = i % 3 === 0
      ? draft.steps.map((step, j) => ({ ...step, request: requestDraft(`stop-${i}-${j}`) }))
      : draft.steps;
    if (i % 2 === 0) proxy.cutNextReply();
    const answer = await backend.append(TRIP, expected(head), { ...draft, steps });
    assert(answer.outcome === "appended", answer.outcome);
    assertEquals(answer.stamps.map(({ writeId }) => writeId), draft.steps.map(({ entry }) => entry?.writeId));
    assertEquals(entriesOf(draft, answer.stamps).map(({ body }) => body), bodies);
    head = answer.head;
    wanted.push(...bodies);
  }
  const { entries } = await find(backend, TRIP);
  assertEquals(entries.slice(1).map(({ body }) => body), wanted);
  assertEquals(entries.map(({ version, seq }) => [version, seq]), entries.map((_, i) => [i + 1, i + 1]));
}

Deno.test("redis: mints and deletions whose reply is lost have one effect and their own answer", async () => {
  await using proxy = new TcpProxy(server.port);
  await using backend = await openThrough(proxy);
  for (let i = 0; i < 20; i++) {
    const key = { user: "alice", id: `cart_${i}` };
    proxy.cutNextReply();
    const head = await mint(backend, key, { title: "Cart" }, i % 2 === 0 ? { request: requestDraft(`mint-${i}`) } : {});
    assertEquals([head.version, head.seq], [1, 2 * i + 1]);
    proxy.cutNextReply();
    const removed = await backend.remove(key, removal(1));
    assert(removed.outcome === "removed", removed.outcome);
    assertEquals(removed.version, 1);
    assertEquals((await backend.remove(key, removal())).outcome, "gone");
  }
  assertEquals(proxy.cuts, 40);
  const page = await backend.list("alice", { direction: "up", from: 0, limit: 99, tombstones: true });
  assertEquals([page.seq, page.documents.length], [40, 20]);
});

Deno.test("redis: patches of several stores land once each while replies are lost", async () => {
  await using proxy = new TcpProxy(server.port);
  await using first = new HandleStore(await openThrough(proxy));
  const handle = await first.mint("research", { sources: [] }, { user: "alice" });
  const wanted: string[] = [];
  const patch = async (writer: number) => {
    for (let i = 0; i < 25; i++) {
      if (i % 3 === 0) proxy.cutNextReply();
      const source = `https://example.com/${writer}/${i}`;
      wanted.push(source);
      await first.patch(handle, [append("sources", source)], { user: "alice", requestId: source });
    }
  };
  await Promise.all([0, 1, 2, 3].map(patch));
  const { state, version } = await first.get(handle, { user: "alice" });
  assertEquals([...state.sources as string[]].sort(), wanted.sort());
  assertEquals(version, 101);
});
