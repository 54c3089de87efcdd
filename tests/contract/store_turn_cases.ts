import { assertEquals, assertRejects } from "@std/assert";
import { InvalidInput, NoTurnHistory, TurnNotFound } from "../../src/document/errors.ts";
import { append, setKey } from "../../src/document/ops.ts";
import type { StoreCase } from "./store.ts";

const alice = { user: "alice" };

export function turnCases(contract: StoreCase): void {
  contract("turn: with two writes reads as it ended, and both versions can be read", async (store, open) => {
    const handle = await store.mint("trip", { city: "Copenhagen" }, { ...alice, turn: 1 });
    await store.save(handle, { city: "Odense" }, { ...alice, expectVersion: 1, turn: 2 });
    await store.patch(handle, [setKey("", "city", "Aarhus")], { ...alice, turn: 2 });
    await store.patch(handle, [setKey("", "city", "Skagen")], { ...alice, turn: 4 });
    for (const each of [store, await open()]) {
      const turns = [1, 2, 3, 4].map((turn) => each.get(handle, { ...alice, turn }));
      const read = (await Promise.all(turns)).map(({ version, turn, state }) => [version, turn, state.city]);
      assertEquals(read, [[1, 1, "Copenhagen"], [3, 2, "Aarhus"], [3, 2, "Aarhus"], [4, 4, "Skagen"]]);
      assertEquals((await each.get(handle, { ...alice, version: 2 })).state, { city: "Odense" });
      for (const turn of [0, -1, 5, 1_000_000]) {
        const error = await assertRejects(() => each.get(handle, { ...alice, turn }), TurnNotFound);
        const { message: _, ...facts } = error.toPayload();
        assertEquals(facts, { code: "turn_not_found", turn, first_turn: 1, turns_so_far: 4 });
      }
    }
  });

  contract("turn: of a write that names none or an older one is the document's", async (store, open) => {
    const other = await open();
    const handle = await store.mint("trip", { stops: [] }, alice);
    await assertRejects(() => store.get(handle, { ...alice, turn: 1 }), NoTurnHistory);
    const turns = [undefined, 3, undefined, 1, 5, 2];
    const filed: number[] = [];
    for (const [i, turn] of turns.entries()) {
      const snapshot = await [store, other][i % 2].patch(handle, [append("stops", i)], { ...alice, turn });
      filed.push(snapshot.turn);
    }
    assertEquals(filed, [0, 3, 3, 3, 5, 5]);
    const { changes } = await store.changes(handle, { ...alice, since: 0 });
    assertEquals(changes.map(({ turn }) => turn), [0, 0, 3, 3, 3, 5, 5]);
    assertEquals((await other.get(handle, { ...alice, turn: 4 })).version, 5);
    const error = await assertRejects(() => other.get(handle, { ...alice, turn: 2 }), TurnNotFound);
    assertEquals([error.firstTurn, error.turnsSoFar], [3, 5]);
  });

  contract("turn: advances without a write, and what was written before still reads", async (store, open) => {
    const other = await open();
    const handle = await store.mint("trip", { city: "Copenhagen" }, alice);
    const touched = await store.touch(handle, { ...alice, turn: 2 });
    assertEquals([touched.version, touched.currentVersion, touched.expiresAt], [1, 1, undefined]);
    assertEquals((await other.get(handle, { ...alice, turn: 2 })).state, { city: "Copenhagen" });
    await other.touch(handle, { ...alice, turn: 5 });
    await store.touch(handle, { ...alice, turn: 4 });
    assertEquals((await assertRejects(() => store.get(handle, { ...alice, turn: 6 }), TurnNotFound)).turnsSoFar, 5);
    // The store that holds the head of turn 2 files its write under the turn of now.
    const patched = await store.patch(handle, [setKey("", "city", "Aarhus")], { ...alice, turn: 3 });
    assertEquals([patched.version, patched.turn], [2, 5]);
    for (const [turn, city] of [[2, "Copenhagen"], [4, "Copenhagen"], [5, "Aarhus"]] as const) {
      assertEquals((await store.get(handle, { ...alice, turn })).state, { city });
    }
  });

  contract("turn: keeps the time to live when it advances, and both can change at once", async (store) => {
    const created = await store.create("trip", {}, { ...alice, ttlDays: 2, turn: 1 });
    const advanced = await store.touch(created.handle, { ...alice, turn: 2 });
    assertEquals([advanced.ttlDays, advanced.expiresAt], [2, created.expiresAt]);
    const both = await store.touch(created.handle, { ...alice, turn: 3, ttlDays: null });
    assertEquals([both.ttlDays, both.expiresAt], [undefined, undefined]);
    assertEquals((await store.get(created.handle, { ...alice, turn: 3 })).version, 1);
  });

  contract("turn: that is none, or jumps by more than a thousand, is refused", async (store) => {
    const handle = await store.mint("trip", { stops: [] }, { ...alice, turn: 7 });
    const before = await store.get(handle, alice);
    for (const turn of [0, -1, 1.5, NaN, Infinity, "8", null, 1_008, 1e15] as number[]) {
      const calls = [
        () => store.patch(handle, [append("stops", 1)], { ...alice, turn }),
        () => store.save(handle, {}, { ...alice, expectVersion: 1, turn }),
        () => store.restore(handle, 1, { ...alice, expectVersion: 1, turn }),
        () => store.touch(handle, { ...alice, turn }),
      ];
      for (const call of calls) {
        assertEquals((await assertRejects(async () => await call(), InvalidInput)).field, "turn", String(turn));
      }
    }
    for (const turn of [0, 1_000_000, 1.5] as number[]) {
      assertEquals((await assertRejects(() => store.mint("trip", {}, { ...alice, turn }), InvalidInput)).field, "turn");
    }
    assertEquals(await store.get(handle, alice), before);
    assertEquals((await store.patch(handle, [append("stops", 1)], { ...alice, turn: 1_007 })).turn, 1_007);
    await store.touch(handle, { ...alice, turn: 2_007 });
    assertEquals((await store.get(handle, { ...alice, turn: 2_007 })).version, 2);
    assertEquals((await store.create("trip", {}, { ...alice, turn: 999_999 })).turn, 999_999);
  });
}
