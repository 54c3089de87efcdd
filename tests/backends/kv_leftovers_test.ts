import { assert, assertEquals } from "@std/assert";
import type { Backend, Head } from "../../src/backends/backend.ts";
import { openKvBackend } from "../../src/backends/kv.ts";
import { TOMBSTONE_MS } from "../../src/backends/records.ts";
import {
  append,
  appendAfter,
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
import { assertSound, beforeCommit, KvSite, ofKind, type Raw } from "../faults/kv_site.ts";

Deno.test("kv: after a sweep no record holds the state of what has expired", async () => {
  await using site = new KvSite();
  const backend = await site.backend();
  const secret = '{"city":"Copenhagen","notes":"the secret harbour"}';
  const large = `{"notes":"${"the secret harbour ".repeat(60_000)}"}`;
  let head = await mint(backend, TRIP, { body: secret, ttlDays: seconds(1), title: "To the secret harbour" });
  const draft = appendAfter(head, [large]);
  head = (await append(backend, TRIP, head, { ...draft, keyframe: keyframeOf(head, draft, large) })).head;
  assert(holding("secret harbour", await site.records()).length > 10);
  const { expiresAt = 0 } = head;
  await until(() => Date.now() > expiresAt, "its time to live ends");
  await backend.sweep("alice", 100);
  const rest = await site.records();
  assertEquals(holding("secret harbour", rest), []);
  assertSound(rest);
  assertEquals((await backend.read(TRIP, HEAD)).outcome, "gone");
});

Deno.test("kv: a journal of ten thousand entries is gone at once, and its records after a sweep", async () => {
  await using site = new KvSite();
  const backend = await site.backend();
  const head = await longJournal(backend, 10_000);
  assertEquals((await backend.remove(TRIP, removal())).outcome, "removed");
  assertEquals((await backend.read(TRIP, HEAD, head)).outcome, "gone");
  assertEquals(await backend.locate(TRIP, { version: 9_000 }), undefined);
  assert(ofKind(await site.records(), "journal").size > 5_000, "whoever removes does not wait for all of it");
  const again = await mint(backend, TRIP);
  assertEquals((await find(backend, TRIP, HEAD, head)).entries.map(({ version }) => version), [1]);
  await backend.sweep("alice", 10);
  assertSound(await site.records());
  assertEquals(ofKind(await site.records(), "journal").size, 1);
  assertEquals((await find(backend, TRIP)).head, again);
});

Deno.test("kv: pruned entries, with their chunks, keyframes and turns, are gone after a sweep", async () => {
  await using site = new KvSite();
  const backend = await site.backend();
  let head = await longJournal(backend, 3_000);
  const large = `{"notes":"${"n".repeat(200_000)}"}`;
  for (let i = 0; i < 3; i++) {
    const draft = appendAfter(head, [large], { oldest: head.version - 2 });
    head = (await append(backend, TRIP, head, { ...draft, keyframe: keyframeOf(head, draft, large) })).head;
  }
  head = await write(backend, TRIP, head, [large]);
  const last = appendAfter(head, ["{}"], { oldest: head.version + 1 });
  head = (await append(backend, TRIP, head, { ...last, keyframe: keyframeOf(head, last, "{}") })).head;
  await backend.sweep("alice", 10);
  const rest = await site.records();
  assertSound(rest);
  const journal = rest.filter(({ key }) => key[0] === "journal").map(({ key }) => key.slice(2));
  assertEquals(journal, [["entry", head.version], ["keyframe", head.version], ["turn", head.turn]]);
  assertEquals(ofKind(rest, "chunk").size, 0);
});

Deno.test("kv: a sweep long afterwards leaves nothing but the user's sequence", async () => {
  await using site = new KvSite();
  const backend = await site.backend();
  for (let i = 0; i < 30; i++) {
    const request = requestDraft(`mint-${i}`);
    const meta = i % 10 === 0 ? `{"changed":"${"m".repeat(100_000)}"}` : request.meta;
    await mint(backend, { user: "alice", id: `cart_${i}` }, { ttlDays: 1 }, { request: { ...request, meta } });
  }
  await backend.remove({ user: "alice", id: "cart_7" }, removal());
  await using later = await site.backend({ now: () => Date.now() + 2 * 86_400_000 });
  assertEquals(await later.sweep("alice", 1_000), 59, "29 that expired, and 30 request ids");
  assertEquals(await later.findRequest("alice", "mint-0"), undefined);
  assertSound(await site.records());
  await using muchLater = await site.backend({ now: () => Date.now() + TOMBSTONE_MS + 3 * 86_400_000 });
  assertEquals(await muchLater.sweep(undefined, 1_000), 30);
  const page = await muchLater.list("alice", { direction: "up", from: 0, limit: 9, tombstones: true });
  assertEquals([page.documents, page.seq, page.forgotten], [[], 60, 60]);
  assertEquals((await site.records()).map(({ key }) => key), [["format"], ["user", "alice"]]);
});

Deno.test("kv: chunks that a sweep took for orphans are written again, and the first ones are gone", async () => {
  await using site = new KvSite();
  const hasty = await site.backend({ now: () => Date.now() + 3_600_000 });
  const body = `{"notes":"${"n".repeat(3_000_000)}"}`;
  for (const commit of [2, 3, 4]) { // of four: the last one makes visible what the others have staged
    const key = { user: "alice", id: `trip_${commit}` };
    const kv = await Deno.openKv(site.path);
    await using backend = await openKvBackend({ kv });
    const head = await mint(backend, key);
    let swept = 0;
    beforeCommit(kv, commit, async () => {
      swept = await hasty.sweep("alice", 10);
    });
    assertEquals((await write(backend, key, head, [body])).version, 2);
    assertEquals(swept, 1);
    assertEquals((await find(backend, key)).entries[1].body === body, true);
    assertSound(await site.records());
  }
});

Deno.test("kv: chunks of a write that lost are gone", async () => {
  await using site = new KvSite();
  const body = `{"notes":"${"n".repeat(3_000_000)}"}`;
  const kv = await Deno.openKv(site.path);
  await using backend = await openKvBackend({ kv });
  const head = await mint(backend, TRIP);
  const other = await site.backend();
  beforeCommit(kv, 4, async () => {
    await write(other, TRIP, head, ["{}"]);
  });
  const lost = await backend.append(TRIP, { ...head }, appendAfter(head, [body]));
  assert(lost.outcome === "lost");
  assertEquals(lost.found.entries.map(({ version }) => version), [2]);
  assertEquals(ofKind(await site.records(), "chunk").size, 0);
  assertSound(await site.records());
});

async function longJournal(backend: Backend, entries: number): Promise<Head> {
  let head = await mint(backend, TRIP, { turn: 1 });
  while (head.version < entries) {
    const bodies = Array.from({ length: 50 }, (_, i) => `[{"op":"add","path":"/n${head.version + i}","value":1}]`);
    head = await write(backend, TRIP, head, bodies, { turn: head.turn + 1 });
  }
  return head;
}

/** The keys of records that hold a text. */
function holding(text: string, records: readonly Raw[]): unknown[] {
  const decoder = new TextDecoder();
  const within = (value: unknown): boolean => {
    if (typeof value === "string") return value.includes(text);
    if (value instanceof Uint8Array) return decoder.decode(value).includes(text);
    return typeof value === "object" && value !== null && Object.values(value).some(within);
  };
  return records.filter(({ value }) => within(value)).map(({ key }) => key);
}
