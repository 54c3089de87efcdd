import { assert, assertEquals, assertRejects } from "@std/assert";
import { HandleExpired, HandleNotFound, VersionPruned } from "../../src/document/errors.ts";
import { append, increment } from "../../src/document/ops.ts";
import type { Snapshot } from "../../src/document/snapshot.ts";
import type { HandleStore } from "../../src/store/store.ts";
import { Site } from "./raw.ts";

const alice = { user: "alice" };
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** A clock that a test sets. */
function clockAt(time: number): { time: number; now: () => number } {
  const clock = { time, now: () => clock.time };
  return clock;
}

Deno.test("updatedAt: never goes back, whatever the clock does", async () => {
  await using site = new Site();
  const clock = clockAt(Date.parse("2026-07-01T12:00:00Z"));
  const store = await site.store({}, clock);
  const { handle } = await store.create("cart", { n: 0 }, { ...alice, turn: 1 });
  const hours = [1, 3, 2, -5, 2.5, 4];
  const answers: Snapshot[] = [];
  for (const hour of hours) {
    clock.time = Date.parse("2026-07-01T12:00:00Z") + hour * HOUR;
    answers.push(await store.patch(handle, [increment("n", 1)], { ...alice, requestId: `at ${hour}` }));
  }
  const times = answers.map(({ updatedAt }) => updatedAt.slice(11, 13));
  assertEquals(times, ["13", "15", "15", "15", "15", "16"]);
  const reader = await site.store({}, clock);
  const at = async (time: string) => (await reader.get(handle, { ...alice, at: `2026-07-01T${time}Z` })).version;
  assertEquals(await Promise.all(["12:30:00", "14:59:59", "15:00:00", "15:59:59"].map(at)), [1, 2, 6, 6]);
  for (const [i, hour] of hours.entries()) {
    const replay = await reader.patch(handle, [increment("n", 1)], { ...alice, requestId: `at ${hour}` });
    assertEquals({ ...replay, state: replay.state }, { ...answers[i], replayed: true });
  }
});

Deno.test("request: of a mint is answered with the times of the backend's clock", async () => {
  await using site = new Site();
  const clock = clockAt(Date.parse("2026-07-01T12:00:00Z"));
  const store = await site.store({}, clock);
  const mint = () => store.create("cart", { n: 0 }, { ...alice, ttlDays: 2, requestId: "mint" });
  const first = await mint();
  clock.time += HOUR;
  const replay = await mint();
  assertEquals({ ...replay, state: replay.state }, { ...first, replayed: true });
  assertEquals(first.createdAt, "2026-07-01T12:00:00.000Z");
});

Deno.test("expiry: is judged by the backend's clock alone, to the millisecond", async () => {
  await using site = new Site();
  const clock = clockAt(Date.parse("2001-01-01T00:00:00Z"));
  const store = await site.store({}, clock);
  const { handle, expiresAt } = await store.create("cart", { n: 0 }, { ...alice, ttlDays: 1 });
  assertEquals(expiresAt, "2001-01-02T00:00:00.000Z");
  clock.time += DAY - 1;
  assertEquals((await store.sweep("alice"), await store.get(handle, alice)).version, 1);
  clock.time += 1;
  const error = await assertRejects(() => store.get(handle, alice), HandleExpired);
  assertEquals(error.toPayload(), {
    code: "handle_expired",
    message: error.message,
    handle,
    expired_at: "2001-01-02T00:00:00.000Z",
    ttl_days: 1,
  });
});

Deno.test("expiry: is remembered for 30 days, and a deletion too", async () => {
  await using site = new Site();
  const clock = clockAt(Date.parse("2026-07-01T12:00:00Z"));
  const store = await site.store({}, clock);
  const backend = await site.backend(clock);
  const expiring = await store.mint("cart", {}, { ...alice, ttlDays: 1 });
  const deleted = await store.mint("cart", {}, alice);
  await store.mint("trip", {}, alice);
  await store.revoke(deleted, alice);
  clock.time += 2 * DAY;
  await assertRejects(() => store.get(expiring, alice), HandleExpired);
  clock.time += 30 * DAY - 1;
  await store.sweep("alice");
  await assertRejects(() => store.get(expiring, alice), HandleExpired);
  assertEquals((await backend.list("alice", { direction: "up", from: 0, limit: 9, tombstones: true })).forgotten, 4);
  clock.time += 1;
  assertEquals(await store.sweepAll(), 1);
  const error = await assertRejects(() => store.get(expiring, alice), HandleNotFound);
  assertEquals(error.handle, expiring);
  const page = await backend.list("alice", { direction: "up", from: 0, limit: 9, tombstones: true });
  assertEquals([page.documents.map(({ kind }) => kind), page.forgotten], [["trip"], 5]);
});

