import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { TurnNotFound, TurnPruned, VersionNotFound, VersionPruned } from "../../src/document/errors.ts";
import { append, delKey, setKey } from "../../src/document/ops.ts";
import { type InspectArguments, inspectHandle } from "../../src/history/handles.ts";
import { renderReading } from "../../src/history/render.ts";
import type { HandleStore } from "../../src/store/store.ts";
import type { StoreCase } from "./store.ts";

const alice = { user: "alice" };
const KEY = "gazet/get_aoi/bbox";

function reader(store: HandleStore, handle: string) {
  return async (args: Omit<InspectArguments, "handle"> = {}) =>
    renderReading((await inspectHandle(store, alice.user, { handle, ...args })).reading);
}

export function inspectCases(contract: StoreCase): void {
  contract("inspect: Copenhagen in turn 1, Aarhus in turn 3, told apart by everyone", async (store, open) => {
    const handle = await store.mint("trip", { [KEY]: "Copenhagen" }, { ...alice, turn: 1, writer: "laptop" });
    await store.patch(handle, [setKey("", KEY, "Aarhus")], { ...alice, turn: 3, writer: "phone" });
    await store.patch(handle, [setKey("", "name", "later")], { ...alice, turn: 4 });
    await store.touch(handle, { ...alice, turn: 7 });
    const note = "rewritten, 2 versions (turns 1, 3), last by phone";
    for (const each of [store, await open()]) {
      const ask = reader(each, handle);
      assertEquals(await ask(), `${KEY}: "Aarhus" — ${note}; turn=1 reads the earlier\nname: "later"`);
      for (const past of [{ version: 1 }, { turn: 1 }, { turn: 2 }]) {
        const then = await ask({ key: KEY, ...past });
        assertStringIncludes(then, `"Copenhagen"\n— ${note}; this is 1 of 2`);
        assert(!/current/i.test(then), then);
      }
      assertStringIncludes(await ask({ key: KEY, turn: 5 }), 'As turn 5 ended:\n"Aarhus"');
      assertStringIncludes(
        await ask({ key: "name", turn: 2 }),
        "not written yet at the end of turn 2: it was first written in turn 4",
      );
      assertStringIncludes(await ask({ key: KEY, turn: 3, compareTurn: 1 }), '"value":"Aarhus"');
      for (const turn of [0, -1, 9, 1_000_000]) await assertRejects(() => ask({ turn }), TurnNotFound);
      for (const version of [0, -1, 9]) await assertRejects(() => ask({ version }), VersionNotFound);
    }
  });

  contract("inspect: the value before the last one is found, whatever became of it", async (store, open) => {
    const handle = await store.mint("trip", { [KEY]: "Copenhagen" }, { ...alice, turn: 1 });
    const write = (value: string, turn: number) => store.patch(handle, [setKey("", KEY, value)], { ...alice, turn });
    await write("Odense", 3);
    await write("Aarhus", 3);
    const other = await open();
    assertStringIncludes(
      await reader(other, handle)({ key: KEY }),
      "(turns 1, 3), last by unknown; version=2 reads the earlier",
    );
    await store.patch(handle, [delKey("", KEY)], { ...alice, turn: 4 });
    assertStringIncludes(
      await reader(other, handle)({ key: KEY }),
      "was removed in turn 4, version 4, by unknown; turn=3 reads",
    );
    await write("Skagen", 6);
    assertStringIncludes(
      await reader(other, handle)({ key: KEY }),
      "removed and added again, 5 versions (turns 1, 3, 4, 6), last by unknown; turn=3 reads the earlier",
    );
    assertStringIncludes(await reader(other, handle)({ key: KEY, turn: 3 }), '"Aarhus"');
  });

  contract("inspect: a past that is read from a keyframe is the same, and pruned is not never", async (_, open) => {
    const store = await open({ retention: { versions: 20 } });
    const handle = await store.mint("log", { place: "Copenhagen", days: [] }, { ...alice, turn: 1 });
    await store.patch(handle, [setKey("", "place", "Odense")], { ...alice, turn: 2 });
    await store.patch(handle, [setKey("", "place", "Aarhus")], { ...alice, turn: 2, writer: "phone" });
    for (let turn = 3; turn <= 60; turn++) {
      await store.patch(handle, [append("days", `${turn} ${"d".repeat(2_000)}`)], { ...alice, turn });
    }
    for (const each of [store, await open({ retention: { versions: 20 } })]) {
      const ask = reader(each, handle);
      const note = "rewritten, 3 versions (turns 1, 2), last by phone; the earlier is no longer retained";
      assertEquals(await ask({ key: "place" }), `"Aarhus"\n— ${note}`);
      assertEquals(await ask({ key: "place", turn: 50 }), `As turn 50 ended:\n"Aarhus"\n— ${note}`);
      await assertRejects(() => ask({ turn: 2 }), TurnPruned);
      await assertRejects(() => ask({ version: 3 }), VersionPruned);
      await assertRejects(() => ask({ turn: 61 }), TurnNotFound);
    }
  });
}
