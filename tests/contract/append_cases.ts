import { assert, assertEquals } from "@std/assert";
import type { Step } from "../../src/backends/backend.ts";
import {
  AARHUS,
  append,
  appendAfter,
  assertSame,
  entriesOf,
  entryDraft,
  expected,
  find,
  HEAD,
  mint,
  ODENSE,
  removal,
  stampOf,
  TRIP,
  write,
} from "./drafts.ts";
import type { Case } from "./target.ts";

export function appendCases(contract: Case): void {
  contract("append: writes consecutive entries and moves the head", async (backend) => {
    const first = await mint(backend, TRIP, { title: "Spring", ttlDays: 1, turn: 1 });
    const second = entryDraft(AARHUS, first.offset, { writer: "phone", turn: 2 });
    const third = entryDraft(ODENSE, second.offset, { title: "Summer", ttlDays: null });
    const draft = { steps: [{ entry: second }, { entry: third }], bytes: 17, oldest: 1 };
    const { head, stamps } = await append(backend, TRIP, first, draft);
    const at = head.updatedAt;
    assert(at >= first.updatedAt);
    assertSame(stamps, [
      { version: 2, writeId: second.writeId, at, turn: 2, writer: "phone", seq: 2, offset: second.offset },
      { version: 3, writeId: third.writeId, at, turn: 2, writer: "laptop", seq: 3, offset: third.offset },
    ]);
    assertSame(head, {
      ...first,
      title: "Summer",
      version: 3,
      writeId: third.writeId,
      updatedAt: at,
      writer: "laptop",
      turn: 2,
      ttlDays: undefined,
      expiresAt: undefined,
      bytes: 17,
      offset: third.offset,
      seq: 3,
    });
    const found = await find(backend, TRIP);
    assertSame([found.head, stampOf(found.target)], [head, stamps[1]]);
    assertSame(found.entries.slice(1), entriesOf(draft, stamps));
  });

  contract("append: answers the head as it is, whatever changed since its writer saw it", async (backend) => {
    const minted = await mint(backend, TRIP, { title: "Spring" });
    const seen = await write(backend, TRIP, minted, [AARHUS]);
    const { target } = await find(backend, TRIP);
    assert(target !== undefined && target !== "held");
    await backend.touch(TRIP, { ttlDays: 2.5 });
    await backend.trim(TRIP, target, { version: 2, writeId: target.writeId, bytes: 17, body: '{"city":"Aarhus"}' });
    const { head } = await append(backend, TRIP, seen, appendAfter(seen, [ODENSE], {}, { title: "" }));
    assertSame(head, (await find(backend, TRIP)).head);
    assertSame([head.version, head.title, head.ttlDays, head.oldest, head.base.version], [3, "", 2.5, 2, 2]);
  });

  contract("append: keeps, sets and clears the time to live", async (backend) => {
    const minted = await mint(backend, TRIP, { ttlDays: 1 });
    const kept = await write(backend, TRIP, minted, [AARHUS]);
    assertSame([kept.ttlDays, kept.expiresAt], [1, minted.expiresAt]);
    const set = await write(backend, TRIP, kept, [ODENSE], { ttlDays: 36_525 });
    assertSame([set.ttlDays, set.expiresAt], [36_525, set.updatedAt + 36_525 * 86_400_000]);
    const cleared = await write(backend, TRIP, set, [AARHUS], { ttlDays: null });
    assertSame([cleared.ttlDays, cleared.expiresAt], [undefined, undefined]);
    assertSame((await find(backend, TRIP)).head, cleared);
  });

  contract("append: takes up to 64 entries at once", async (backend) => {
    const first = await mint(backend, TRIP);
    const draft = appendAfter(
      first,
      Array.from({ length: 64 }, (_, i) => `[{"op":"add","path":"/n${i}","value":${i}}]`),
    );
    const { head, stamps } = await append(backend, TRIP, first, draft);
    assertEquals([head.version, head.seq], [65, 65]);
    assertEquals(stamps.map(({ version }) => version), Array.from({ length: 64 }, (_, i) => i + 2));
    assertSame((await find(backend, TRIP)).entries.slice(1), entriesOf(draft, stamps));
  });

  contract("append: that loses the race writes nothing and tells what happened since", async (backend) => {
    const first = await mint(backend, TRIP);
    const winner = appendAfter(first, [AARHUS, ODENSE]);
    const { head, stamps } = await append(backend, TRIP, first, winner);
    const lost = await backend.append(TRIP, expected(first), appendAfter(first, [ODENSE]));
    assert(lost.outcome === "lost");
    assertSame(
      [lost.found.head, stampOf(lost.found.target), lost.found.onto, lost.found.entries],
      [head, stamps[1], "held", entriesOf(winner, stamps)],
    );
    assertSame((await find(backend, TRIP)).head, head);
    const page = await backend.list("alice", { direction: "down", from: 99, limit: 9, tombstones: true });
    assertEquals(page.seq, 3);
  });

  contract("append: to a version with another write id is lost", async (backend) => {
    const head = await mint(backend, TRIP);
    const lost = await backend.append(
      TRIP,
      { ...expected(head), writeId: "of a lost replica" },
      appendAfter(head, [AARHUS]),
    );
    assert(lost.outcome === "lost");
    assertSame([lost.found.head, lost.found.onto], [head, "nothing"]);
    assertEquals(lost.found.entries.map(({ version }) => version), [1]);
    const ahead = await backend.append(TRIP, { ...expected(head), version: 5 }, appendAfter(head, [AARHUS]));
    assert(ahead.outcome === "lost");
    assertSame([ahead.found.head, ahead.found.entries.length], [head, 1]);
  });

  contract("append: sent twice has one effect, also after others wrote", async (backend) => {
    const first = await mint(backend, TRIP);
    const draft = appendAfter(first, [AARHUS, ODENSE]);
    const answer = await append(backend, TRIP, first, draft);
    assertSame(await append(backend, TRIP, first, draft), answer);
    const head = await write(backend, TRIP, answer.head, [AARHUS]);
    assertSame(await append(backend, TRIP, first, draft), { ...answer, head });
    assertEquals((await find(backend, TRIP)).entries.map(({ version }) => version), [1, 2, 3, 4]);
    assertSame((await find(backend, TRIP)).head, head);
  });

  contract("append: with a part that others wrote is not taken for sent before", async (backend) => {
    const first = await mint(backend, TRIP);
    const draft = appendAfter(first, [AARHUS, ODENSE]);
    const half = { ...draft, steps: draft.steps.slice(0, 1) as Step[] };
    const { head } = await append(backend, TRIP, first, half);
    assertEquals((await backend.append(TRIP, expected(first), draft)).outcome, "lost");
    const other = await write(backend, TRIP, head, [AARHUS]);
    assertEquals((await backend.append(TRIP, expected(first), draft)).outcome, "lost");
    assertSame((await find(backend, TRIP)).head, other);
  });

  contract("append: finds no document, or its tombstone", async (backend) => {
    const head = await mint(backend, TRIP);
    const elsewhere = { user: "bob", id: TRIP.id };
    assertSame(await backend.append(elsewhere, expected(head), appendAfter(head, [AARHUS])), { outcome: "absent" });
    assertSame(await backend.read(elsewhere, HEAD), { outcome: "absent" });
    await backend.remove(TRIP, removal());
    const gone = await backend.append(TRIP, expected(head), appendAfter(head, [AARHUS]));
    assert(gone.outcome === "gone");
    assertSame([gone.tombstone.status, gone.tombstone.kind], ["deleted", "trip"]);
    assertEquals((await backend.read(TRIP, HEAD)).outcome, "gone");
  });

  contract("append: of many writers on several connections lands once each, without gaps", async (backend, open) => {
    await mint(backend, TRIP);
    const connections = await Promise.all(Array.from({ length: 4 }, open));
    const write = async (writer: number) => {
      const connection = connections[writer % connections.length];
      let { head } = await find(connection, TRIP);
      for (let i = 0; i < 20;) {
        const draft = appendAfter(head, [`[{"op":"add","path":"/${writer}-${i}","value":1}]`], {}, {
          writer: `phone ${writer}`,
        });
        const answer = await connection.append(TRIP, expected(head), draft);
        if (answer.outcome === "appended") {
          head = answer.head;
          i++;
        } else {
          assert(answer.outcome === "lost");
          head = answer.found.head;
        }
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, writer) => write(writer)));
    const { head, entries } = await find(backend, TRIP);
    assertEquals([head.version, head.seq], [161, 161]);
    assertEquals(entries.map(({ version }) => version), Array.from({ length: 161 }, (_, i) => i + 1));
    assertEquals(entries.map(({ seq }) => seq), Array.from({ length: 161 }, (_, i) => i + 1));
    assertEquals(new Set(entries.map(({ body }) => body)).size, 161);
    for (let writer = 0; writer < 8; writer++) {
      const own = entries.filter((entry) => entry.writer === `phone ${writer}`).map(({ body }) => body);
      assertEquals(own, Array.from({ length: 20 }, (_, i) => `[{"op":"add","path":"/${writer}-${i}","value":1}]`));
    }
  });
}
