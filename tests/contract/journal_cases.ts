import { assert, assertEquals } from "@std/assert";
import type { Backend, Head } from "../../src/backends/backend.ts";
import type { Stamp } from "../../src/document/journal.ts";
import {
  AARHUS,
  append,
  appendAfter,
  assertSame,
  find,
  HEAD,
  keyframeOf,
  mint,
  ODENSE,
  removal,
  stampOf,
  TRIP,
  until,
  write,
} from "./drafts.ts";
import type { Case } from "./target.ts";

export function journalCases(contract: Case): void {
  contract("keyframe: with what need not be retained lets older bytes go", async (backend) => {
    let head = await tenVersions(backend);
    const draft = appendAfter(head, [AARHUS, ODENSE], { oldest: 12 });
    const keyframe = keyframeOf(head, draft, '{"city":"Odense"}');
    head = (await append(backend, TRIP, head, { ...draft, keyframe })).head;
    assertEquals([head.version, head.oldest, head.base.version], [12, 12, 12]);
    await untilPruned(backend, [1, 6, 11]);
    const found = await find(backend, TRIP);
    assertSame([found.head, found.onto, found.entries], [head, keyframe, []]);
    head = await write(backend, TRIP, head, [AARHUS]);
    assertSame([head.version, head.oldest], [13, 12]);
    assertEquals((await find(backend, TRIP)).entries.map(({ version }) => version), [13]);
    // One who holds what was pruned cannot build upon it.
    const stale = await find(backend, TRIP, HEAD, { version: 5, writeId: "pruned" });
    assertSame([stale.onto, stale.entries.map(({ version }) => version)], [keyframe, [13]]);
  });

  contract("keyframe: before the oldest retained version stays", async (backend) => {
    let head = await tenVersions(backend);
    const laid = appendAfter(head, [AARHUS], { oldest: 3 });
    const keyframe = keyframeOf(head, laid, '{"city":"Aarhus"}');
    head = (await append(backend, TRIP, head, { ...laid, keyframe })).head;
    assertEquals([head.version, head.oldest], [11, 3]);
    for (const version of [3, 7, 10]) {
      const found = await find(backend, TRIP, { as: "version", version });
      assertSame([found.onto, found.entries.length], ["nothing", version]);
    }
    head = await write(backend, TRIP, head, [ODENSE, AARHUS]);
    const next = appendAfter(head, [ODENSE], { oldest: 12 });
    head = (await append(backend, TRIP, head, { ...next, keyframe: keyframeOf(head, next, '{"city":"Odense"}') })).head;
    assertEquals([head.version, head.oldest, head.base.version], [14, 12, 14]);
    await untilPruned(backend, [1, 10]);
    for (const version of [12, 13]) {
      const found = await find(backend, TRIP, { as: "version", version });
      assertSame([found.onto, found.entries.map((entry) => entry.version)], [
        keyframe,
        version === 12 ? [12] : [12, 13],
      ]);
    }
  });

  contract("oldest: never goes back", async (backend) => {
    let head = await tenVersions(backend);
    head = (await append(backend, TRIP, head, appendAfter(head, [AARHUS], { oldest: 6 }))).head;
    assertEquals(head.oldest, 6);
    head = (await append(backend, TRIP, head, appendAfter(head, [AARHUS], { oldest: 2 }))).head;
    assertEquals(head.oldest, 6);
    assertSame((await find(backend, TRIP)).head, head);
  });

  contract("entries: begins no earlier than what is retained", async (backend) => {
    let head = await tenVersions(backend);
    const draft = appendAfter(head, [AARHUS], { oldest: 11 });
    head = (await append(backend, TRIP, head, { ...draft, keyframe: keyframeOf(head, draft, "{}") })).head;
    head = await write(backend, TRIP, head, [AARHUS]);
    for (const after of [undefined, 0, 4]) {
      const answer = await backend.entries(TRIP, after, 100);
      assert(answer.outcome === "found");
      assertEquals(answer.entries.map(({ version }) => version), [11, 12]);
    }
  });

  contract("trim: lets older bytes go and keeps the version readable", async (backend) => {
    const head = await tenVersions(backend);
    const { target } = await find(backend, TRIP, { as: "version", version: 6 });
    assert(target !== undefined && target !== "held");
    const keyframe = { version: 6, writeId: target.writeId, bytes: 17, body: '{"city":"Odense"}' };
    await backend.trim(TRIP, target, keyframe);
    const found = await find(backend, TRIP);
    assertSame(found.head, { ...head, oldest: 6, base: { version: 6, bytes: 17, offset: target.offset } });
    assertSame([found.onto, found.entries.map(({ version }) => version)], [keyframe, [7, 8, 9, 10]]);
    await untilPruned(backend, [1, 5]);
    const oldest = await find(backend, TRIP, { as: "version", version: 6 });
    assertSame([oldest.onto, oldest.entries, stampOf(oldest.target)], [keyframe, [], stampOf(target)]);
    await backend.trim(TRIP, target, keyframe);
    assertSame((await find(backend, TRIP)).head, found.head);
  });

  contract("trim: does nothing to a journal that was rewound, nor to what is gone", async (backend) => {
    const keyframe = { version: 6, writeId: "of a lost replica", bytes: 2, body: "{}" };
    await backend.trim(TRIP, keyframe, keyframe);
    const head = await tenVersions(backend);
    await backend.trim(TRIP, keyframe, keyframe);
    await backend.trim(TRIP, { version: 60, writeId: head.writeId }, { ...keyframe, version: 60 });
    const found = await find(backend, TRIP);
    assertSame([found.head, found.onto, found.entries.length], [head, "nothing", 10]);
    await backend.remove(TRIP, removal());
    await backend.trim(TRIP, head, { ...keyframe, version: 10, writeId: head.writeId });
    assertEquals((await backend.read(TRIP, HEAD)).outcome, "gone");
  });

  contract("locate: finds a place by each of the growing numbers", async (backend) => {
    let head = await mint(backend, TRIP);
    for (let i = 0; i < 8; i++) {
      head = await write(backend, TRIP, head, [AARHUS, ODENSE], { turn: i < 2 ? undefined : i });
    }
    const stamps: Stamp[] = (await find(backend, TRIP)).entries.map(({ body: _, ...stamp }) => stamp);
    for (const stamp of stamps) {
      const { version, turn, at, offset, seq } = stamp;
      assertSame(stampOf(await backend.locate(TRIP, { version })), stamp);
      const last = (test: (each: Stamp) => boolean) => stamps.findLast(test);
      assertSame(stampOf(await backend.locate(TRIP, { turn })), last((each) => each.turn <= turn));
      assertSame(stampOf(await backend.locate(TRIP, { at })), last((each) => each.at <= at));
      assertSame(stampOf(await backend.locate(TRIP, { seq })), stamp);
      assertSame(stampOf(await backend.locate(TRIP, { offset })), stamp);
      assertSame(stampOf(await backend.locate(TRIP, { offset: offset + 1 })), stamp);
      assertSame(stampOf(await backend.locate(TRIP, { offset: offset - 1 })), stamps[version - 2]);
    }
    for (
      const place of [{ version: 0 }, { version: 99 }, { at: head.createdAt - 1 }, { offset: 1 }, { seq: 0 }, {
        turn: -1,
      }]
    ) {
      assertEquals(await backend.locate(TRIP, place), undefined, JSON.stringify(place));
    }
    for (const place of [{ turn: 99 }, { at: head.updatedAt + 1e9 }, { seq: 1e9 }, { offset: 1e9 }]) {
      assertSame(stampOf(await backend.locate(TRIP, place)), stamps[16], JSON.stringify(place));
    }
    assertEquals(await backend.locate({ user: "bob", id: TRIP.id }, { version: 1 }), undefined);
    await backend.remove(TRIP, removal());
    assertEquals(await backend.locate(TRIP, { version: 1 }), undefined);
  });
}

async function tenVersions(backend: Backend): Promise<Head> {
  const head = await mint(backend, TRIP);
  return await write(backend, TRIP, head, Array.from({ length: 9 }, (_, i) => i % 2 ? AARHUS : ODENSE));
}

/** Bytes may go with the write or with a later sweep. */
async function untilPruned(backend: Backend, versions: readonly number[]): Promise<void> {
  for (const version of versions) {
    await until(async () => {
      const { target } = await find(backend, TRIP, { as: "version", version });
      if (target !== undefined) await backend.sweep(TRIP.user, 100);
      return target === undefined;
    }, `version ${version} is let go`);
  }
}
