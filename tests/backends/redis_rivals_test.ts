import { assert, assertEquals } from "@std/assert";
import type { Backend } from "../../src/backends/backend.ts";
import { openRedisBackend } from "../../src/backends/redis.ts";
import { AARHUS, appendAfter, expected, find, HEAD, mint, ODENSE, TRIP, write } from "../contract/drafts.ts";
import { startRedis } from "../redis_server.ts";

const server = await startRedis();

function open(prefix: string): Promise<Backend> {
  return openRedisBackend({ url: server.url, prefix, onWarning: () => {} });
}

/** How often the server was asked for each of these while something was done. */
async function asked<T>(work: () => Promise<T>): Promise<{ answer: T; scripts: number; looks: number }> {
  const before = await counts();
  const answer = await work();
  const after = await counts();
  return { answer, scripts: after.scripts - before.scripts, looks: after.looks - before.looks };
}

async function counts(): Promise<{ scripts: number; looks: number }> {
  const stats = await server.cli("INFO", "commandstats");
  const calls = (command: string) => Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
  return { scripts: calls("evalsha"), looks: calls("hget") };
}

Deno.test("read: of what is held and unchanged is one look at the head and no script", async () => {
  await using backend = await open("unchanged");
  const head = await mint(backend, TRIP);
  const { version, writeId } = head;
  const { answer, scripts, looks } = await asked(() => backend.read(TRIP, HEAD, { version, writeId, head }));
  assertEquals(answer, { outcome: "found", head, target: "held", onto: "held", entries: [] });
  assertEquals([scripts, looks], [0, 1]);
});

Deno.test("read: of what was touched, written or removed since it is held tells so", async () => {
  await using backend = await open("changed");
  await using other = await open("changed");
  const head = await mint(backend, TRIP);
  const held = { version: head.version, writeId: head.writeId, head };
  const touched = await other.touch(TRIP, { ttlDays: 7, turn: 3 });
  assert(touched.outcome === "touched");
  const renewed = await backend.read(TRIP, HEAD, held);
  assertEquals(renewed, { outcome: "found", head: touched.head, target: "held", onto: "held", entries: [] });
  const written = await write(other, TRIP, touched.head, [AARHUS]);
  const found = await backend.read(TRIP, HEAD, { ...held, head: touched.head });
  assert(found.outcome === "found");
  assertEquals([found.head, found.entries.map(({ body }) => body)], [written, [AARHUS]]);
});

Deno.test("read: where others write is one script again, until nobody else has written for a while", async () => {
  await using backend = await open("rivals");
  await using other = await open("rivals");
  let head = await mint(backend, TRIP);
  const read = () => backend.read(TRIP, HEAD, { version: head.version, writeId: head.writeId, head });
  head = await write(other, TRIP, head, [AARHUS]);
  const stale = { ...head, version: 1, writeId: "w1" };
  await backend.read(TRIP, HEAD, { version: 1, writeId: "w1", head: stale });
  const scripts: number[] = [];
  for (let i = 0; i < 10; i++) scripts.push((await asked(read)).scripts);
  assertEquals(scripts, [1, 1, 1, 1, 1, 1, 1, 1, 0, 0]);
});

Deno.test("append: where others write tells in its one script what they have written", async () => {
  await using backend = await open("contended");
  await using other = await open("contended");
  const head = await mint(backend, TRIP);
  const first = await write(other, TRIP, head, [AARHUS]);
  const lose = () => backend.append(TRIP, expected(head), appendAfter(head, [ODENSE]));
  const alone = await asked(lose);
  const warned = await asked(lose);
  for (const { answer } of [alone, warned]) {
    assert(answer.outcome === "lost");
    assertEquals([answer.found.head, answer.found.entries.map(({ body }) => body)], [first, [AARHUS]]);
  }
  assertEquals([alone.scripts, warned.scripts], [2, 1]);
  const appended = await backend.append(TRIP, expected(first), appendAfter(first, [ODENSE]));
  assert(appended.outcome === "appended");
  assertEquals((await find(backend, TRIP)).head, appended.head);
});
