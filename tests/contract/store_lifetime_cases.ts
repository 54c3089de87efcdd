import { assert, assertEquals, assertRejects } from "@std/assert";
import { HandleExpired, HandleNotFound, InvalidInput } from "../../src/document/errors.ts";
import { append, increment } from "../../src/document/ops.ts";
import type { Snapshot } from "../../src/document/snapshot.ts";
import type { HandleStore } from "../../src/store/store.ts";
import { seconds, until } from "./drafts.ts";
import type { StoreCase } from "./store.ts";

const alice = { user: "alice" };
const CART = { items: ["bread"] };

export function lifetimeCases(contract: StoreCase): void {
  contract("ttl: that is no number of days above 0 and at most 36,525 is refused", async (store) => {
    const handle = await store.mint("cart", CART, alice);
    for (const ttlDays of [0, -1, NaN, Infinity, -Infinity, "7", true, 36_525.001, 36_526, [], {}, 1n] as number[]) {
      for (
        const call of [
          () => store.mint("cart", CART, { ...alice, ttlDays }),
          () => store.save(handle, CART, { ...alice, expectVersion: 1, ttlDays }),
          () => store.touch(handle, { ...alice, ttlDays }),
        ]
      ) {
        assertEquals((await assertRejects(async () => await call(), InvalidInput)).field, "ttl_days");
      }
    }
    await assertRejects(() => store.mint("cart", CART, { ...alice, ttlDays: null as unknown as number }), InvalidInput);
    const longest = await store.create("cart", CART, { ...alice, ttlDays: 36_525 });
    assertEquals(Date.parse(longest.expiresAt ?? "") - Date.parse(longest.createdAt), 36_525 * 86_400_000);
    assertEquals((await store.get(handle, alice)).version, 1);
  });

  contract("ttl: of a second ends in the same answer to every method, and frees its place", async (store, open) => {
    const limited = await open({ maxHandlesPerUser: 8 });
    const ttlDays = seconds(1);
    const created: Snapshot[] = [];
    for (let i = 0; i < 8; i++) created.push(await limited.create("cart", CART, { ...alice, ttlDays, turn: 1 }));
    const other = await open();
    await other.get(created[7].handle, alice);
    await untilExpired(store, created[7].handle);
    const methods: ((handle: string, store: HandleStore) => Promise<unknown>)[] = [
      (handle, each) => each.get(handle, alice),
      (handle, each) => each.get(handle, { ...alice, version: 1 }),
      (handle, each) => each.get(handle, { ...alice, turn: 1 }),
      (handle, each) => each.save(handle, {}, { ...alice, expectVersion: 1 }),
      (handle, each) => each.patch(handle, [append("items", 1)], alice),
      (handle, each) => each.touch(handle, { ...alice, ttlDays: 3 }),
      (handle, each) => each.changes(handle, alice),
      (handle, each) => each.restore(handle, 1, { ...alice, expectVersion: 1 }),
      (handle, each) => each.revoke(handle, alice),
    ];
    for (const each of [limited, other]) {
      for (const [i, method] of methods.entries()) {
        const { handle, expiresAt } = created[i % 8];
        const error = await assertRejects(() => method(handle, each), HandleExpired);
        assertEquals([error.handle, error.expiredAt, error.ttlDays], [handle, expiresAt, ttlDays]);
        assertEquals(error.toPayload().code, "handle_expired");
        await assertRejects(() => each.get(handle, { user: "bob" }), HandleNotFound);
      }
    }
    assertEquals((await other.list("alice")).handles, []);
    const { handles, expired } = await other.list("alice", { includeExpired: true });
    assertEquals(handles, []);
    const byHandle = (a: { handle: string }, b: { handle: string }) => a.handle < b.handle ? -1 : 1;
    assertEquals(
      expired.toSorted(byHandle),
      created.map(({ handle, expiresAt = "" }) => ({ handle, kind: "cart", expiredAt: expiresAt, ttlDays }))
        .sort(byHandle),
    );
    for (let i = 0; i < 8; i++) await limited.mint("cart", CART, alice);
  });

  contract("touch: leaves version, past and time of writing alone, and makes no save stale", async (store, open) => {
    const other = await open();
    const created = await store.create("cart", CART, { ...alice, writer: "laptop", ttlDays: 1 });
    const { changed: _, ...before } = created;
    const { handle } = created;
    const touched = await other.touch(handle, { ...alice, ttlDays: 10 });
    const { ttlDays, expiresAt = "", ...rest } = touched;
    const { ttlDays: _ttlDays, expiresAt: _expiresAt, ...unchanged } = before;
    assertEquals([ttlDays, rest], [10, unchanged]);
    assert(Date.parse(expiresAt) >= Date.parse(created.createdAt) + 10 * 86_400_000);
    assertEquals(await store.get(handle, alice), touched);
    const { ttlDays: last, ...again } = await store.touch(handle, alice);
    assertEquals([last, again.version, (again.expiresAt ?? "") >= expiresAt], [10, 1, true]);
    const saved = await store.save(handle, { items: [] }, { ...alice, expectVersion: 1 });
    assertEquals([saved.version, saved.ttlDays, saved.expiresAt], [2, 10, again.expiresAt]);
    const forever = await other.touch(handle, { ...alice, ttlDays: null });
    assertEquals([forever.ttlDays, forever.expiresAt, "expiresAt" in forever], [undefined, undefined, false]);
    assertEquals((await store.touch(handle, alice)).expiresAt, undefined);
    assertEquals((await store.changes(handle, { ...alice, since: 0 })).changes.map(({ version }) => version), [1, 2]);
  });

  contract("touch: racing expiry and sweep on other stores, never loses what it renewed", async (store, open) => {
    const other = await open();
    const race = async () => {
      const { handle, expiresAt = "" } = await store.create("cart", CART, { ...alice, ttlDays: seconds(0.3) });
      await until(() => Date.now() >= Date.parse(expiresAt) - 3, "the last moment");
      const [touched] = await Promise.allSettled([
        store.touch(handle, { ...alice, ttlDays: 1 }),
        other.sweep("alice"),
        other.list("alice"),
      ]);
      const read = await Promise.allSettled([other.get(handle, alice), store.get(handle, alice)]);
      assertEquals(read.map(({ status }) => status), [touched.status, touched.status]);
    };
    await Promise.all(Array.from({ length: 16 }, race));
  });

  contract("save: renews, clears or keeps the time to live", async (store) => {
    const created = await store.create("cart", CART, { ...alice, ttlDays: 1 });
    const { handle } = created;
    const kept = await store.save(handle, {}, { ...alice, expectVersion: 1 });
    assertEquals([kept.ttlDays, kept.expiresAt], [1, created.expiresAt]);
    const patched = await store.patch(handle, [increment("n", 1, { create: true })], alice);
    assertEquals([patched.ttlDays, patched.expiresAt], [1, created.expiresAt]);
    const renewed = await store.save(handle, {}, { ...alice, expectVersion: 3, ttlDays: 2 });
    assertEquals(Date.parse(renewed.expiresAt ?? "") - Date.parse(renewed.updatedAt), 2 * 86_400_000);
    const cleared = await store.save(handle, {}, { ...alice, expectVersion: 4, ttlDays: null });
    assertEquals([cleared.ttlDays, cleared.expiresAt], [undefined, undefined]);
    assertEquals((await store.get(handle, { ...alice, version: 1 })).expiresAt, undefined);
  });

  contract("expiry: stays to the millisecond through restores and sweeps", async (store) => {
    const { handle, expiresAt } = await store.create("cart", CART, { ...alice, ttlDays: 1.234_567_89 });
    await store.patch(handle, [append("items", "milk")], alice);
    const restored = await store.restore(handle, 1, { ...alice, expectVersion: 2 });
    assertEquals(restored.expiresAt, expiresAt);
    await store.sweep("alice");
    await store.sweepAll();
    const { handles } = await store.list("alice");
    assertEquals([handles[0].expiresAt, handles[0].ttlDays], [expiresAt, 1.234_567_89]);
    assertEquals((await store.get(handle, alice)).expiresAt, expiresAt);
  });

  contract("write: that meets expiry is refused and says that it did not apply", async (store, open) => {
    const other = await open();
    const writes: ((handle: string) => Promise<unknown>)[] = [
      (handle) => store.save(handle, {}, { ...alice, expectVersion: 1, ttlDays: 9, requestId: "late" }),
      (handle) => store.save(handle, {}, { ...alice, expectVersion: 1, onConflict: "merge" }),
      (handle) => other.patch(handle, [append("items", 1)], alice),
      (handle) => other.restore(handle, 1, { ...alice, expectVersion: 1 }),
      (handle) => other.touch(handle, { ...alice, ttlDays: null }),
    ];
    const handles: string[] = [];
    for (let i = 0; i <= writes.length; i++) {
      handles.push(await store.mint("cart", CART, { ...alice, ttlDays: seconds(0.5) }));
    }
    await untilExpired(store, handles[writes.length]);
    for (const [i, write] of writes.entries()) {
      const error = await assertRejects(() => write(handles[i]), HandleExpired);
      assertEquals([error.notApplied, error.message.includes("The write was not applied.")], [true, true]);
    }
    assertEquals((await store.list("alice")).handles, []);
  });

  contract("revoke: deletes a document with its past and frees its place", async (store, open) => {
    const limited = await open({ maxHandlesPerUser: 1 });
    const handle = await limited.mint("cart", CART, alice);
    await store.patch(handle, [append("items", 1)], alice);
    assertEquals(await limited.revoke(handle, { ...alice, expectVersion: 2 }), { handle, version: 2 });
    await assertRejects(() => store.get(handle, { ...alice, version: 1 }), HandleNotFound);
    await assertRejects(() => limited.revoke(handle, alice), HandleNotFound);
    assertEquals((await store.list("alice", { includeExpired: true })).expired, []);
    await limited.mint("cart", CART, alice);
  });
}

/** Every handle minted before it with the same time to live has expired by then, too. */
async function untilExpired(store: HandleStore, handle: string): Promise<void> {
  await until(async () => {
    try {
      await store.get(handle, alice);
      return false;
    } catch (error) {
      return error instanceof HandleExpired;
    }
  }, "a handle expires");
}
