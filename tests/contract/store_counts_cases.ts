import { assertEquals, assertRejects } from "@std/assert";
import { StaleWrite, TurnPruned, VersionPruned } from "../../src/document/errors.ts";
import { setKey } from "../../src/document/ops.ts";
import type { StoreCounts } from "../../src/store/counts.ts";
import type { StoreCase } from "./store.ts";

const alice = { user: "alice" };

/** What was counted meanwhile, without what was not. */
async function counted(store: { readonly counts: StoreCounts }, work: () => Promise<unknown>) {
  const before = store.counts;
  await work();
  const now = Object.entries(store.counts).map(([name, count]) => [name, count - before[name as keyof StoreCounts]]);
  return Object.fromEntries(now.filter(([, count]) => count !== 0));
}

export function countsCases(contract: StoreCase): void {
  contract("counts: what was in the cache, and what had to be put together", async (store, open) => {
    const handle = await store.mint("trip", { n: 0 }, alice);
    const other = await open();
    assertEquals(await counted(store, () => store.get(handle, alice)), { cacheHits: 1 });
    assertEquals(await counted(other, () => other.get(handle, alice)), { cacheMisses: 1 });
    assertEquals(await counted(other, () => other.get(handle, alice)), { cacheHits: 1 });
    await store.patch(handle, [setKey("", "n", 1)], alice);
    assertEquals(await counted(other, () => other.get(handle, alice)), { cacheHits: 1 }, "what is new goes on top");
    assertEquals(await counted(store, () => store.patch(handle, [setKey("", "n", 2)], alice)), { cacheHits: 1 });
    assertEquals(await counted(store, () => store.list("alice")), {}, "a list reads no state");
  });

  contract("counts: a write that lost to another process, and one that is refused for it", async (store, open) => {
    const handle = await store.mint("trip", { n: 0 }, alice);
    const other = await open();
    await other.patch(handle, [setKey("", "n", 1)], alice);
    assertEquals(await counted(store, () => store.patch(handle, [setKey("", "n", 2)], alice)), {
      cacheHits: 1,
      retries: 1,
    });
    const stale = { ...alice, expectVersion: 1 };
    const conflicts = async (call: () => Promise<unknown>) =>
      (await counted(store, () => assertRejects(call, StaleWrite))).conflicts;
    assertEquals(await conflicts(() => store.save(handle, {}, stale)), 1);
    assertEquals(await conflicts(() => store.restore(handle, 1, stale)), 1);
    assertEquals(await conflicts(() => store.revoke(handle, stale)), 1);
    assertEquals(
      (await counted(store, () => store.save(handle, {}, { ...alice, expectVersion: 3 }))).conflicts,
      undefined,
    );
  });

  contract("counts: a request that was done before, whatever it does", async (store) => {
    const once = (requestId: string) => ({ ...alice, requestId });
    const replays = async (call: () => Promise<unknown>) => {
      await call();
      return (await counted(store, call)).replays;
    };
    assertEquals(await replays(() => store.mint("trip", {}, once("mint"))), 1);
    const handle = await store.mint("trip", {}, alice);
    assertEquals(await replays(() => store.patch(handle, [setKey("", "n", 1)], once("patch"))), 1);
    assertEquals(await replays(() => store.save(handle, {}, { ...once("save"), expectVersion: 2 })), 1);
    assertEquals(await replays(() => store.restore(handle, 2, { ...once("restore"), expectVersion: 3 })), 1);
    assertEquals(await replays(() => store.revoke(handle, once("revoke"))), 1);
  });

  contract("counts: reads of what is no longer retained, not of what never was", async (_, open) => {
    const store = await open({ retention: { versions: 1 } });
    const handle = await store.mint("trip", { n: 0 }, { ...alice, turn: 1 });
    for (const turn of [2, 3]) await store.patch(handle, [setKey("", "n", turn)], { ...alice, turn });
    const pruned = async (call: () => Promise<unknown>) => (await counted(store, call)).prunedReads;
    assertEquals(
      await pruned(() => assertRejects(() => store.get(handle, { ...alice, version: 1 }), VersionPruned)),
      1,
    );
    assertEquals(await pruned(() => assertRejects(() => store.get(handle, { ...alice, turn: 1 }), TurnPruned)), 1);
    assertEquals(
      await pruned(() => assertRejects(() => store.changes(handle, { ...alice, since: 1 }), VersionPruned)),
      1,
    );
    assertEquals(await pruned(() => assertRejects(() => store.get(handle, { ...alice, version: 9 }))), undefined);
    assertEquals(await pruned(() => store.get(handle, alice)), undefined);
  });
}
