import { assert, assertEquals } from "@std/assert";
import { ON_ENTRY } from "../../src/document/keyframe.ts";
import {
  AARHUS,
  append,
  appendAfter,
  assertSame,
  entriesOf,
  expected,
  find,
  HEAD,
  keyframeOf,
  mint,
  ODENSE,
  stampOf,
  TRIP,
  until,
  write,
} from "./drafts.ts";
import type { Case } from "./target.ts";

export function readCases(contract: Case): void {
  contract("read: answers that nothing is known of a document", async (backend) => {
    assertSame(await backend.read(TRIP, HEAD), { outcome: "absent" });
    assertSame(await backend.entries(TRIP, undefined, 9), { outcome: "absent" });
    await mint(backend, TRIP);
    assertSame(await backend.read({ user: "bob", id: TRIP.id }, HEAD), { outcome: "absent" });
    assertSame(await backend.read({ user: "alice", id: "trip_aarhus" }, HEAD), { outcome: "absent" });
  });

  contract("read: leads to any version from the start", async (backend) => {
    const first = await mint(backend, TRIP);
    const draft = appendAfter(first, [AARHUS, ODENSE]);
    const { head, stamps } = await append(backend, TRIP, first, draft);
    const all = (await find(backend, TRIP)).entries;
    assertSame(all.slice(1), entriesOf(draft, stamps));
    for (const version of [1, 2, 3]) {
      const found = await find(backend, TRIP, { as: "version", version });
      assertSame(found.head, head);
      assertSame(stampOf(found.target), stampOf(all[version - 1]));
      assertSame([found.onto, found.entries], ["nothing", all.slice(0, version)]);
    }
  });

  contract("read: has no target for a version that never was", async (backend) => {
    const head = await write(backend, TRIP, await mint(backend, TRIP), [AARHUS]);
    for (const version of [-1, 0, 3, 1e9]) {
      const found = await find(backend, TRIP, { as: "version", version });
      assertSame([found.head, found.target], [head, undefined]);
    }
  });

  contract("read: sends no body to one who holds the version", async (backend) => {
    const first = await mint(backend, TRIP);
    const head = await write(backend, TRIP, first, [AARHUS]);
    assertSame(await find(backend, TRIP, HEAD, head), {
      outcome: "found",
      head,
      target: "held",
      onto: "held",
      entries: [],
    });
    const old = await find(backend, TRIP, { as: "version", version: 1 }, first);
    assertSame([old.target, old.entries], ["held", []]);
  });

  contract("read: sends only what follows to one who holds an older version", async (backend) => {
    const first = await mint(backend, TRIP);
    const draft = appendAfter(first, [AARHUS, ODENSE]);
    const { stamps } = await append(backend, TRIP, first, draft);
    const found = await find(backend, TRIP, HEAD, first);
    assertSame([found.onto, stampOf(found.target), found.entries], ["held", stamps[1], entriesOf(draft, stamps)]);
    const second = await find(backend, TRIP, { as: "version", version: 2 }, first);
    assertSame([second.onto, second.entries], ["held", entriesOf(draft, stamps).slice(0, 1)]);
  });

  contract("read: does not build on a held version that is not of this journal, or too new", async (backend) => {
    const first = await mint(backend, TRIP);
    const head = await write(backend, TRIP, first, [AARHUS, ODENSE]);
    for (
      const held of [
        { version: 2, writeId: "of a lost replica" },
        { version: 3, writeId: "of a lost replica" },
        { version: 7, writeId: head.writeId },
        { version: 2, writeId: head.writeId },
      ]
    ) {
      const found = await find(backend, TRIP, HEAD, held);
      assertSame([found.onto, found.entries.map(({ version }) => version)], ["nothing", [1, 2, 3]]);
    }
    const old = await find(backend, TRIP, { as: "version", version: 1 }, head);
    assertSame([old.onto, old.entries.map(({ version }) => version)], ["nothing", [1]]);
  });

  contract("read: starts from the newest keyframe at or before the version", async (backend) => {
    const first = await mint(backend, TRIP);
    const big = appendAfter(first, [`{"notes":"${"n".repeat(2000)}"}`, AARHUS]);
    const keyframe = keyframeOf(first, big, '{"format":1,"state":{"city":"Aarhus"}}');
    const { head, stamps } = await append(backend, TRIP, first, { ...big, keyframe });
    assertSame(head.base, { version: 3, bytes: head.bytes, offset: head.offset });
    const later = await write(backend, TRIP, head, [ODENSE]);
    assertSame(later.base, head.base);

    const found = await find(backend, TRIP);
    assertSame([found.onto, found.entries.map(({ version }) => version)], [keyframe, [4]]);
    const at = await find(backend, TRIP, { as: "version", version: 3 });
    assertSame([at.onto, stampOf(at.target), at.entries], [keyframe, stamps[1], []]);
    const before = await find(backend, TRIP, { as: "version", version: 2 });
    assertSame([before.onto, before.entries.map(({ version }) => version)], ["nothing", [1, 2]]);
    const foreign = await find(backend, TRIP, HEAD, { version: 3, writeId: "of a lost replica" });
    assertSame([foreign.onto, foreign.entries.map(({ version }) => version)], [keyframe, [4]]);
    const newer = await find(backend, TRIP, HEAD, head);
    assertSame([newer.onto, newer.entries.map(({ version }) => version)], ["held", [4]]);
    const dear = await find(backend, TRIP, HEAD, first);
    assertSame([dear.onto, dear.entries.map(({ version }) => version)], [keyframe, [4]]);
  });

  contract("read: starts from a keyframe's own entry where that holds its state", async (backend) => {
    const first = await mint(backend, TRIP);
    const draft = appendAfter(first, [AARHUS, `{"notes":"${"n".repeat(2000)}"}`]);
    const keyframe = keyframeOf(first, draft, `${ON_ENTRY}"keys":{}}`);
    const { head, stamps } = await append(backend, TRIP, first, { ...draft, oldest: 3, keyframe });
    await write(backend, TRIP, head, [ODENSE]);
    const found = await find(backend, TRIP);
    assertSame([found.onto, found.entries.map(({ version }) => version)], [keyframe, [3, 4]]);
    const at = await find(backend, TRIP, { as: "version", version: 3 });
    assertSame([at.onto, stampOf(at.target), at.entries], [keyframe, stamps[1], entriesOf(draft, stamps).slice(1)]);
    const lost = await backend.append(TRIP, expected(first), appendAfter(first, [ODENSE]));
    assert(lost.outcome === "lost");
    assertSame([lost.found.onto, lost.found.entries.map(({ version }) => version)], [keyframe, [3, 4]]);
  });

  contract("read: starts from the very start for one who holds version 0", async (backend) => {
    const first = await mint(backend, TRIP);
    const draft = appendAfter(first, [AARHUS]);
    const keyframe = keyframeOf(first, draft, "damaged");
    await append(backend, TRIP, first, { ...draft, keyframe });
    const found = await find(backend, TRIP, HEAD, { version: 0, writeId: "" });
    assertSame([found.onto, found.entries.map(({ version }) => version)], ["nothing", [1, 2]]);
  });

  contract("read: finds what was current at a time", async (backend) => {
    let head = await mint(backend, TRIP);
    const start = head.createdAt;
    for (let i = 0; i < 12; i++) {
      const { updatedAt } = head;
      await until(() => i % 3 > 0 || Date.now() > updatedAt, "the clock moves on");
      head = await write(backend, TRIP, head, [AARHUS]);
    }
    const all = (await find(backend, TRIP)).entries.map(stampOf);
    const times = all.map((stamp) => stamp !== undefined && stamp !== "held" ? stamp.at : NaN);
    assert(times.every((at, i) => i === 0 || at >= times[i - 1]), "times never go back");
    assert(times[times.length - 1] > start, "time went on");
    for (const at of [...times, ...times.map((at) => at + 1), head.updatedAt + 1e9]) {
      const index = times.findLastIndex((each) => each <= at);
      const found = await find(backend, TRIP, { as: "time", at });
      assertSame(stampOf(found.target), all[index]);
      assertEquals(found.entries.at(-1)?.version, index + 1);
    }
    assertEquals((await find(backend, TRIP, { as: "time", at: start - 1 })).target, undefined);
  });

  contract("read: sees what another connection has just written", async (backend, open) => {
    const other = await open();
    let head = await mint(backend, TRIP);
    for (let i = 0; i < 20; i++) {
      const [writer, reader] = i % 2 === 0 ? [backend, other] : [other, backend];
      head = await write(writer, TRIP, head, [i % 2 === 0 ? AARHUS : ODENSE]);
      assertSame((await find(reader, TRIP)).head, head);
    }
    await backend[Symbol.asyncDispose]();
    assertSame((await find(other, TRIP)).head, head);
  });

  contract("entries: answers what follows a version, or the last ones", async (backend) => {
    const first = await mint(backend, TRIP);
    const head = await write(backend, TRIP, first, Array.from({ length: 9 }, (_, i) => i % 2 ? AARHUS : ODENSE));
    const all = (await find(backend, TRIP)).entries;
    const slices: [number | undefined, number, number, number][] = [
      [undefined, 3, 7, 10],
      [undefined, 99, 0, 10],
      [0, 4, 0, 4],
      [4, 3, 4, 7],
      [8, 99, 8, 10],
      [10, 99, 10, 10],
      [99, 99, 10, 10],
    ];
    for (const [after, limit, from, to] of slices) {
      const answer = await backend.entries(TRIP, after, limit);
      assert(answer.outcome === "found");
      assertSame([answer.head, answer.entries], [head, all.slice(from, to)], `after ${after}`);
    }
  });
}
