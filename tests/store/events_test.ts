import { assert, assertEquals } from "@std/assert";
import type { Backend } from "../../src/backends/backend.ts";
import { openSqliteBackend } from "../../src/backends/sqlite.ts";
import { increment } from "../../src/document/ops.ts";
import { readEvents } from "../../src/store/events.ts";
import { HandleStore } from "../../src/store/store.ts";
import { forward } from "../contract/target.ts";
import { type Contents, MemoryServer } from "../proof/memory.ts";

const alice = { user: "alice", writer: "phone" };
const DAY = 86_400_000;

/** Everything that is told from a place on, in the words of a listener. */
async function told(backend: Backend, seq: number): Promise<string[]> {
  const words: string[] = [];
  for (let cursor = { seq };;) {
    const { events, next, isComplete } = await readEvents(backend, "alice", cursor);
    for (const { event } of events) words.push(`${event.type} ${"version" in event ? event.version : ""}`.trim());
    if (isComplete && next.seq === cursor.seq) return words;
    cursor = next;
  }
}

/** A backend that lets something happen right after its first list. */
function afterList(backend: Backend, happen: () => Promise<unknown>): Backend {
  let isFirst = true;
  const list: Backend["list"] = async (...args) => {
    const page = await backend.list(...args);
    if (isFirst) {
      isFirst = false;
      await happen();
    }
    return page;
  };
  return { ...forward(backend), list };
}

Deno.test("events: of a document that is deleted while they are read tell the deletion, and no gap", async () => {
  const server = new MemoryServer();
  const store = new HandleStore(server.connect());
  const handle = await store.mint("trip", { visits: 0 }, alice);
  await store.patch(handle, [increment("visits", 1)], alice);
  const backend = afterList(server.connect(), () => store.revoke(handle, alice));
  assertEquals(await told(backend, 1), ["deleted"]);
});

Deno.test("events: tell an expiry once, whoever buries the document while they are read", async () => {
  let now = Date.UTC(2026, 6, 1);
  const server = new MemoryServer(() => now);
  const store = new HandleStore(server.connect());
  await store.mint("trip", { visits: 0 }, { ...alice, ttlDays: 1 });
  now += DAY;
  const backend = afterList(server.connect(), () => store.sweep("alice"));
  assertEquals(await told(backend, 0), ["expired"]);
  assertEquals(await told(server.connect(), 0), ["expired"]);
});

Deno.test("events: say so where the start of a document that is new to a listener was pruned", async () => {
  const server = new MemoryServer();
  const store = new HandleStore(server.connect(), { retention: { versions: 2 } });
  const handle = await store.mint("trip", { visits: 0 }, alice);
  for (let i = 0; i < 5; i++) await store.patch(handle, [increment("visits", 1)], alice);
  assertEquals(await told(server.connect(), 0), ["gap"]);
});

Deno.test("events: say so where entries are pruned while they are read", async () => {
  const server = new MemoryServer();
  const store = new HandleStore(server.connect(), { retention: { versions: 2 } });
  const handle = await store.mint("trip", { visits: 0 }, alice);
  const backend = afterList(server.connect(), async () => {
    for (let i = 0; i < 5; i++) await store.patch(handle, [increment("visits", 1)], alice);
  });
  assertEquals((await told(backend, 0))[0], "gap");
});

Deno.test("watch: a listener who was told nothing yet is told that the store was rewound", async () => {
  const server = new MemoryServer();
  const store = new HandleStore(server.connect());
  const handle = await store.mint("trip", { visits: 0 }, alice);
  const before = server.copy();
  await store.patch(handle, [increment("visits", 1)], alice);
  const next = await listen(store);
  server.restore(await rewritten(server, before, handle));
  assertEquals(await next(), "gap rewound");
  await store.close();
});

Deno.test("watch: a listener whose last event was a deletion that is lost is told of that", async () => {
  const { server, store, handle, before, next } = await listening();
  await store.revoke(handle, alice);
  assertEquals(await next(), "deleted");
  server.restore(await rewritten(server, before, handle));
  assertEquals(await next(), "gap rewound");
  await store.close();
});

