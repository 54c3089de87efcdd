import { assert, assertEquals, assertRejects } from "@std/assert";
import { InvalidInput, StaleWrite, VersionNotFound } from "../../src/document/errors.ts";
import { equal } from "../../src/document/json.ts";
import { applyJsonPatch, type Sized } from "../../src/document/json_patch.ts";
import { append, delKey, increment, mergeInto, setKey } from "../../src/document/ops.ts";
import type { GetOptions } from "../../src/store/options.ts";
import type { HandleStore } from "../../src/store/store.ts";
import { until } from "./drafts.ts";
import type { StoreCase } from "./store.ts";

const alice = { user: "alice" };

export function pastCases(contract: StoreCase): void {
  contract("get: reads Copenhagen at version 1 and Aarhus at version 2", async (store, open) => {
    const other = await open();
    const created = await store.create("trip", { city: "Copenhagen" }, { ...alice, writer: "laptop", title: "Old" });
    const { handle } = created;
    const saved = await other.save(handle, { city: "Aarhus" }, {
      ...alice,
      expectVersion: 1,
      writer: "phone",
      title: "New",
      ttlDays: 2,
    });
    for (const each of [store, other, await open()]) {
      const first = await each.get(handle, { ...alice, version: 1 });
      const { changed: _, ...before } = created;
      assertEquals(first, {
        ...before,
        title: "New",
        ttlDays: 2,
        expiresAt: saved.expiresAt,
        currentVersion: 2,
      });
      const { changed: _changed, ...current } = saved;
      assertEquals(await each.get(handle, { ...alice, version: 2 }), current);
      assertEquals(await each.get(handle, alice), current);
    }
  });

  contract("get: of a version that never was says so", async (store) => {
    const handle = await store.mint("trip", { city: "Copenhagen" }, alice);
    await store.patch(handle, [setKey("", "city", "Aarhus")], alice);
    for (const version of [0, -1, 3, 1e15]) {
      const error = await assertRejects(() => store.get(handle, { ...alice, version }), VersionNotFound);
      const { message: _, ...facts } = error.toPayload();
      assertEquals(facts, { code: "version_not_found", version, current_version: 2 });
    }
    const wrong: Partial<GetOptions>[] = [
      { version: 1.5 },
      { version: "1" as unknown as number },
      { version: NaN },
      { turn: 0.5 },
      { at: "yesterday" },
      { at: NaN },
      { at: new Date(NaN) },
      { version: 1, turn: 1 },
      { version: 1, at: 0 },
      { turn: 1, at: 0 },
    ];
    for (const options of wrong) await assertRejects(() => store.get(handle, { ...alice, ...options }), InvalidInput);
  });

  contract("get: reads as of any time", async (store) => {
    const times: number[] = [];
    const { handle, createdAt } = await store.create("trip", { n: 1 }, alice);
    times.push(Date.parse(createdAt));
    for (let n = 2; n <= 5; n++) {
      await until(() => Date.now() > times[times.length - 1] + 3, "the clock moves on");
      times.push(Date.parse((await store.save(handle, { n }, { ...alice, expectVersion: n - 1 })).updatedAt));
    }
    for (const [i, time] of times.entries()) {
      for (const at of [time, time + 1, new Date(time), new Date(time).toISOString()]) {
        const { version, state, currentVersion } = await store.get(handle, { ...alice, at });
        assertEquals([version, state, currentVersion], [i + 1, { n: i + 1 }, 5]);
      }
      if (i > 0) assertEquals((await store.get(handle, { ...alice, at: time - 1 })).version, i);
    }
    assertEquals((await store.get(handle, { ...alice, at: times[4] + 1e10 })).version, 5);
    assertEquals((await store.get(handle, { ...alice, at: "9999-12-31" })).version, 5);
    const error = await assertRejects(() => store.get(handle, { ...alice, at: times[0] - 1 }), VersionNotFound);
    assertEquals(error.toPayload().version, null);
    await assertRejects(() => store.get(handle, { ...alice, at: 0 }), VersionNotFound);
  });

  contract("changes: since a version, applied to its state, give the present one", async (store, open) => {
    const handle = await history(store);
    const other = await open();
    const current = await store.get(handle, alice);
    for (let since = 1; since <= current.version; since++) {
      const page = await other.changes(handle, { ...alice, since });
      assertEquals(page.changes.map(({ version }) => version), range(since + 1, current.version));
      assertEquals([page.currentVersion, page.oldestVersion, page.more], [current.version, 1, false]);
      let state: Sized = await other.get(handle, { ...alice, version: since });
      for (const { patch } of page.changes) state = applyJsonPatch(state, patch);
      assert(equal(state.state, current.state), `since ${since}`);
      assertEquals(state.bytes, current.bytes);
    }
  });

  contract("changes: go by pages, from the start or the last ones", async (store) => {
    const handle = await history(store);
    const { version } = await store.get(handle, alice);
    const all = await store.changes(handle, { ...alice, since: 0 });
    assertEquals(all.changes.map((change) => change.version), range(1, version));
    assertEquals(all.changes[0], {
      version: 1,
      writer: "laptop",
      at: (await store.get(handle, alice)).createdAt,
      turn: 0,
      paths: [""],
      patch: [{ op: "replace", path: "", value: { city: "Copenhagen", stops: [], days: 1 } }],
    });
    const first = await store.changes(handle, { ...alice, since: 0, limit: 4 });
    assertEquals([first.changes, first.more], [all.changes.slice(0, 4), true]);
    const last = await store.changes(handle, { ...alice, limit: 3 });
    assertEquals([last.changes, last.more], [all.changes.slice(-3), false]);
    const none = await store.changes(handle, { ...alice, since: version });
    assertEquals([none.changes, none.more], [[], false]);
    for (const since of [version + 1, -1, 1.5, "1"] as number[]) {
      assertEquals(
        (await assertRejects(() => store.changes(handle, { ...alice, since }), InvalidInput)).field,
        "since",
      );
    }
    for (const limit of [0, 1_001, 2.5]) {
      assertEquals(
        (await assertRejects(() => store.changes(handle, { ...alice, limit }), InvalidInput)).field,
        "limit",
      );
    }
  });

  contract("restore: writes an old state as a new version", async (store, open) => {
    const handle = await history(store);
    const current = await store.get(handle, alice);
    const old = await store.get(handle, { ...alice, version: 2 });
    const restored = await store.restore(handle, 2, { ...alice, expectVersion: current.version, writer: "tablet" });
    assertEquals([restored.version, restored.state, restored.bytes], [current.version + 1, old.state, old.bytes]);
    assertEquals([restored.lastWriter, restored.createdAt], ["tablet", current.createdAt]);
    const other = await open();
    assertEquals((await other.get(handle, alice)).state, old.state);
    assertEquals((await other.get(handle, { ...alice, version: current.version })).state, current.state);
    const again = await store.restore(handle, restored.version, { ...alice, expectVersion: restored.version });
    assertEquals([again.version, again.state], [restored.version + 1, restored.state]);
    await assertRejects(() => store.restore(handle, 2, { ...alice, expectVersion: 2 }), StaleWrite);
    await assertRejects(() => store.restore(handle, 99, { ...alice, expectVersion: again.version }), VersionNotFound);
    for (const version of [0, -1, 1.5, NaN, "2"] as number[]) {
      const call = () => store.restore(handle, version, { ...alice, expectVersion: again.version });
      assertEquals((await assertRejects(call, InvalidInput)).field, "version");
    }
    assertEquals((await store.get(handle, alice)).version, again.version);
  });
}

/** A trip with a past of several kinds of writes. */
async function history(store: HandleStore): Promise<string> {
  const handle = await store.mint("trip", { city: "Copenhagen", stops: [], days: 1 }, { ...alice, writer: "laptop" });
  const writer = "phone";
  await store.patch(handle, [append("stops", "Nyhavn")], { ...alice, writer });
  await store.save(handle, { city: "Aarhus", stops: ["ARoS", "Nyhavn"], days: 1, "a/b": { "~": 1 } }, {
    ...alice,
    expectVersion: 2,
  });
  await store.patch(handle, [increment("days", 2), delKey("", "a/b"), mergeInto({ "": null })], { ...alice, turn: 2 });
  await store.save(handle, { notes: "n".repeat(3_000) }, { ...alice, expectVersion: 4 });
  await store.restore(handle, 3, { ...alice, expectVersion: 5 });
  await store.patch(handle, [setKey("", "city", "Aarhus V"), append("stops", { lat: 56.15 })], { ...alice, turn: 3 });
  await store.save(handle, {}, { ...alice, expectVersion: 7 });
  await store.save(handle, { 東京: ["京都"] }, { ...alice, expectVersion: 8 });
  return handle;
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);
}
