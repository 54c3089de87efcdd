import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Backend } from "../../src/backends/backend.ts";
import { openRedisBackend } from "../../src/backends/redis.ts";
import { BackendError } from "../../src/document/errors.ts";
import { HEAD, mint, outlive, seconds } from "../contract/drafts.ts";
import { KvSite } from "../faults/kv_site.ts";
import { startRedis } from "../redis_server.ts";
import { Site } from "../store/raw.ts";

/** More than what anybody sweeps on the way. */
const DAMAGED = 70;
const WHOLE = 10;
const DAY = 86_400_000;

const idOf = (i: number) => `cart_${String(i).padStart(3, "0")}`;

/** Documents that are due in the order of their names; those that are to be damaged first. */
async function mintDue(backend: Backend, ttlDays: number): Promise<void> {
  for (let i = 0; i < DAMAGED + WHOLE; i++) await mint(backend, { user: "alice", id: idOf(i) }, { ttlDays });
}

/** Sweeps as a writer does on the way, a few times, and asserts that all that can be read has ended. */
async function sweepPast(backend: Backend, sweep: () => Promise<number>): Promise<void> {
  assertEquals(await sweep(), WHOLE);
  assertEquals(await sweep(), 0);
  const page = await backend.list("alice", { direction: "up", from: 0, limit: 200, tombstones: true });
  const ended = page.documents.filter((document) => "status" in document && document.writeId !== "");
  assertEquals(ended.map(({ id }) => id), Array.from({ length: WHOLE }, (_, i) => idOf(DAMAGED + i)));
}

Deno.test("sqlite: what is due and damaged does not hold up what is due behind it", async () => {
  await using site = new Site();
  let now = Date.UTC(2026, 6, 1);
  const backend = await site.backend({ now: () => now++ });
  await mintDue(backend, 1);
  site.run("UPDATE mcpstate_document SET kind = x'00' WHERE id < ?", idOf(DAMAGED));
  now += DAY;
  await sweepPast(backend, () => backend.sweep("alice", 64));
  assertEquals(site.number("SELECT count(*) FROM mcpstate_document WHERE kind = x'00' AND status = 'live'"), DAMAGED);
});

Deno.test("kv: what is due and damaged does not hold up what is due behind it", async () => {
  await using site = new KvSite();
  let now = Date.UTC(2026, 6, 1);
  const backend = await site.backend({ now: () => now++ });
  await mintDue(backend, 1);
  await mint(backend, { user: "bob", id: "cart_bob" }, { ttlDays: 1 });
  using kv = await Deno.openKv(site.path);
  for (let i = 0; i < DAMAGED; i++) await kv.set(["mcpstate", "document", "alice", idOf(i)], { head: "damaged" });
  // Records of other kinds too, in front of all that are whole.
  for (let i = 0; i < DAMAGED; i++) {
    await kv.set(["mcpstate", "staged", "alice", ` ${i}`], "damaged");
    await kv.set(["mcpstate", "leftover", "alice", ` ${i}`], "damaged");
    await kv.set(["mcpstate", "user", ` ${i}`], "damaged");
  }
  now += DAY;
  await sweepPast(backend, () => backend.sweep("alice", 64));
  for (let swept = Infinity; swept > 0;) swept = await backend.sweep(undefined, 64);
  const gone = await backend.read({ user: "bob", id: "cart_bob" }, HEAD);
  assert(gone.outcome === "gone" && gone.tombstone.writeId !== "");
});

Deno.test("redis: what is due and damaged does not hold up what is due behind it", async () => {
  await using server = await startRedis();
  await using backend = await openRedisBackend({ url: server.url, onWarning: () => {} });
  const ttlDays = seconds(2);
  await mintDue(backend, ttlDays);
  // Of another type, with a time that is none, or in the index long before its time.
  const damage = `for i = 0, ${DAMAGED - 1} do
    local head = string.format('mcpstate:{alice}:head:cart_%03d', i)
    if i % 3 == 0 then redis.call('SET', head, 'damaged')
    else
      local expiresAt = i % 3 == 1 and 'damaged' or '9000000000000'
      local now = string.gsub(redis.call('HGET', head, 'now'), '^(%S+ %S+ %S+ )%S+', '%1' .. expiresAt)
      redis.call('HSET', head, 'now', now)
    end
    redis.call('PERSIST', head)
  end`;
  await server.cli("EVAL", damage, "0");
  await assertRejects(() => backend.read({ user: "alice", id: idOf(0) }, HEAD), BackendError);
  await outlive(backend, ttlDays);
  assertEquals(await backend.sweep("alice", 64), WHOLE);
  assertEquals(await backend.sweep("alice", 64), 0);
  for (let i = DAMAGED; i < DAMAGED + WHOLE; i++) {
    const gone = await backend.read({ user: "alice", id: idOf(i) }, HEAD);
    assert(gone.outcome === "gone" && gone.tombstone.writeId !== "", gone.outcome);
  }
});
