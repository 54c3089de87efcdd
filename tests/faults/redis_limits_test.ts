import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import type { Head } from "../../src/backends/backend.ts";
import { openRedisBackend } from "../../src/backends/redis.ts";
import { BackendError } from "../../src/document/errors.ts";
import {
  AARHUS,
  appendAfter,
  expected,
  find,
  HEAD,
  keyframeOf,
  mint,
  removal,
  requestDraft,
  seconds,
  TRIP,
  until,
  write,
} from "../contract/drafts.ts";
import { type RedisServer, startRedis } from "../redis_server.ts";

const quiet = { onWarning: () => {} };

Deno.test("redis: when it is full, writes are refused whole, reads and deletions go on", async () => {
  await using server = await startRedis("--maxmemory", "6mb", "--maxmemory-policy", "noeviction");
  await using backend = await openRedisBackend({ url: server.url, ...quiet });
  const heads = new Map<string, Head>();
  const body = JSON.stringify({ notes: "n".repeat(20_000) });
  const attempt = async (write: () => Promise<unknown>): Promise<BackendError | undefined> => {
    try {
      await write();
    } catch (error) {
      assert(error instanceof BackendError, String(error));
      return error;
    }
  };
  let full: BackendError | undefined;
  for (let i = 0; full === undefined; i++) {
    const key = { user: "alice", id: `cart_${i}` };
    const request = requestDraft(`mint-${i}`);
    full = await attempt(async () => {
      heads.set(key.id, await mint(backend, key, { body, ttlDays: 1 }, { request }));
      heads.set(key.id, await write(backend, key, heads.get(key.id) as Head, [body], { turn: 1 }));
    });
  }
  assertStringIncludes(full.message, "Redis is full");
  assertEquals(full.outcomeUnknown, false);
  await server.cli("CONFIG", "SET", "maxmemory", "1"); // so that the smallest write does not fit either
  const [id, head] = [...heads][0];
  const key = { user: "alice", id };
  const draft = appendAfter(head, [AARHUS]);
  for (
    const refused of [
      () => backend.append(key, expected(head), { ...draft, keyframe: keyframeOf(head, draft, body) }),
      () => mint(backend, { user: "bob", id: "cart_1" }, { body }),
      () => backend.append(key, expected(head), { steps: [{ request: requestDraft("no-op") }], bytes: 2, oldest: 1 }),
      () => backend.touch(key, { ttlDays: 9 }),
    ]
  ) assertStringIncludes((await assertRejects(refused, BackendError)).message, "Redis is full");

  // No head without its entry, no entry without its head.
  const page = await backend.list("alice", { direction: "up", from: 0, limit: 1_000, tombstones: true });
  assertEquals(new Set(page.documents.map(({ id }) => id)), new Set(heads.keys()));
  for (const [id, head] of heads) {
    const found = await find(backend, { user: "alice", id });
    assertEquals(found.head, head);
    assertEquals(found.entries.map(({ version }) => version), head.version === 1 ? [1] : [1, 2]);
  }
  assertEquals(await backend.findRequest("alice", "no-op"), undefined);
  assertEquals((await backend.list("bob", { direction: "up", from: 0, limit: 9, tombstones: true })).seq, 0);

  for (const id of [...heads.keys()].slice(0, 9)) {
    assertEquals((await backend.remove({ user: "alice", id }, removal())).outcome, "removed");
    assertEquals((await backend.read({ user: "alice", id }, HEAD)).outcome, "gone");
  }
  await server.cli("CONFIG", "SET", "maxmemory", "6mb");
  await until(async () => await attempt(() => mint(backend, TRIP)) === undefined, "there is room again");
});

Deno.test("redis: what has expired is buried when it is full", async () => {
  await using server = await startRedis();
  await using backend = await openRedisBackend({ url: server.url, ...quiet });
  await mint(backend, TRIP, { ttlDays: seconds(0.2) });
  await mint(backend, { user: "alice", id: "cart_1" }, { ttlDays: seconds(0.2) });
  await server.cli("CONFIG", "SET", "maxmemory", "1");
  await until(async () => (await backend.read(TRIP, HEAD)).outcome === "gone", "it has expired");
  await until(async () => await backend.sweep("alice", 10) === 1, "the other is swept");
});

