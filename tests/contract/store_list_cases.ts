import { assert, assertEquals, assertRejects } from "@std/assert";
import { HandleNotFound, InvalidInput } from "../../src/document/errors.ts";
import { increment } from "../../src/document/ops.ts";
import type { HandleInfo } from "../../src/document/snapshot.ts";
import type { ListOptions } from "../../src/store/options.ts";
import type { HandleStore } from "../../src/store/store.ts";
import type { StoreCase } from "./store.ts";

const alice = { user: "alice" };

export function listCases(contract: StoreCase): void {
  contract("list: answers the metadata of every document, newest first", async (store) => {
    const cart = await store.create("cart", { items: [] }, { ...alice, title: "Weekly shopping" });
    const trip = await store.create("trip", { city: "Aarhus" }, { ...alice, ttlDays: 3, writer: "phone", turn: 2 });
    const todo = await store.create("to-do", { items: ["pack"] }, { ...alice, title: "ÅRHUS packing" });
    await store.mint("trip", {}, { user: "bob" });
    const later = await store.patch(cart.handle, [increment("total", 5, { create: true })], alice);
    const infos = [later, todo, trip].map((snapshot): HandleInfo => {
      const { state: _, changed: _c, currentVersion: _v, oldestVersion: _o, currentTurn: _t, ...info } = snapshot;
      return info;
    });
    assertEquals(await store.list("alice"), { handles: infos, expired: [] });
    const named = async (options: ListOptions) => (await store.list("alice", options)).handles.map(({ kind }) => kind);
    assertEquals(await named({ kind: "trip" }), ["trip"]);
    assertEquals(await named({ kind: "absent" }), []);
    assertEquals(await named({ query: "SHOPPING" }), ["cart"]);
    assertEquals(await named({ query: "århus" }), ["to-do"]);
    assertEquals(await named({ query: trip.handle.slice(2, 9).toUpperCase() }), ["trip"]);
    assertEquals(await named({ query: "ing", kind: "cart" }), ["cart"]);
    assertEquals(await named({ query: "aarhus" }), []);
    assertEquals(await named({ limit: 2 }), ["cart", "to-do"]);
  });

  contract("list: goes by pages of any size, filtered or not", async (store) => {
    for (let i = 0; i < 25; i++) {
      await store.mint(i % 3 ? "cart" : "trip", {}, { ...alice, title: `number ${i}` });
    }
    const titles = async (options: ListOptions) =>
      (await walk(store, options)).map(({ title }) => Number(title?.slice(7)));
    const down = Array.from({ length: 25 }, (_, i) => 24 - i);
    for (const limit of [1, 4, 5, 24, 25, 26, 1_000]) {
      assertEquals(await titles({ limit }), down);
      assertEquals(await titles({ limit, kind: "trip" }), down.filter((i) => i % 3 === 0));
      assertEquals(await titles({ limit, query: "number 1" }), down.filter((i) => i === 1 || i >= 10 && i < 20));
    }
  });

  contract("list: refuses a limit, a query or a cursor that is none", async (store) => {
    for (let i = 0; i < 5; i++) await store.mint("cart", {}, { ...alice, title: `cart ${i}` });
    await store.mint("cart", {}, { user: "bob" });
    await store.mint("cart", {}, { user: "bob" });
    const { cursor = "" } = await store.list("alice", { limit: 2 });
    const { cursor: bobs } = await store.list("bob", { limit: 1 });
    const { cursor: filtered } = await store.list("alice", { limit: 2, kind: "cart" });
    const cursors = ["", "x", "!!!", bobs, filtered, cursor.slice(1), cursor.slice(0, -2), `${cursor}AAAA`, "bnVsbA"];
    const tampered = [btoa("{}"), btoa("[1,2,3]"), btoa('["a","down",5,5]'), 5, null];
    for (const wrong of [...cursors, ...tampered] as string[]) {
      const error = await assertRejects(() => store.list("alice", { limit: 2, cursor: wrong }), InvalidInput);
      assertEquals(error.field, "cursor", String(wrong));
    }
    await assertRejects(() => store.list("alice", { limit: 2, cursor, query: "cart" }), InvalidInput);
    await assertRejects(() => store.list("alice", { limit: 2, cursor, includeExpired: true }), InvalidInput);
    for (const limit of [0, -1, 1.5, 1_001, NaN, "5"] as number[]) {
      assertEquals((await assertRejects(() => store.list("alice", { limit }), InvalidInput)).field, "limit");
    }
    assertEquals((await assertRejects(() => store.list("alice", { kind: "NO" }), InvalidInput)).field, "kind");
    for (const query of [5, null, {}, ["cart"]] as unknown as string[]) {
      assertEquals((await assertRejects(() => store.list("alice", { query }), InvalidInput)).field, "query");
    }
    assertEquals((await store.list("alice", { limit: 2, cursor })).handles.length, 2);
    assertEquals((await store.list("alice", { limit: 5, cursor })).handles.length, 3);
  });

  contract("list: shows each of 5,000 documents though others are written, minted and deleted", async (store, open) => {
    const other = await open();
    const handles: string[] = [];
    for (let i = 0; i < 50; i++) {
      const mints = Array.from(
        { length: 100 },
        (_, j) => other.mint("cart", { n: 0 }, { ...alice, title: `${i * 100 + j}` }),
      );
      handles.push(...await Promise.all(mints));
    }
    const seen = new Map<string, HandleInfo[]>();
    const deleted = new Set<string>();
    const minted = new Set<string>();
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page: Awaited<ReturnType<HandleStore["list"]>> = await store.list("alice", { limit: 100, cursor });
      for (const info of page.handles) {
        const before = seen.get(info.handle);
        if (before === undefined) seen.set(info.handle, [info]);
        else before.push(info);
      }
      cursor = page.cursor;
      // Meanwhile others work all over the list: on what was seen, on what comes next, and at its end.
      if (pages < 60) {
        const at = (step: number) => handles[(pages * 83 + step * 997) % handles.length];
        await Promise.all(
          [0, 1, 2, 3].map((step) =>
            other.patch(at(step), [increment("n", 1)], alice).catch((error) => assert(error instanceof HandleNotFound))
          ),
        );
        const victim = at(4);
        if (!deleted.has(victim)) {
          await other.revoke(victim, alice);
          deleted.add(victim);
        }
        minted.add(await other.mint("cart", { n: 0 }, alice));
      }
      pages++;
      assert(pages < 200, "the walk ends");
    } while (cursor !== undefined);
    const missed = handles.filter((handle) => !deleted.has(handle) && !seen.has(handle));
    assertEquals(missed, []);
    assertEquals([...minted].filter((handle) => seen.has(handle)), [], "what is minted meanwhile is of the next walk");
    let again = 0;
    for (const infos of seen.values()) {
      again += infos.length - 1;
      const versions = infos.map(({ version }) => version);
      assertEquals(versions, [...new Set(versions)].sort((a, b) => a - b), "again only with a higher version");
    }
    assert(pages > 50 && again > 0 && minted.size > 0, "the walk met what it is about");
  });
}

async function walk(store: HandleStore, options: ListOptions): Promise<HandleInfo[]> {
  const handles: HandleInfo[] = [];
  let cursor: string | undefined;
  do {
    const page: Awaited<ReturnType<HandleStore["list"]>> = await store.list("alice", { ...options, cursor });
    assert(page.handles.length <= (options.limit ?? 100));
    handles.push(...page.handles);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return handles;
}