Deno.test("watch: a listener whose last event was an end that is lost, and that came about anew, is told of that", async () => {
  let now = Date.UTC(2026, 6, 1);
  for (const end of ["deleted", "expired"]) {
    const server = new MemoryServer(() => now);
    const store = new HandleStore(server.connect());
    const other = await store.mint("cart", { visits: 0 }, alice);
    const handle = await store.mint("trip", { visits: 0 }, { ...alice, ttlDays: 1 });
    const before = server.copy();
    const next = await listen(store);
    if (end === "expired") {
      now += DAY;
      await store.sweep("alice");
    } else await store.revoke(handle, alice);
    assertEquals(await next(), end);
    const replica = new MemoryServer(server.now);
    replica.restore(before);
    const survivor = new HandleStore(replica.connect());
    await survivor.patch(other, [increment("visits", 1)], alice);
    if (end === "expired") await survivor.sweep("alice");
    else await survivor.revoke(handle, alice);
    server.restore(replica.copy());
    assertEquals(await next(), "gap rewound");
    await store.close();
  }
});

Deno.test("watch: a listener whose last event was a change is told that it is lost, also where the document ended since", async () => {
  const server = new MemoryServer();
  const store = new HandleStore(server.connect());
  const [handle, other] = [await store.mint("trip", { visits: 0 }, alice), await store.mint("cart", {}, alice)];
  const before = server.copy();
  const next = await listen(store);
  await store.patch(handle, [increment("visits", 1)], alice);
  assertEquals(await next(), "change");
  const replica = new MemoryServer(server.now);
  replica.restore(before);
  const survivor = new HandleStore(replica.connect());
  await survivor.revoke(handle, alice);
  await survivor.revoke(other, alice);
  server.restore(replica.copy());
  assertEquals(await next(), "gap rewound");
  await store.close();
});

Deno.test("events: tell what was written to a document that was past due only by a clock that is set back then", async () => {
  let now = Date.UTC(2026, 6, 1);
  await using backend = await openSqliteBackend({ now: () => now });
  const store = new HandleStore(backend);
  await store.mint("trip", { visits: 0 }, { ...alice, ttlDays: 1 });
  let isAhead = true;
  const entries: Backend["entries"] = async (...args) => {
    if (isAhead) now += DAY;
    const answer = await backend.entries(...args);
    if (isAhead) now -= DAY;
    isAhead = false;
    return answer;
  };
  assertEquals(await told({ ...forward(backend), entries }, 0), ["change 1"]);
});

Deno.test("watch: that what was told last is past due, and nobody has buried it yet, is no gap", async () => {
  let now = Date.UTC(2026, 6, 1);
  const store = new HandleStore(await openSqliteBackend({ now: () => now }));
  const other = await store.mint("cart", { visits: 0 }, alice);
  const handle = await store.mint("trip", { visits: 0 }, { ...alice, ttlDays: 1 });
  const next = await listen(store);
  await store.patch(handle, [increment("visits", 1)], alice);
  assertEquals(await next(), "change");
  now += DAY;
  await store.patch(other, [increment("visits", 1)], alice);
  assertEquals(await next(), "change");
  assertEquals(await next(), "expired");
  await store.close();
});

Deno.test("watch: a listener whose last event was a change is told that it is lost, also where another document has its place", async () => {
  const { server, store, handle, before, next } = await listening();
  await store.patch(handle, [increment("visits", 1)], alice);
  assertEquals(await next(), "change");
  const replica = new MemoryServer(server.now);
  replica.restore(before);
  const survivor = new HandleStore(replica.connect());
  await survivor.mint("cart", {}, alice);
  await survivor.revoke(handle, alice);
  server.restore(replica.copy());
  assertEquals(await next(), "gap rewound");
  await store.close();
});

/** A store with a document and a listener, and what its server held when that began to listen. */
async function listening() {
  const server = new MemoryServer();
  const store = new HandleStore(server.connect());
  const handle = await store.mint("trip", { visits: 0 }, alice);
  const before = server.copy();
  return { server, store, handle, before, next: await listen(store) };
}

/** What a server holds that was put back, and has been written to since as often as before. */
async function rewritten(server: MemoryServer, before: Contents, handle: string): Promise<Contents> {
  const other = new MemoryServer(server.now);
  other.restore(before);
  const store = new HandleStore(other.connect());
  for (let i = 0; i < 5; i++) await store.patch(handle, [increment("visits", 10)], alice);
  return other.copy();
}

/** Listens from now on; answers how to hear the next event. */
async function listen(store: HandleStore): Promise<() => Promise<string>> {
  const events = store.watch("alice")[Symbol.asyncIterator]();
  let upcoming = events.next(); // takes its place
  await store.list("alice");
  await new Promise((resolve) => setTimeout(resolve));
  return async () => {
    const { value } = await upcoming;
    assert(value !== undefined);
    upcoming = events.next();
    return value.type === "gap" ? `gap ${value.reason}` : value.type;
  };
}
