import { assert, assertEquals, assertThrows } from "@std/assert";
import type { DocumentKey } from "../../src/backends/backend.ts";
import { openKvBackend } from "../../src/backends/kv.ts";
import {
  append,
  appendAfter,
  assertSame,
  creation,
  entriesOf,
  find,
  HEAD,
  keyframeOf,
  mint,
  removal,
  requestDraft,
  TRIP,
  write,
} from "../contract/drafts.ts";
import { assertSound, KvSite, ofKind } from "../faults/kv_site.ts";

/** As long as names may be, and as wide as Deno KV stores them. */
const LONGEST: DocumentKey = { user: `ł${"u".repeat(510)}`, id: `ł${"i".repeat(1022)}` };

Deno.test("kv: a batch of 64 of the longest entries that need no chunk, with all else at its longest, lands as one", async () => {
  await using site = new KvSite();
  const backend = await site.backend({ prefix: "mcpstate" });
  const first = await mint(backend, LONGEST, { title: `ł${"t".repeat(254)}`, turn: 1 });
  const notes = (i: number) => `[{"op":"add","path":"/n${i}","value":"ł${"v".repeat(59_000)}"}]`;
  const draft = appendAfter(first, Array.from({ length: 64 }, (_, i) => notes(i)), {}, {
    writer: `ł${"w".repeat(254)}`,
  });
  const drafts = draft.steps.flatMap(({ entry }) => entry ?? []);
  const steps = drafts.map((entry, i) => ({
    entry: { ...entry, turn: i + 2 },
    request: {
      ...requestDraft(`ł${`${i}`.padEnd(198, "r")}`),
      fingerprint: "f".repeat(64),
      meta: `{"changed":"${"m".repeat(50_000 + i * 400)}"}`,
    },
  }));
  const keyframe = keyframeOf(first, draft, `{"state":"${"k".repeat(3_000_000)}"}`);
  const { head, stamps } = await append(backend, LONGEST, first, { ...draft, steps, keyframe });
  assertEquals([head.version, head.turn, head.base.version], [65, 65, 65]);
  const all = await find(backend, LONGEST, HEAD, { version: 0, writeId: "" });
  assertSame(all.entries.slice(1), entriesOf({ ...draft, steps }, stamps));
  assertSame((await find(backend, LONGEST)).onto, keyframe);
  for (const [i, { request }] of steps.entries()) {
    const record = await backend.findRequest(LONGEST.user, request.id);
    assertEquals([record?.meta === request.meta, record?.version], [true, i + 2]);
  }
  assertSound(await site.records());
  assert(ofKind(await site.records(), "chunk").size > 64);
  const others = appendAfter(head, Array.from({ length: 20 }, () => "{}"));
  const late = others.steps.map(({ entry }, i) => ({ entry, request: requestDraft(`late-${i}`) }));
  const known = [...late.slice(0, 19), { ...late[19], request: steps[63].request }];
  const again = await backend.append(LONGEST, head, { ...others, steps: known });
  assert(again.outcome === "replayed");
  assertEquals(again.record.id, steps[63].request.id);
  assertEquals((await backend.remove(LONGEST, removal())).outcome, "removed");
  await site.sweepLater();
  const rest = await site.records();
  assertSound(rest);
  assertEquals(ofKind(rest, "journal").size, 0);
  assertEquals(await backend.purge(LONGEST.user), 0);
  assertEquals((await site.records()).map(({ key }) => key), [["format"]]);
});

Deno.test("kv: two users, two documents and two requests with long names that end differently are told apart", async () => {
  await using backend = await openKvBackend({ path: ":memory:" });
  const names = ["x", "y"].flatMap((end) => ["a".repeat(63) + end, "a".repeat(64) + end, "a".repeat(199) + end]);
  for (const user of names) {
    for (const id of names) {
      const request = { request: requestDraft(`${id}`) };
      assertEquals((await mint(backend, { user, id }, { title: user.at(-1) + id }, request)).version, 1);
    }
  }
  for (const user of names) {
    const page = await backend.list(user, { direction: "up", from: 0, limit: 99, tombstones: true });
    assertEquals(page.documents.map(({ id }) => id), names);
    for (const id of names) assertEquals((await backend.findRequest(user, id))?.documentId, id);
  }
});

Deno.test("kv: a body of 20 MiB, in characters of every width, is kept whole and goes without a trace", async () => {
  await using site = new KvSite();
  const backend = await site.backend();
  const large = (fill: string) => JSON.stringify({ notes: fill.repeat(1_500_000) });
  let head = await mint(backend, TRIP, { body: large("aé日🦊") });
  head = await write(backend, TRIP, head, [large("🦊日éa")]);
  const { entries } = await find(backend, TRIP);
  assertEquals(entries.map(({ body }) => body === large(body.includes("aé") ? "aé日🦊" : "🦊日éa")), [true, true]);
  assertEquals(entries[0].body === entries[1].body, false);
  assertSound(await site.records());
  await backend.remove(TRIP, removal());
  assertEquals((await backend.read(TRIP, HEAD)).outcome, "gone");
  await site.sweepLater();
  assertEquals(ofKind(await site.records(), "chunk").size, 0);
});

Deno.test("kv: stores with prefixes of their own share a database", async () => {
  await using site = new KvSite();
  const shop = await site.backend({ prefix: "shop" });
  const club = await site.backend({ prefix: "club" });
  await mint(shop, TRIP);
  assertSame(await club.read(TRIP, HEAD), { outcome: "absent" });
  await mint(club, TRIP, { title: "Club" });
  assertEquals(await shop.purge(TRIP.user), 1);
  assertEquals((await find(club, TRIP)).head.title, "Club");
  for (const prefix of ["", "日".repeat(22)]) {
    const error = await openKvBackend({ path: ":memory:", prefix }).catch((error) => error);
    assertThrows(
      () => {
        throw error;
      },
      RangeError,
      "64 bytes",
    );
  }
});

Deno.test("kv: a record that is damaged does not hide the others", async () => {
  await using site = new KvSite();
  const backend = await site.backend();
  for (const id of ["trip_a", "trip_b", "trip_c"]) await mint(backend, { user: "alice", id });
  {
    using kv = await Deno.openKv(site.path);
    await kv.set(["mcpstate", "list", "alice", 2], { journal: "gone", head: { id: 7 } });
    await kv.set(["mcpstate", "document", "alice", "trip_b"], "nonsense");
  }
  const page = await backend.list("alice", { direction: "up", from: 0, limit: 9, tombstones: true });
  assertEquals(page.documents.map(({ id }) => id), ["trip_a", "trip_c"]);
  const trip = { user: "alice", id: "trip_b" };
  for (const call of [() => backend.read(trip, HEAD), () => backend.remove(trip, removal())]) {
    const error = await call().catch((error) => error);
    assertEquals([error.code, error.outcomeUnknown], ["backend_error", false]);
  }
  assertEquals((await backend.create({ user: "alice", id: "trip_d" }, creation())).outcome, "appended");
  assertEquals(await backend.purge("alice"), 3);
  assertEquals((await site.records()).filter(({ key }) => key[0] !== "journal").map(({ key }) => key), [["format"]]);
});
