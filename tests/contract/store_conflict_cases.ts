import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { HandleNotFound, InvalidInput, StaleWrite } from "../../src/document/errors.ts";
import { append, increment, setKey } from "../../src/document/ops.ts";
import type { Snapshot } from "../../src/document/snapshot.ts";
import type { HandleStore } from "../../src/store/store.ts";
import type { StoreCase } from "./store.ts";

const alice = { user: "alice" };
const TRIP = { city: "Copenhagen", days: 2, stops: ["Nyhavn"] };

export function conflictCases(contract: StoreCase): void {
  contract("save: makes the next version and keeps kind, title and time of creation", async (store) => {
    const created = await store.create("trip", TRIP, { ...alice, title: "Spring" });
    const saved = await store.save(created.handle, { ...TRIP, city: "Aarhus" }, {
      ...alice,
      expectVersion: 1,
      writer: "phone",
    });
    assertEquals(saved, {
      ...created,
      version: 2,
      currentVersion: 2,
      updatedAt: saved.updatedAt,
      lastWriter: "phone",
      bytes: created.bytes - 4,
      state: { ...TRIP, city: "Aarhus" },
      changed: ["/city"],
    });
    assert(saved.updatedAt >= created.updatedAt);
    const { changed: _, ...read } = saved;
    assertEquals(await store.get(created.handle, alice), read);
    const same = await store.save(created.handle, saved.state, { ...alice, expectVersion: 2 });
    assertEquals([same.version, same.state, same.changed], [3, saved.state, []]);
  });

  contract("save: at an older version changes nothing and tells what happened", async (store, open) => {
    const handle = await store.mint("trip", TRIP, alice);
    const other = await open();
    await other.save(handle, { ...TRIP, city: "Aarhus" }, { ...alice, expectVersion: 1, writer: "phone" });
    const winner = await other.patch(handle, [append("stops", "ARoS")], { ...alice, writer: "tablet" });
    const error = await assertRejects(() => store.save(handle, {}, { ...alice, expectVersion: 1 }), StaleWrite);
    const { changed: _, ...current } = winner;
    assertEquals(error.current, current);
    assertEquals(error.changes.map(({ version, writer, patch }) => ({ version, writer, patch })), [
      { version: 2, writer: "phone", patch: [{ op: "replace", path: "/city", value: "Aarhus" }] },
      { version: 3, writer: "tablet", patch: [{ op: "add", path: `/stops/${TRIP.stops.length}`, value: "ARoS" }] },
    ]);
    const payload = error.toPayload();
    assertEquals([payload.code, payload.expected_version], ["stale_write", 1]);
    const second = await assertRejects(() => store.save(handle, {}, { ...alice, expectVersion: 2 }), StaleWrite);
    assertEquals(second.changes.map(({ version }) => version), [3]);
    assertEquals(await store.get(handle, alice), current);
  });

  contract("save: at a version that never was or is no number is a wrong argument", async (store) => {
    const handle = await store.mint("trip", TRIP, alice);
    for (const expectVersion of [0, -1, 1.5, 2, 99, NaN, Infinity, "1", null, undefined] as number[]) {
      for (
        const call of [
          () => store.save(handle, {}, { ...alice, expectVersion }),
          () => store.save(handle, {}, { ...alice, expectVersion, onConflict: "merge" }),
          () => store.restore(handle, 1, { ...alice, expectVersion }),
        ]
      ) {
        const error = await assertRejects(call, InvalidInput);
        assertEquals(error.field, "expect_version", String(expectVersion));
      }
      if (expectVersion !== undefined) {
        await assertRejects(async () => await store.revoke(handle, { ...alice, expectVersion }), InvalidInput);
      }
    }
    assertEquals((await store.get(handle, alice)).version, 1);
  });

  contract("save: of eight at one version, one wins", async (store, open) => {
    const stores = [store, await open(), await open(), await open()];
    const handle = await store.mint("trip", TRIP, alice);
    for (const others of [[store], stores]) {
      const { version } = await store.get(handle, alice);
      const results = await Promise.allSettled(Array.from({ length: 8 }, (_, i) => {
        const each = others[i % others.length];
        return each.save(handle, { winner: i }, { ...alice, expectVersion: version, writer: `phone ${i}` });
      }));
      const winners = results.filter((result) => result.status === "fulfilled").map(({ value }) => value);
      const errors = results.filter((result) => result.status === "rejected").map(({ reason }) => reason);
      assertEquals(winners.map((winner) => winner.version), [version + 1]);
      assertEquals(
        errors.map((error) => error instanceof StaleWrite && error.current.version),
        Array(7).fill(version + 1),
      );
      const { state, lastWriter } = await store.get(handle, alice);
      assertEquals([state, lastWriter], [winners[0].state, winners[0].lastWriter]);
    }
    assertEquals((await store.changes(handle, { ...alice, since: 0 })).changes.length, 3);
  });

  contract("save: merges edits that do not clash, from one base, both landing", async (store, open) => {
    const other = await open();
    const handle = await store.mint("trip", TRIP, alice);
    const merging = { ...alice, expectVersion: 1, onConflict: "merge" } as const;
    const [first, second] = await Promise.all([
      store.save(handle, { ...TRIP, city: "Aarhus", stops: ["Nyhavn", "ARoS"] }, merging),
      other.save(handle, { ...TRIP, days: 3, stops: ["Nyhavn", "Moesgaard"] }, merging),
    ]);
    const [earlier, later] = first.version < second.version ? [first, second] : [second, first];
    assertEquals([earlier.version, earlier.merged, later.version, later.merged], [2, undefined, 3, true]);
    const stops = later === second ? ["Nyhavn", "ARoS", "Moesgaard"] : ["Nyhavn", "Moesgaard", "ARoS"];
    assertEquals(later.state, { city: "Aarhus", days: 3, stops });
    assertEquals((await store.get(handle, alice)).state, later.state);
  });

  contract("save: that clashes in a merge names just the clashing places, with all three sides", async (store) => {
    const handle = await store.mint("trip", { ...TRIP, hotel: { name: "Sankt Petri", stars: 5 } }, alice);
    const theirs = { city: "Aarhus", days: 3, stops: ["Nyhavn"], hotel: { name: "Wakeup", stars: 5 } };
    await store.save(handle, theirs, { ...alice, expectVersion: 1 });
    const yours = { city: "Odense", days: 3, stops: ["Nyhavn", "Brandts"], hotel: { stars: 5 } };
    const error = await assertRejects(
      () => store.save(handle, yours, { ...alice, expectVersion: 1, onConflict: "merge" }),
      StaleWrite,
    );
    assertEquals(error.details.conflicts?.toSorted((a, b) => a.path < b.path ? -1 : 1), [
      { path: "/city", base: "Copenhagen", theirs: "Aarhus", yours: "Odense" },
      { path: "/hotel/name", base: "Sankt Petri", theirs: "Wakeup" },
    ]);
    assertEquals((await store.get(handle, alice)).state, theirs);
    await assertRejects(
      () => store.save(handle, {}, { ...alice, expectVersion: 1, onConflict: "force" as "fail" }),
      InvalidInput,
    );
  });

  contract("save: insertions into one long list from one base both land under merge", async (store) => {
    const items = Array.from({ length: 10_000 }, (_, i) => `item ${i}`);
    const handle = await store.mint("cart", { items }, alice);
    const merging = { ...alice, expectVersion: 1, onConflict: "merge" } as const;
    const first = await store.save(handle, { items: ["first", ...items] }, merging);
    assertEquals(first.changed, ["/items/0"]);
    const second = await store.save(
      handle,
      { items: [...items.slice(0, 5_000), "middle", ...items.slice(5_000)] },
      merging,
    );
    assertEquals(second.state, { items: ["first", ...items.slice(0, 5_000), "middle", ...items.slice(5_000)] });
    const { changes } = await store.changes(handle, { ...alice, since: 1 });
    assertEquals(changes.map(({ patch }) => patch), [
      [{ op: "add", path: "/items/0", value: "first" }],
      [{ op: "add", path: "/items/5001", value: "middle" }],
    ]);
  });

  contract("save: that loses to a deletion says that it did not apply", async (store, open) => {
    const other = await open();
    const writes: ((handle: string) => Promise<unknown>)[] = [
      (handle) => store.save(handle, {}, { ...alice, expectVersion: 1 }),
      (handle) => store.save(handle, {}, { ...alice, expectVersion: 1, onConflict: "merge" }),
      (handle) => store.patch(handle, [increment("days", 1)], alice),
      (handle) => store.restore(handle, 1, { ...alice, expectVersion: 1 }),
      (handle) => store.touch(handle, { ...alice, ttlDays: 4 }),
      (handle) => store.revoke(handle, { ...alice, expectVersion: 1 }),
    ];
    for (const [i, write] of writes.entries()) {
      const handle = await store.mint("trip", TRIP, alice);
      await other.revoke(handle, alice);
      const error = await assertRejects(() => write(handle), HandleNotFound);
      assertStringIncludes(error.message, "The write was not applied.", `write ${i}`);
      await assertRejects(() => other.get(handle, alice), HandleNotFound);
      await assertRejects(() => store.get(handle, alice), HandleNotFound);
    }
  });

  contract("writer: is the default where a call names none", async (store, open) => {
    const phone = await open({ writer: "phone" });
    const created = await store.create("trip", TRIP, { ...alice, writer: "laptop" });
    const handle = created.handle;
    const writers = [created.lastWriter];
    const note = async (write: Promise<Snapshot>) => writers.push((await write).lastWriter);
    await note(store.patch(handle, [increment("days", 1)], alice));
    await note(phone.patch(handle, [increment("days", 1)], alice));
    await note(phone.save(handle, TRIP, { ...alice, expectVersion: 3, writer: "tablet" }));
    await note(store.restore(handle, 1, { ...alice, expectVersion: 4 }));
    await note(phone.touch(handle, { ...alice, ttlDays: 1 }));
    assertEquals(writers, ["laptop", "unknown", "phone", "tablet", "unknown", "unknown"]);
    const { changes } = await store.changes(handle, { ...alice, since: 0 });
    assertEquals(changes.map(({ writer }) => writer), ["laptop", "unknown", "phone", "tablet", "unknown"]);
  });

  contract("writes: of many stores land once each, in one order", async (store, open) => {
    const stores = await Promise.all(Array.from({ length: 4 }, () => open()));
    const handle = await store.mint("cart", { items: [], total: 0, tags: [] }, alice);
    const write = async (each: HandleStore, writer: number) => {
      for (let i = 0; i < 20; i++) {
        const ops = [append("items", `${writer}-${i}`), increment("total", i), setKey("", "last", writer)];
        await each.patch(handle, ops, { ...alice, writer: `phone ${writer}` });
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, writer) => write(stores[writer % 4], writer)));
    const { state, version } = await store.get(handle, alice);
    const items = state.items as string[];
    assertEquals([version, items.length, new Set(items).size, state.total], [161, 160, 160, 8 * 190]);
    for (let writer = 0; writer < 8; writer++) {
      const own = items.filter((item) => item.startsWith(`${writer}-`));
      assertEquals(own, Array.from({ length: 20 }, (_, i) => `${writer}-${i}`));
    }
    const { changes } = await store.changes(handle, { ...alice, since: 0, limit: 1000 });
    assertEquals(changes.map((change) => change.version), Array.from({ length: 161 }, (_, i) => i + 1));
  });
}
