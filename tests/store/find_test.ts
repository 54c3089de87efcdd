import { assertEquals, assertRejects } from "@std/assert";
import { openSqliteBackend } from "../../src/backends/sqlite.ts";
import { HandleExpired, HandleNotFound, InvalidInput } from "../../src/document/errors.ts";
import { HandleStore } from "../../src/store/store.ts";
import { forward } from "../contract/target.ts";
import { seconds, until } from "../contract/drafts.ts";

const alice = { user: "alice" };

Deno.test("find, has and update look for no handle that may have been meant", async () => {
  const backend = await openSqliteBackend({ path: ":memory:" });
  let lists = 0;
  const list: typeof backend.list = (user, range) => {
    lists++;
    return backend.list(user, range);
  };
  await using store = new HandleStore({ ...forward(backend), list });
  assertEquals([await store.find("trip_aaaaaaaa", alice), await store.has("trip_aaaaaaaa", alice)], [undefined, false]);
  const { version } = await store.update("trip/1814", () => ({ city: "Copenhagen" }), { ...alice, create: "trip" });
  assertEquals([(await store.find("trip/1814", alice))?.version, await store.has("trip/1814", alice)], [version, true]);
  assertEquals(lists, 0);
  await assertRejects(() => store.get("trip_aaaaaaaa", alice), HandleNotFound);
  assertEquals(lists, 1);
});

Deno.test("find: of a document that has expired says so, has: that there is none", async () => {
  await using store = new HandleStore(await openSqliteBackend({ path: ":memory:" }));
  const handle = await store.mint("trip", {}, { ...alice, ttlDays: seconds(0.3) });
  await until(async () => !await store.has(handle, alice), "the trip to expire");
  await assertRejects(() => store.find(handle, alice), HandleExpired);
});

Deno.test("update: of a document that others made costs a store that has not seen it two steps", async () => {
  const backend = await openSqliteBackend({ path: ":memory:" });
  const calls: string[] = [];
  const read: typeof backend.read = (key, want, held) => {
    calls.push("read");
    return backend.read(key, want, held);
  };
  const create: typeof backend.create = (key, creation) => {
    calls.push("create");
    return backend.create(key, creation);
  };
  const append: typeof backend.append = (key, expected, entries) => {
    calls.push("append");
    return backend.append(key, expected, entries);
  };
  const making = { ...alice, create: "trip" };
  await new HandleStore(backend).update("trip/1814", () => ({ city: "Copenhagen" }), making);
  await using store = new HandleStore({ ...forward(backend), read, create, append });
  await store.update("trip/1814", ({ city }) => ({ was: city, city: "Aarhus" }), making);
  assertEquals((await store.get("trip/1814", alice)).state, { city: "Aarhus", was: "Copenhagen" });
  assertEquals(calls, ["create", "append", "read"]);
});

Deno.test("update: goes on in a turn in which no document could begin", async () => {
  const backend = await openSqliteBackend({ path: ":memory:" });
  const making = { ...alice, create: "trip" };
  const store = new HandleStore(backend);
  await store.update("trip/1814", () => ({ city: "Copenhagen" }), { ...making, turn: 999_999 });
  await store.touch("trip/1814", { ...alice, turn: 1_000_500 });
  await using fresh = new HandleStore(backend);
  const { turn } = await fresh.update("trip/1814", () => ({ city: "Aarhus" }), { ...making, turn: 1_000_600 });
  assertEquals(turn, 1_000_600);
  await assertRejects(
    () => fresh.update("trip/1815", () => ({}), { ...making, turn: 1_000_600 }),
    InvalidInput,
    "turn",
  );
});
