import { assert, assertEquals, assertRejects } from "@std/assert";
import { StaleWrite, TurnPruned, VersionNotFound, VersionPruned } from "../../src/document/errors.ts";
import { append } from "../../src/document/ops.ts";
import type { HandleStore } from "../../src/store/store.ts";
import type { StoreCase } from "./store.ts";

const alice = { user: "alice" };

export function retentionCases(contract: StoreCase): void {
  contract("retention: by count keeps the last versions, and tells pruned from never", async (_, open) => {
    const store = await open({ retention: { versions: 10 } });
    const other = await open({ retention: { versions: 10 } });
    const handle = await appendMany(store, 60);
    for (const each of [store, other, await open()]) {
      const { currentVersion, oldestVersion } = await each.get(handle, alice);
      assertEquals([currentVersion, oldestVersion], [61, 52]);
      for (let version = 52; version <= 61; version++) {
        const { state, oldestVersion } = await each.get(handle, { ...alice, version });
        assertEquals([(state.items as unknown[]).length, oldestVersion], [version - 1, 52]);
      }
      for (const version of [1, 30, 51]) {
        const error = await assertRejects(() => each.get(handle, { ...alice, version }), VersionPruned);
        const { message: _, ...facts } = error.toPayload();
        assertEquals(facts, { code: "version_pruned", version, retained: { from: 52, to: 61 } });
        await assertRejects(() => each.restore(handle, version, { ...alice, expectVersion: 61 }), VersionPruned);
        await assertRejects(() => each.changes(handle, { ...alice, since: version }), VersionPruned);
      }
      await assertRejects(() => each.changes(handle, { ...alice, since: 0 }), VersionPruned);
      for (const version of [0, 62]) {
        await assertRejects(() => each.get(handle, { ...alice, version }), VersionNotFound);
      }
      assertEquals((await each.changes(handle, { ...alice, since: 52 })).changes.length, 9);
      assertEquals((await each.changes(handle, alice)).changes.map(({ version }) => version).slice(-9), [
        53,
        54,
        55,
        56,
        57,
        58,
        59,
        60,
        61,
      ]);
    }
  });

  contract("retention: tells a pruned turn from one that never was", async (_, open) => {
    const store = await open({ retention: { versions: 4 } });
    const handle = await store.mint("trip", { stops: [] }, { ...alice, turn: 2 });
    for (let turn = 3; turn <= 12; turn++) {
      for (let i = 0; i < 2; i++) {
        await store.patch(handle, [append("stops", `${turn} ${"s".repeat(4_000)}`)], { ...alice, turn });
      }
    }
    const { oldestVersion } = await store.get(handle, alice);
    assertEquals(oldestVersion, 18);
    for (const turn of [2, 5, 10]) {
      const error = await assertRejects(() => store.get(handle, { ...alice, turn }), TurnPruned);
      const { message: _, ...facts } = error.toPayload();
      assertEquals(facts, { code: "turn_pruned", turn, retained: { from: 11, to: 12 } });
    }
    for (const turn of [11, 12]) assertEquals((await store.get(handle, { ...alice, turn })).turn, turn);
  });

  contract("retention: by bytes keeps as many versions as fit, and the head in any case", async (_, open) => {
    const store = await open({ retention: { bytes: 20_000 } });
    const handle = await appendMany(store, 128, 400);
    const { oldestVersion, currentVersion } = await store.get(handle, alice);
    assert(oldestVersion > 60 && oldestVersion <= 128, `about forty fit: from ${oldestVersion}`);
    for (const version of [oldestVersion, currentVersion]) {
      const { state } = await store.get(handle, { ...alice, version });
      assertEquals((state.items as unknown[]).length, version - 1);
    }
    await assertRejects(() => store.get(handle, { ...alice, version: oldestVersion - 1 }), VersionPruned);
    const large = await store.mint("cart", { items: ["i".repeat(50_000)] }, alice);
    for (let version = 2; version < 70; version++) {
      await store.save(large, { items: [`${version}`.repeat(25_000)] }, { ...alice, expectVersion: version - 1 });
    }
    const head = await store.get(large, alice);
    assertEquals([head.version, head.state], [69, { items: ["69".repeat(25_000)] }]);
  });

  contract("retention: of one version keeps the head", async (_, open) => {
    const store = await open({ retention: { versions: 1 } });
    const handle = await appendMany(store, 20);
    const head = await store.get(handle, alice);
    assertEquals([head.version, head.oldestVersion, (head.state.items as unknown[]).length], [21, 21, 20]);
    assertEquals(await (await open()).get(handle, { ...alice, version: 21 }), head);
    await assertRejects(() => store.get(handle, { ...alice, version: 20 }), VersionPruned);
    assertEquals((await store.changes(handle, { ...alice, since: 21 })).changes, []);
    await store.sweep("alice");
    assertEquals(await store.get(handle, alice), head);
  });

  contract("retention: that took the base of a merge says so", async (_, open) => {
    const store = await open({ retention: { versions: 2 } });
    const handle = await appendMany(store, 5);
    const error = await assertRejects(
      () => store.save(handle, { items: [] }, { ...alice, expectVersion: 3, onConflict: "merge" }),
      StaleWrite,
    );
    assertEquals([error.details.reason, error.toPayload().reason], ["base_pruned", "base_pruned"]);
    assertEquals(error.changes.map(({ version }) => version), [5, 6]);
    assertEquals([error.toPayload().changes_omitted, error.current.version], [1, 6]);
    const merged = await store.save(handle, { ...(await store.get(handle, { ...alice, version: 5 })).state, note: 1 }, {
      ...alice,
      expectVersion: 5,
      onConflict: "merge",
    });
    assertEquals([merged.merged, merged.version], [true, 7]);
  });
}

/** A cart with so many items, each added by a patch of its own. */
async function appendMany(store: HandleStore, count: number, bytes = 20): Promise<string> {
  const handle = await store.mint("cart", { items: [] }, alice);
  for (let i = 0; i < count; i++) await store.patch(handle, [append("items", `${i}`.padStart(bytes, "."))], alice);
  return handle;
}