Deno.test("redis: after its time no query finds the state, without a sweep, and the tombstone still answers", async () => {
  await using server = await startRedis();
  await using backend = await openRedisBackend({ url: server.url, ...quiet });
  const secret = "the-pin-is-1234";
  const body = JSON.stringify({ notes: secret });
  let head = await mint(backend, TRIP, { body, turn: 1, title: secret, ttlDays: seconds(4) });
  const draft = appendAfter(head, [body], {}, { turn: 2 });
  const keyframe = keyframeOf(head, draft, body);
  const appended = await backend.append(TRIP, expected(head), { ...draft, keyframe });
  assert(appended.outcome === "appended");
  head = appended.head;
  const kept = await mint(backend, { user: "alice", id: "cart_kept" }, { ttlDays: seconds(4) });
  await backend.touch({ user: "alice", id: "cart_kept" }, { ttlDays: null });
  assert((await dump(server)).includes(secret));
  await until(async () => !(await dump(server)).includes(secret), "the state is gone");
  const keys = (await server.cli("--scan")).trim().split("\n").sort();
  assertEquals(keys.filter((key) => key.endsWith(TRIP.id)), []);
  const gone = await backend.read(TRIP, HEAD);
  assert(gone.outcome === "gone");
  const { goneAt, status, ttlDays, kind } = gone.tombstone;
  assertEquals({ goneAt, status, ttlDays, kind }, {
    goneAt: head.expiresAt,
    status: "expired",
    ttlDays: seconds(4),
    kind: "trip",
  });
  const found = await find(backend, { user: "alice", id: "cart_kept" });
  assertEquals([found.head.expiresAt, found.entries.length, found.head.seq], [undefined, 1, kept.seq]);
});

Deno.test("redis: a process whose clock is an hour ahead neither expires nor sweeps what lives", async () => {
  await using server = await startRedis();
  await using backend = await openRedisBackend({ url: server.url, ...quiet });
  const head = await mint(backend, TRIP, { ttlDays: seconds(1_800) });
  await backend.remove({ user: "alice", id: (await mint(backend, { user: "alice", id: "cart_1" })).id }, removal());
  const now = Date.now;
  Date.now = () => now() + 3_600_000;
  try {
    await using ahead = await openRedisBackend({ url: server.url, ...quiet });
    assertEquals(await ahead.sweep("alice", 10), 0);
    assertEquals(await ahead.sweep(undefined, 10), 0);
    assertEquals((await find(ahead, TRIP)).head, head);
    assertEquals((await ahead.list("alice", { direction: "up", from: 0, limit: 9, tombstones: false })).documents, [
      head,
    ]);
    const minted = await mint(ahead, { user: "alice", id: "cart_2" }, { ttlDays: seconds(1_800) });
    assert(Math.abs(minted.createdAt - now()) < 60_000, "its times are the server's");
    const answer = await ahead.append(TRIP, expected(head), appendAfter(head, [AARHUS]));
    assert(answer.outcome === "appended" && Math.abs(answer.head.updatedAt - now()) < 60_000);
    const touched = await ahead.touch(TRIP, { ttlDays: "last" });
    assert(touched.outcome === "touched" && Math.abs((touched.head.expiresAt ?? 0) - now() - 1_800_000) < 60_000);
  } finally {
    Date.now = now;
  }
  assertEquals((await find(backend, TRIP)).entries.length, 2);
});

Deno.test("redis: a warm read is one command and moves no body", async () => {
  await using server = await startRedis();
  await using backend = await openRedisBackend({ url: server.url, ...quiet });
  const head = await mint(backend, TRIP, { body: JSON.stringify({ notes: "n".repeat(500_000) }) });
  await find(backend, TRIP, HEAD, head);
  const before = await traffic(server);
  await find(backend, TRIP, HEAD, head);
  const after = await traffic(server);
  assertEquals(after.scripts - before.scripts, 1);
  assert(after.bytes - before.bytes < 20_000, `${after.bytes - before.bytes} bytes`);
  const text = await server.cli("INFO", "commandstats");
  assertMatch(text, /cmdstat_evalsha:calls=\d+/);
});

async function traffic(server: RedisServer): Promise<{ scripts: number; bytes: number }> {
  const info = await server.cli("INFO", "everything");
  return {
    scripts: Number(/cmdstat_evalsha:calls=(\d+)/.exec(info)?.[1]),
    bytes: Number(/total_net_output_bytes:(\d+)/.exec(info)?.[1]),
  };
}

/** All that a server tells of its keys. */
async function dump(server: RedisServer): Promise<string> {
  const keys = (await server.cli("--scan")).trim().split("\n").filter((key) => key !== "");
  return keys.join("\n") + (await Promise.all(keys.map(async (key) => {
    const type = (await server.cli("TYPE", key)).trim();
    const query: Record<string, string[]> = {
      hash: ["HGETALL", key],
      zset: ["ZRANGE", key, "0", "-1"],
      stream: ["XRANGE", key, "-", "+"],
      string: ["GET", key],
    };
    return type in query ? await server.cli(...query[type]) : "";
  }))).join("\n");
}
