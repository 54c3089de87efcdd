/**
 * Watching: none missed, none twice, in whatever process, and a gap where that cannot be.
 *
 * @module
 */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { append, increment } from "../../src/document/ops.ts";
import { InvalidInput } from "../../src/document/errors.ts";
import type { HandleStore } from "../../src/store/store.ts";
import type { WatchEvent, WatchOptions } from "../../src/store/watch.ts";
import type { StoreCase } from "./store.ts";

const alice = { user: "alice" };
const SECOND = 1 / 86_400;

/** How long an event may take before a test gives up on it, in milliseconds. */
const PATIENCE_MS = 30_000;

/** Collects events until told to stop. */
class Ear implements AsyncDisposable {
  readonly events: WatchEvent[] = [];
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;
  #wake: () => void = () => {};

  constructor(store: HandleStore, user: string, options: WatchOptions = {}) {
    const events = store.watch(user, { ...options, signal: this.#stop.signal });
    this.#done = (async () => {
      for await (const event of events) {
        this.events.push(event);
        this.#wake();
      }
    })();
  }

  /** What was heard, without cursors, once it is as many as that. */
  async heard(count: number): Promise<unknown[]> {
    const late = setTimeout(() => this.#wake(), PATIENCE_MS);
    const deadline = Date.now() + PATIENCE_MS;
    while (this.events.length < count) {
      await new Promise<void>((resolve) => this.#wake = resolve);
      if (this.events.length < count && Date.now() >= deadline) {
        throw new Error(`heard ${this.events.length} of ${count}: ${JSON.stringify(this.events.map(brief))}`);
      }
    }
    clearTimeout(late);
    return this.events.map(brief);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }
}

function brief(event: WatchEvent): unknown {
  return event.type === "change"
    ? `${event.handle} ${event.version} by ${event.writer}`
    : `${event.handle} ${event.type}`;
}

/** A cursor from which everything that follows is heard: that of an event of a document of its own. */
async function cursorOf(store: HandleStore, user: string): Promise<string> {
  await using ear = new Ear(store, user);
  const probe = await store.mint("probe", { beats: 0 }, { user });
  let beats = 0;
  while (ear.events.length === 0) {
    await store.patch(probe, [increment("beats", 1)], { user });
    beats++;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const first = ear.events[0];
  const version = first.type === "change" ? first.version : 1;
  await ear.heard(beats + 2 - version);
  return ear.events[ear.events.length - 1].cursor;
}

export function watchCases(contract: StoreCase): void {
  contract("watch: tells of changes and ends, of this process and of others, in order", async (store, open) => {
    const other = await open();
    const since = await cursorOf(store, "alice");
    await using ear = new Ear(store, "alice", { since });
    const handle = await other.mint("trip", { cities: [] }, { ...alice, writer: "phone" });
    await other.patch(handle, [append("cities", "Copenhagen")], { ...alice, writer: "phone" });
    await ear.heard(2);
    await store.patch(handle, [append("cities", "Aarhus")], { ...alice, writer: "laptop" });
    await ear.heard(3);
    await other.revoke(handle, alice);
    assertEquals(await ear.heard(4), [
      `${handle} 1 by phone`,
      `${handle} 2 by phone`,
      `${handle} 3 by laptop`,
      `${handle} deleted`,
    ]);
  });

  contract("watch: goes on after a cursor, also with another process", async (store, open) => {
    const since = await cursorOf(store, "alice");
    const handle = await store.mint("trip", { visits: 0 }, { ...alice, writer: "phone" });
    let cursor: string;
    {
      await using ear = new Ear(store, "alice", { since });
      await ear.heard(1);
      cursor = ear.events[0].cursor;
    }
    for (let i = 0; i < 3; i++) await store.patch(handle, [increment("visits", 1)], { ...alice, writer: "phone" });
    await using ear = new Ear(await open(), "alice", { since: cursor });
    assertEquals(await ear.heard(3), [2, 3, 4].map((version) => `${handle} ${version} by phone`));
  });

  contract("watch: hears every one of many writes once, over several documents", async (store, open) => {
    const others = [await open(), await open()];
    const since = await cursorOf(store, "alice");
    await using ear = new Ear(store, "alice", { since });
    const handles = await Promise.all(
      others.map((other) => other.mint("trip", { visits: 0 }, { ...alice, writer: "a" })),
    );
    for (let i = 0; i < 20; i++) {
      await Promise.all(
        others.flatMap((other) =>
          handles.map((handle) => other.patch(handle, [increment("visits", 1)], { ...alice, writer: "a" }))
        ),
      );
    }
    const heard = await ear.heard(82);
    const expected = handles.flatMap((handle) => Array.from({ length: 41 }, (_, i) => `${handle} ${i + 1} by a`));
    assertEquals(heard.toSorted(), expected.toSorted());
    for (const handle of handles) {
      const versions = ear.events.flatMap((event) =>
        event.type === "change" && event.handle === handle ? event.version : []
      );
      assertEquals(versions, versions.toSorted((a, b) => a - b));
    }
  });

  contract("watch: only of one document, and never of another user's", async (store) => {
    const handle = await store.mint("trip", { visits: 0 }, alice);
    const since = await cursorOf(store, "alice");
    await using ear = new Ear(store, "alice", { handle, since });
    await store.mint("trip", {}, { user: "bob" });
    await store.mint("trip", {}, alice);
    await store.patch(handle, [increment("visits", 1)], { ...alice, writer: "phone" });
    assertEquals(await ear.heard(1), [`${handle} 2 by phone`]);
  });

  contract("watch: tells of an expiry that nobody looks for", async (store) => {
    const since = await cursorOf(store, "alice");
    await using ear = new Ear(store, "alice", { since });
    const handle = await store.mint("trip", {}, { ...alice, writer: "phone", ttlDays: SECOND / 2 });
    assertEquals(await ear.heard(2), [`${handle} 1 by phone`, `${handle} expired`]);
  });

  contract("watch: touching is no event", async (store) => {
    const handle = await store.mint("trip", { visits: 0 }, { ...alice, ttlDays: 1 });
    const since = await cursorOf(store, "alice");
    await using ear = new Ear(store, "alice", { since });
    await store.touch(handle, { ...alice, ttlDays: 2 });
    await store.touch(handle, { ...alice, turn: 3 });
    await store.patch(handle, [increment("visits", 1)], { ...alice, writer: "phone" });
    assertEquals(await ear.heard(1), [`${handle} 2 by phone`]);
  });

  contract("watch: says that what it should tell was pruned", async (store, open) => {
    const short = await open({ retention: { versions: 2 } });
    const handle = await short.mint("trip", { visits: 0 }, alice);
    const since = await cursorOf(store, "alice");
    for (let i = 0; i < 5; i++) await short.patch(handle, [increment("visits", 1)], alice);
    await using ear = new Ear(store, "alice", { since });
    const [first] = await ear.heard(1);
    assertEquals(first, `${handle} gap`);
    await short.patch(handle, [increment("visits", 1)], { ...alice, writer: "phone" });
    assertEquals((await ear.heard(2)).at(-1), `${handle} 7 by phone`);
  });

  contract("watch: a cursor of another user, or none at all, is refused", async (store) => {
    const since = await cursorOf(store, "alice");
    const refused = (user: string, cursor: string) =>
      assertRejects(() => Promise.try(() => store.watch(user, { since: cursor })), InvalidInput);
    assertEquals((await refused("bob", since)).field, "since");
    assertEquals((await refused("alice", "nonsense")).field, "since");
  });

  contract("watch: ends when the store is closed", async (store, open) => {
    const other = await open();
    const events = other.watch("alice")[Symbol.asyncIterator]();
    const next = events.next();
    await other.close();
    const { done } = await next;
    assert(done);
    await store.mint("trip", {}, alice);
  });
}