Deno.test("request: is remembered for a day at least, and not for ever", async () => {
  await using site = new Site();
  const clock = clockAt(Date.parse("2026-07-01T12:00:00Z"));
  const store = await site.store({}, clock);
  const handle = await store.mint("cart", { n: 0 }, { ...alice, requestId: "mint" });
  const patch = () => store.patch(handle, [increment("n", 1)], { ...alice, requestId: "patch" });
  await patch();
  clock.time += DAY;
  await store.sweep("alice");
  assertEquals((await patch()).replayed, true);
  clock.time += 1;
  assertEquals(await store.sweep("alice"), 2);
  assertEquals(site.number("SELECT count(*) FROM mcpstate_request"), 0);
  assertEquals((await patch()).version, 3);
});

Deno.test("retention: by age keeps what was current within it, on writes and on sweeps", async () => {
  await using site = new Site();
  const clock = clockAt(0);
  const store = await site.store({ retention: { days: 7 } }, clock);
  const start = Date.now() - 30 * DAY;
  clock.time = start;
  const handle = await store.mint("cart", { items: [] }, alice);
  const idle = await store.mint("cart", { items: [] }, alice);
  for (let i = 0; i < 95; i++) {
    clock.time = start + (i + 1) * 7 * HOUR;
    await store.patch(handle, [append("items", i)], alice);
    if (i < 10) await store.patch(idle, [append("items", i)], alice);
  }
  // At 27.7 days old 95 versions were written, seven hours apart: those of about the last five days are in.
  assert((await oldest(store, handle)) > 64, "judged with the last keyframe or the last multiple of 32");
  assertEquals(await oldest(store, idle), 1);
  clock.time = Date.now();
  await store.sweep("alice");
  const head = await store.get(handle, alice);
  assertEquals([head.version, (head.state.items as unknown[]).length], [96, 95]);
  const expected = Math.floor((23 * DAY) / (7 * HOUR)) + 1;
  assertEquals(head.oldestVersion, expected);
  assertEquals((await store.get(handle, { ...alice, version: expected })).version, expected);
  await assertRejects(() => store.get(handle, { ...alice, version: expected - 1 }), VersionPruned);
  await assertRejects(() => store.get(handle, { ...alice, at: start + DAY }), VersionPruned);
  assertEquals((await store.get(handle, { ...alice, at: Date.now() - 7 * DAY + HOUR })).version >= expected, true);

  assertEquals(await oldest(store, idle), 11);
  const kept = await store.get(idle, alice);
  assertEquals([kept.version, (kept.state.items as unknown[]).length], [11, 10]);
  assertEquals(await (await site.store({}, clock)).get(idle, alice), kept);
  const entries = "SELECT mcpstate_entry.version FROM mcpstate_entry JOIN mcpstate_document USING (doc) WHERE id = ?";
  assertEquals(site.rows(entries, idle), [{ version: 11 }]);
});

Deno.test("sweepAll: trims by age what nobody writes to any more, of all users", async () => {
  await using site = new Site();
  const clock = clockAt(0);
  const store = await site.store({ retention: { days: 7 } }, clock);
  const handles = new Map<string, string>();
  clock.time = Date.now() - 30 * DAY;
  for (const user of ["alice", "bob"]) {
    const handle = await store.mint("cart", { items: [] }, { user });
    for (let i = 0; i < 10; i++) await store.patch(handle, [append("items", i)], { user });
    handles.set(user, handle);
  }
  clock.time = Date.now();
  assertEquals(await store.sweepAll(), 2);
  for (const [user, handle] of handles) {
    const { version, oldestVersion, state } = await store.get(handle, { user });
    assertEquals([version, oldestVersion, (state.items as unknown[]).length], [11, 11, 10]);
  }
  assertEquals(await store.sweepAll(), 0);
});

async function oldest(store: HandleStore, handle: string): Promise<number> {
  return (await store.get(handle, alice)).oldestVersion;
}
