import { join } from "node:path";
import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import type { Backend } from "../../src/backends/backend.ts";
import { InvalidInput, StaleWrite } from "../../src/document/errors.ts";
import { append, increment, setKey } from "../../src/document/ops.ts";
import { HandleStore } from "../../src/store/store.ts";
import { forward } from "../contract/target.ts";
import { Site } from "./raw.ts";

const alice = { user: "alice" };

Deno.test("cache: never serves or extends what a restored backup no longer holds", async () => {
  await using site = new Site();
  const backup = join(site.directory, "backup.db");
  let handle: string;
  {
    await using store = await site.store();
    handle = await store.mint("trip", { city: "Copenhagen", stops: [] }, { ...alice, turn: 1 });
    await store.patch(handle, [append("stops", "Nyhavn")], { ...alice, turn: 2 });
  }
  await Deno.copyFile(site.path, backup);

  // A process with a warm cache, whose database is put back under it.
  let now: Backend = await site.backend();
  const follow = (): Backend => ({
    ...forward(now),
    create: (...args) => now.create(...args),
    read: (...args) => now.read(...args),
    entries: (...args) => now.entries(...args),
    append: (...args) => now.append(...args),
    touch: (...args) => now.touch(...args),
    list: (...args) => now.list(...args),
    locate: (...args) => now.locate(...args),
  });
  const getters = new HandleStore(follow());
  const writers = new HandleStore(follow());
  const lost = new HandleStore(follow());
  await lost.patch(handle, [append("stops", "lost 3"), setKey("", "city", "lost")], { ...alice, turn: 3 });
  await lost.patch(handle, [append("stops", "lost 4")], { ...alice, turn: 4 });
  for (const each of [getters, writers]) {
    assertEquals((await each.get(handle, alice)).version, 4);
    assertEquals((await each.get(handle, { ...alice, version: 3 })).state.city, "lost");
  }

  now = await site.backend({ path: backup });
  const kept = { city: "Copenhagen", stops: ["Nyhavn"] };
  assertEquals((await getters.get(handle, alice)).state, kept);
  await assertRejects(() => writers.save(handle, {}, { ...alice, expectVersion: 4 }), InvalidInput);
  await using other = await site.store({}, { path: backup });
  await other.patch(handle, [append("stops", "ARoS")], { ...alice, turn: 3 });
  await other.patch(handle, [setKey("", "city", "Aarhus")], { ...alice, turn: 4 });
  const present = { city: "Aarhus", stops: ["Nyhavn", "ARoS"] };
  for (const options of [{}, { version: 4 }, { turn: 4 }, { at: "9999-01-01" }]) {
    assertEquals((await getters.get(handle, { ...alice, ...options })).state, present);
  }
  for (const options of [{ version: 3 }, { turn: 3 }]) {
    const { state } = await getters.get(handle, { ...alice, ...options });
    assertEquals(state, { city: "Copenhagen", stops: ["Nyhavn", "ARoS"] });
  }
  const patched = await writers.patch(handle, [append("stops", "Moesgaard")], alice);
  assertEquals([patched.version, patched.state], [5, { city: "Aarhus", stops: ["Nyhavn", "ARoS", "Moesgaard"] }]);
  const stale = await assertRejects(() => lost.save(handle, {}, { ...alice, expectVersion: 4 }), StaleWrite);
  assertEquals(stale.current.state, patched.state);
  assertEquals((await other.get(handle, alice)).state, patched.state);
});

Deno.test("cache: lets a warm read cost no body, and a read after others' writes only theirs", async () => {
  await using site = new Site();
  const meter = counting(await site.backend());
  const store = new HandleStore(meter.backend);
  const other = await site.store();
  const handle = await store.mint("cart", { items: ["i".repeat(100_000)], n: 0 }, alice);
  const first = await store.get(handle, alice);
  assertStrictEquals((await store.get(handle, alice)).state, first.state);
  assertEquals(meter.bytes(), 0);
  await other.patch(handle, [increment("n", 1)], alice);
  const second = await store.get(handle, alice);
  assertEquals(second.state.n, 1);
  assertStrictEquals(second.state.items, first.state.items);
  assert(meter.bytes() < 200, "one small entry");
  await store.get(handle, { ...alice, version: 1 });
  meter.bytes();
  await store.get(handle, { ...alice, version: 1 });
  assertEquals(meter.bytes(), 0);
  await other.patch(handle, [increment("n", 1)], alice);
  await store.patch(handle, [increment("n", 1)], alice);
  assertEquals((await store.get(handle, alice)).state.n, 3);
  assert(meter.bytes() < 200, "a lost race brings what happened since");
});

Deno.test("cache: holds no more bytes than it may, and forgets the least recently used", async () => {
  await using site = new Site();
  const meter = counting(await site.backend());
  const store = new HandleStore(meter.backend, { cacheBytes: 1_000_000 });
  const handles: string[] = [];
  for (let i = 0; i < 8; i++) handles.push(await store.mint("cart", { items: "i".repeat(100_000) }, alice));
  meter.bytes();
  const cost = async (i: number) => {
    await store.get(handles[i], alice);
    return meter.bytes() > 0;
  };
  assertEquals([await cost(7), await cost(5), await cost(4), await cost(3)], [false, false, false, true]);
  assertEquals([await cost(4), await cost(6)], [false, true]);
  assertEquals([await cost(0), await cost(1), await cost(2)], [true, true, true]);
  assertEquals([await cost(2), await cost(5)], [false, true]);

  const none = new HandleStore(meter.backend, { cacheBytes: 0 });
  for (let i = 0; i < 3; i++) {
    await none.get(handles[0], alice);
    assert(meter.bytes() > 100_000);
  }
});

/** A backend that counts the bytes of all bodies it answers. */
function counting(backend: Backend): { backend: Backend; bytes(): number } {
  let sum = 0;
  const count = (found: { onto: string | { body: string }; entries: readonly { body: string }[] }) => {
    if (typeof found.onto !== "string") sum += found.onto.body.length;
    for (const { body } of found.entries) sum += body.length;
  };
  return {
    backend: {
      ...forward(backend),
      read: async (key, want, held) => {
        const answer = await backend.read(key, want, held);
        if (answer.outcome === "found") count(answer);
        return answer;
      },
      append: async (key, expected, append) => {
        const answer = await backend.append(key, expected, append);
        if (answer.outcome === "lost") count(answer.found);
        return answer;
      },
    },
    bytes: () => {
      const since = sum;
      sum = 0;
      return since;
    },
  };
}
