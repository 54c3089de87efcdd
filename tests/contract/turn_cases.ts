import { assert, assertEquals } from "@std/assert";
import { AARHUS, appendAfter, assertSame, expected, find, mint, ODENSE, TRIP, write } from "./drafts.ts";
import type { Case } from "./target.ts";

export function turnCases(contract: Case): void {
  contract("turn: never goes back, and reads as it ended", async (backend) => {
    let head = await mint(backend, TRIP, { turn: 1 });
    for (const turn of [1, 3, 2, undefined, 7]) head = await write(backend, TRIP, head, [AARHUS], { turn });
    const all = (await find(backend, TRIP)).entries;
    assertEquals(all.map(({ turn }) => turn), [1, 1, 3, 3, 3, 7]);
    assertEquals([head.turn, head.firstTurn], [7, 1]);
    for (const [turn, version] of [[1, 2], [2, 2], [3, 5], [4, 5], [6, 5], [7, 6], [99, 6]]) {
      const found = await find(backend, TRIP, { as: "turn", turn });
      assert(found.target !== undefined && found.target !== "held");
      assertEquals(found.target.version, version, `turn ${turn}`);
      assertEquals(found.entries.at(-1)?.version, version);
    }
    assertEquals((await find(backend, TRIP, { as: "turn", turn: 0 })).target, undefined);
  });

  contract("turn: counts what was written before any was named", async (backend) => {
    let head = await mint(backend, TRIP);
    head = await write(backend, TRIP, head, [AARHUS]);
    const answer = await backend.touch(TRIP, { turn: 5 });
    assert(answer.outcome === "touched");
    assertEquals([answer.head.turn, answer.head.firstTurn], [5, 5]);
    const before = await find(backend, TRIP, { as: "turn", turn: 5 });
    assert(before.target !== undefined && before.target !== "held");
    assertEquals([before.target.version, before.target.turn], [2, 0]);
    head = await write(backend, TRIP, answer.head, [ODENSE]);
    assertEquals([head.turn, head.firstTurn], [5, 5]);
    for (const [turn, version] of [[5, 3], [4, 2], [0, 2]]) {
      const found = await find(backend, TRIP, { as: "turn", turn });
      assertEquals(found.entries.at(-1)?.version, version, `turn ${turn}`);
    }
  });

  contract("turn: advances without a write, and only ahead", async (backend) => {
    const head = await mint(backend, TRIP, { turn: 2, ttlDays: 3 });
    const ahead = await backend.touch(TRIP, { turn: 6 });
    assertSame(ahead, { outcome: "touched", head: { ...head, turn: 6 } });
    assertSame(await backend.touch(TRIP, { turn: 4 }), ahead);
    assertSame((await find(backend, TRIP)).head, { ...head, turn: 6 });
    for (const turn of [2, 5, 6]) {
      assertEquals((await find(backend, TRIP, { as: "turn", turn })).entries.at(-1)?.version, 1);
    }
  });

  contract("turn: one that advanced meanwhile loses an append, and the loser holds all he needs", async (backend) => {
    const head = await mint(backend, TRIP, { turn: 2 });
    await backend.touch(TRIP, { turn: 3 });
    const draft = appendAfter(head, [AARHUS]);
    const lost = await backend.append(TRIP, expected(head), draft);
    assert(lost.outcome === "lost");
    assertSame(lost.found, {
      outcome: "found",
      head: { ...head, turn: 3 },
      target: "held",
      onto: "held",
      entries: [],
    });
    const again = await backend.append(TRIP, expected(lost.found.head), draft);
    assert(again.outcome === "appended");
    assertEquals(again.stamps.map(({ turn }) => turn), [3]);
  });
}
