import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Backend, Head } from "../../src/backends/backend.ts";
import { openKvBackend } from "../../src/backends/kv.ts";
import { isTombstone } from "../../src/backends/records.ts";
import { BackendError } from "../../src/document/errors.ts";
import {
  AARHUS,
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
import { assertSound, beforeCommit, KvSite } from "../faults/kv_site.ts";

const DAY_MS = 86_400_000;

Deno.test("kv: a write that meets a touch goes on from it, and a touch that meets a write", async () => {
  await using site = new KvSite();
  const { backend, kv, other } = await pair(site);
  const head = await mint(backend, TRIP, { ttlDays: 1 });
  beforeCommit(kv, 1, async () => {
    await other.touch(TRIP, { ttlDays: 9 });
  });
  const written = await write(backend, TRIP, head, [AARHUS]);
  assertEquals([written.version, written.ttlDays], [2, 9]);
  beforeCommit(kv, 1, async () => {
    await write(other, TRIP, written, [AARHUS]);
  });
  const touched = await backend.touch(TRIP, { ttlDays: 20 });
  assert(touched.outcome === "touched");
  assertEquals([touched.head.version, touched.head.ttlDays], [3, 20]);
  assertEquals((await find(other, TRIP)).head, touched.head);
  assertSound(await site.records());
});

Deno.test("kv: a sweep that meets a renewal leaves the document", async () => {
  await using site = new KvSite();
  const { kv, other } = await pair(site);
  const sweeper = await site.backend({ kv, now: () => Date.now() + DAY_MS });
  for (const id of ["trip_a", "trip_b", "trip_c"]) await mint(other, { user: "alice", id }, { ttlDays: seconds(3600) });
  beforeCommit(kv, 1, async () => {
    await other.touch({ user: "alice", id: "trip_b" }, { ttlDays: 9 });
  });
  assertEquals(await sweeper.sweep("alice", 10), 2);
  const outcomes = await Promise.all(
    ["a", "b", "c"].map(async (id) => (await other.read({ user: "alice", id: `trip_${id}` }, HEAD)).outcome),
  );
  assertEquals(outcomes, ["gone", "found", "gone"]);
  assertSound(await site.records());
});

Deno.test("kv: a deletion while pruned entries are being removed is cleaned up as a whole", async () => {
  await using site = new KvSite();
  const { backend, kv, other } = await pair(site);
  let head = await mint(backend, TRIP);
  for (let i = 0; i < 50; i++) head = await write(backend, TRIP, head, Array(60).fill(AARHUS));
  const middle = await find(backend, TRIP, { as: "version", version: 100 });
  assert(middle.target !== undefined && middle.target !== "held");
  const keyframe = { version: 100, writeId: middle.target.writeId, bytes: 2, body: "{}" };
  // The first commit prunes, the second deletes what was pruned.
  beforeCommit(kv, 2, async () => {
    await other.remove(TRIP, removal());
  });
  await backend.trim(TRIP, middle.target, keyframe);
  await other.sweep("alice", 10);
  assertSound(await site.records());
});

Deno.test("kv: a request id that is used anew while its old record is being removed stays", async () => {
  await using site = new KvSite();
  await using early = await site.backend();
  await mint(early, TRIP, {}, { request: requestDraft("mint-1") });
  const later = { now: () => Date.now() + 2 * DAY_MS };
  const { kv, other } = await pair(site, later);
  const sweeper = await site.backend({ kv, ...later });
  beforeCommit(kv, 1, async () => {
    assertEquals(await other.sweep("alice", 10), 1);
    await mint(other, { user: "alice", id: "trip_new" }, {}, { request: requestDraft("mint-1") });
  });
  assertEquals(await sweeper.sweep("alice", 10), 0);
  assertEquals((await other.findRequest("alice", "mint-1"))?.documentId, "trip_new");
  assertSound(await site.records());
});

Deno.test("kv: a page of the list is never taken for the last one while a document moves", async () => {
  await using site = new KvSite();
  const kv = await Deno.openKv(site.path);
  await using backend = await openKvBackend({ kv });
  const other = await site.backend();
  const heads = new Map<string, Head>();
  for (const id of ["trip_a", "trip_b", "trip_c"]) heads.set(id, await mint(other, { user: "alice", id }));
  const move = async (id: string) => {
    const head = heads.get(id);
    assert(head !== undefined);
    heads.set(id, await write(other, { user: "alice", id }, head, [AARHUS]));
  };
  let moves = 0;
  const list = kv.list.bind(kv);
  kv.list = ((selector: Deno.KvListSelector, options: Deno.KvListOptions) => {
    const found = list(selector, options);
    if (!("end" in selector) || selector.end[1] !== "list" || moves === 0) return found;
    moves--;
    return (async function* () {
      await move("trip_a");
      yield* found;
    })();
  }) as typeof kv.list;
  const range = { direction: "down", from: 3, limit: 9, tombstones: true } as const;
  moves = 1;
  const quiet = await backend.list("alice", range);
  assertEquals([quiet.documents.map(({ id }) => id), quiet.seq, quiet.next], [["trip_b"], 4, undefined]);
  moves = Infinity;
  const busy = await backend.list("alice", range);
  assertEquals([busy.documents.map(({ id }) => id), busy.next !== undefined], [["trip_b"], true]);
  assert(busy.seq < (heads.get("trip_a")?.seq ?? 0), "the walk that began here will look above");
});

Deno.test("kv: a purge that meets a mint removes that too, and a mint that meets a purge begins anew", async () => {
  await using site = new KvSite();
  const { backend, kv, other } = await pair(site);
  const request = requestDraft("mint-1");
  for (const id of ["trip_a", "trip_b"]) await mint(backend, { user: "alice", id }, { ttlDays: 1 });
  await mint(backend, TRIP, {}, { request });
  beforeCommit(kv, 2, async () => {
    await mint(other, { user: "alice", id: "trip_late" });
  });
  assertEquals(await backend.purge("alice"), 4);
  assertEquals((await site.records()).map(({ key }) => key), [["format"]]);
  await mint(other, TRIP);
  beforeCommit(kv, 1, async () => {
    assertEquals(await other.purge("alice"), 1);
  });
  assertEquals((await mint(backend, { user: "alice", id: "trip_anew" })).seq, 1);
  assertSound(await site.records());
});

Deno.test("kv: a purge that is cut short lists nothing that it has removed", async () => {
  await using site = new KvSite();
  const { backend, kv, other } = await pair(site);
  for (let i = 0; i < 120; i++) {
    await mint(backend, { user: "alice", id: `trip_${i}` }, { ttlDays: i % 2 ? 1 : undefined });
  }
  await backend.remove({ user: "alice", id: "trip_7" }, removal());
  beforeCommit(kv, 2, () => Promise.resolve(kv.close()));
  await assertRejects(() => backend.purge("alice"), BackendError);
  const range = { direction: "up", from: 0, limit: 200, tombstones: true } as const;
  const { documents } = await other.list("alice", range);
  assert(documents.length > 0 && documents.length < 120, "it was cut short in the middle");
  for (const { id } of documents) assert((await other.read({ user: "alice", id }, HEAD)).outcome !== "absent", id);
  await site.sweepLater();
  assertSound(await site.records());
  const alive = documents.filter((document) => !isTombstone(document)).length;
  assertEquals(await other.purge("alice"), alive);
  assertEquals((await site.records()).map(({ key }) => key), [["format"]]);
});

Deno.test("kv: readers never meet a hole in what they were told while a document is pruned and deleted", async () => {
  await using site = new KvSite();
  const { backend, other } = await pair(site);
  let isDone = false;
  const reading = (async () => {
    let reads = 0;
    while (!isDone) {
      const answer = await other.read(TRIP, HEAD);
      if (answer.outcome !== "found") continue;
      const { target, onto, entries } = answer;
      if (target === undefined || target === "held") continue; // it went while it was read
      const from = typeof onto === "object" ? onto.version : 0;
      assertEquals(entries.map(({ version }) => version), entries.map((_, i) => from + 1 + i));
      reads++;
    }
    return reads;
  })();
  for (let round = 0; round < 12; round++) {
    let head = await mint(backend, TRIP);
    for (let i = 0; i < 6; i++) {
      const draft = appendAfter(head, Array(30).fill(AARHUS), { oldest: head.version });
      const answer = await backend.append(TRIP, head, { ...draft, keyframe: keyframeOf(head, draft, "{}") });
      assert(answer.outcome === "appended");
      head = answer.head;
    }
    await backend.remove(TRIP, removal());
  }
  isDone = true;
  await until(async () => await reading > 0, "somebody has read");
  assertSound(await site.records());
});

/** Two connections, the first on a database that the test can act on. */
async function pair(
  site: KvSite,
  options: { now?: () => number } = {},
): Promise<{ backend: Backend; kv: Deno.Kv; other: Backend }> {
  const other = await site.backend(options);
  const kv = await Deno.openKv(site.path);
  return { backend: await site.backend({ kv, ...options }), kv, other };
}
