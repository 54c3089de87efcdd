import { assert, assertEquals, assertRejects } from "@std/assert";
import { HandleNotFound, InvalidInput, StateError, VersionPruned } from "../../src/document/errors.ts";
import { addToSet, append, increment } from "../../src/document/ops.ts";
import type { Snapshot } from "../../src/document/snapshot.ts";
import type { StoreCase } from "./store.ts";

const alice = { user: "alice" };
const CART = { items: [], tags: ["weekly"] };

/** A result and its replay, which differ in nothing else. */
function assertReplayOf(replay: Snapshot, first: Snapshot): void {
  assertEquals({ ...replay, state: replay.state }, { ...first, replayed: true });
}

export function requestCases(contract: StoreCase): void {
  contract("request: sent again with the same arguments answers the first result", async (store, open) => {
    const requests = { ...alice, ttlDays: 3, turn: 1, writer: "laptop" };
    const minted = await store.create("cart", CART, { ...requests, title: "Weekly", requestId: "mint" });
    const { handle } = minted;
    const patch = (each = store) => each.patch(handle, [append("items", "milk")], { ...alice, requestId: "patch" });
    const patched = await patch();
    const save = (each = store) => each.save(handle, CART, { ...alice, expectVersion: 2, requestId: "save", turn: 2 });
    const saved = await save();
    const restore = (each = store) => each.restore(handle, 2, { ...alice, expectVersion: 3, requestId: "restore" });
    const restored = await restore();
    await store.patch(handle, [append("items", "bread")], alice);
    const other = await open();
    for (const each of [store, other, await open()]) {
      assertReplayOf(await each.create("cart", CART, { ...requests, title: "Weekly", requestId: "mint" }), minted);
      assertReplayOf(await patch(each), patched);
      assertReplayOf(await save(each), saved);
      assertReplayOf(await restore(each), restored);
    }
    assertEquals(await store.mint("cart", CART, { ...requests, title: "Weekly", requestId: "mint" }), handle);
    assertEquals((await store.get(handle, alice)).version, 5);
    assertEquals((await store.list("alice")).handles.length, 1);
  });

  contract("request: with other arguments is refused, and says why", async (store, open) => {
    const { handle } = await store.create("cart", CART, { ...alice, requestId: "once" });
    const another = await store.mint("cart", CART, alice);
    await store.patch(handle, [append("items", 1)], { ...alice, requestId: "twice" });
    const calls: ((id: string) => Promise<unknown>)[] = [
      (requestId) => store.mint("cart", { ...CART, more: 1 }, { ...alice, requestId }),
      (requestId) => store.mint("trip", CART, { ...alice, requestId }),
      (requestId) => store.mint("cart", CART, { ...alice, requestId, ttlDays: 1 }),
      (requestId) => store.patch(handle, [append("items", 2)], { ...alice, requestId }),
      (requestId) => store.patch(another, [append("items", 1)], { ...alice, requestId }),
      (requestId) => store.save(handle, CART, { ...alice, expectVersion: 2, requestId }),
      (requestId) => store.restore(handle, 1, { ...alice, expectVersion: 2, requestId }),
      (requestId) => store.revoke(handle, { ...alice, requestId }),
    ];
    const other = await open();
    for (const call of calls) {
      for (const id of ["once", "twice"]) {
        assertEquals((await assertRejects(async () => await call(id), InvalidInput)).field, "request_id");
      }
    }
    assertEquals((await other.get(handle, alice)).version, 2);
    assertEquals((await other.get(another, alice)).version, 1);
  });

  contract("request: of two at once has one effect, in one store or in several", async (store, open) => {
    const stores = [store, await open(), await open()];
    const handle = await store.mint("cart", { items: [], n: 0 }, alice);
    for (const [round, others] of [[store, store, store], stores].entries()) {
      const patches = await Promise.all(
        others.map((each) => each.patch(handle, [increment("n", 1)], { ...alice, requestId: `patch ${round}` })),
      );
      assertEquals(patches.map(({ version, state }) => [version, state.n]), Array(3).fill([round + 2, round + 1]));
      assertEquals(patches.filter(({ replayed }) => replayed).length, 2);
      const mints = await Promise.all(
        others.map((each) => each.mint("trip", { city: "Aarhus" }, { ...alice, requestId: `mint ${round}` })),
      );
      assertEquals(new Set(mints).size, 1);
    }
    assertEquals((await store.get(handle, alice)).state, { items: [], n: 2 });
    assertEquals((await store.list("alice")).handles.length, 3);
  });

  contract("request: is the user's own", async (store) => {
    for (const user of ["alice", "bob"]) {
      const handle = await store.mint("cart", { of: user }, { user, requestId: "mint" });
      assertEquals((await store.get(handle, { user })).state, { of: user });
      const patched = await store.patch(handle, [increment("n", 1, { create: true })], { user, requestId: "patch" });
      assertEquals([patched.replayed, patched.version], [undefined, 2]);
    }
  });

  contract("request: of a patch that changed nothing stays without effect, however late", async (store, open) => {
    const created = await store.create("cart", CART, alice);
    const { handle } = created;
    const patch = (each = store) => each.patch(handle, [addToSet("tags", "weekly")], { ...alice, requestId: "no-op" });
    const first = await patch();
    assertEquals([first.version, first.changed], [1, []]);
    await store.save(handle, { items: [], tags: [] }, { ...alice, expectVersion: 1 });
    for (const each of [store, await open()]) assertReplayOf(await patch(each), first);
    const { version, state } = await store.get(handle, alice);
    assertEquals([version, state], [2, { items: [], tags: [] }]);
  });

  contract("request: of a save is answered again after others wrote, not as stale", async (store, open) => {
    const other = await open();
    const handle = await store.mint("cart", CART, alice);
    const save = (each = store) => each.save(handle, { n: 1 }, { ...alice, expectVersion: 1, requestId: "save" });
    const first = await save();
    await other.patch(handle, [increment("n", 1)], alice);
    await other.patch(handle, [increment("n", 1)], alice);
    for (const each of [store, other]) assertReplayOf(await save(each), first);
    await other.revoke(handle, alice);
    for (const each of [store, other, await open()]) {
      const replay = await save(each);
      assertEquals([replay.version, replay.handle, replay.replayed], [2, handle, true]);
      assertEquals(
        (await assertRejects(() => Promise.resolve().then(() => replay.state), HandleNotFound)).handle,
        handle,
      );
    }
  });

  contract("request: whose version is pruned is still answered, without its state", async (_, open) => {
    const store = await open({ retention: { versions: 2 } });
    const handle = await store.mint("cart", { n: 0 }, alice);
    const patch = () => store.patch(handle, [increment("n", 1)], { ...alice, requestId: "patch" });
    await patch();
    for (let i = 0; i < 5; i++) await store.patch(handle, [increment("n", 1)], alice);
    const replay = await patch();
    assertEquals([replay.version, replay.replayed, replay.changed], [2, true, ["/n"]]);
    await assertRejects(() => Promise.resolve().then(() => replay.state), VersionPruned);
  });

  contract("request: that went together with others is answered as it was among them", async (store, open) => {
    const handle = await store.mint("cart", { n: 0 }, { ...alice, title: "Weekly" });
    const patch = (id: number, each = store) =>
      each.patch(handle, [increment("n", id)], { ...alice, requestId: `patch ${id}`, turn: id });
    const [first, saved, second, third] = await Promise.all([
      patch(1),
      store.save(handle, { n: 10 }, { ...alice, expectVersion: 2, title: "Monthly" }),
      patch(2),
      patch(3),
    ]);
    assertEquals([first, saved, second, third].map(({ version, title, state }) => [version, title, state.n]), [
      [2, "Weekly", 1],
      [3, "Monthly", 10],
      [4, "Monthly", 12],
      [5, "Monthly", 15],
    ]);
    for (const each of [store, await open()]) {
      for (const [id, result] of [[1, first], [2, second], [3, third]] as const) {
        const { replayed, title, version, turn, state, lastWriter } = await patch(id, each);
        assertEquals(
          { replayed, title, version, turn, state, lastWriter },
          { ...pick(result), replayed: true },
        );
      }
    }
  });

  contract("request: of a deletion is answered again", async (store, open) => {
    const handle = await store.mint("cart", CART, alice);
    assertEquals(await store.revoke(handle, { ...alice, requestId: "delete" }), { handle, version: 1 });
    for (const each of [store, await open()]) {
      const again = await each.revoke(handle, { ...alice, requestId: "delete" });
      assertEquals(again, { handle, version: 1, replayed: true });
    }
  });

  contract("request: that failed is not remembered", async (store, open) => {
    const other = await open();
    const handle = await store.mint("cart", { n: 0 }, alice);
    await other.patch(handle, [increment("n", 1)], alice);
    const failing: ((requestId: string) => Promise<unknown>)[] = [
      (requestId) => store.patch(handle, [append("missing", 1)], { ...alice, requestId }),
      (requestId) => store.save(handle, {}, { ...alice, expectVersion: 1, requestId }),
      (requestId) => store.restore(handle, 9, { ...alice, expectVersion: 2, requestId }),
      (requestId) => store.revoke(handle, { ...alice, expectVersion: 1, requestId }),
      (requestId) => store.mint("NO", {}, { ...alice, requestId }),
      (requestId) => store.patch("cart_aaaaaaaa", [increment("n", 1)], { ...alice, requestId }),
    ];
    for (const [i, call] of failing.entries()) {
      await assertRejects(async () => await call("again"), StateError);
      const patched = await store.patch(handle, [increment("n", 1)], { ...alice, requestId: `fresh ${i}` });
      assertEquals([patched.version, patched.replayed], [i + 3, undefined]);
    }
    const patched = await store.patch(handle, [increment("n", 1)], { ...alice, requestId: "again" });
    assert(patched.replayed === undefined);
    assertEquals(patched.state, { n: 8 });
  });
}

function pick({ title, version, turn, state, lastWriter }: Snapshot) {
  return { title, version, turn, state, lastWriter };
}
