import { assert, assertEquals } from "@std/assert";
import {
  AARHUS,
  appendAfter,
  assertSame,
  expected,
  find,
  HEAD,
  mint,
  removal,
  requestDraft,
  stampOf,
  TRIP,
  write,
} from "./drafts.ts";
import type { Case } from "./target.ts";

export function removeCases(contract: Case): void {
  contract("remove: leaves a tombstone and nothing to read", async (backend) => {
    const first = await mint(backend, TRIP, { ttlDays: 3, title: "Spring" });
    const head = await write(backend, TRIP, first, [AARHUS]);
    const deletion = removal();
    assertSame(await backend.remove(TRIP, deletion), { outcome: "removed", version: head.version });
    const gone = await backend.read(TRIP, HEAD);
    assert(gone.outcome === "gone");
    const { tombstone } = gone;
    assertSame({ ...tombstone, goneAt: 0 }, {
      id: TRIP.id,
      status: "deleted",
      kind: "trip",
      goneAt: 0,
      ttlDays: 3,
      seq: 3,
      createdSeq: 1,
      writeId: deletion.writeId,
    });
    assert(tombstone.goneAt >= head.updatedAt);
    for (const want of [{ as: "version", version: 1 }, { as: "turn", turn: 0 }, { as: "time", at: 9e15 }] as const) {
      assertSame(await backend.read(TRIP, want, head), gone);
    }
    assertSame(await backend.entries(TRIP, undefined, 9), gone);
    assertSame(await backend.touch(TRIP, { ttlDays: 1 }), gone);
    assertSame(await backend.append(TRIP, expected(head), appendAfter(head, [AARHUS])), gone);
    assertSame(await backend.remove(TRIP, removal()), gone);
  });

  contract("remove: of nothing says so", async (backend) => {
    assertSame(await backend.remove(TRIP, removal()), { outcome: "absent" });
    assertSame(await backend.touch(TRIP, { ttlDays: 1 }), { outcome: "absent" });
  });

  contract("remove: with a version that is no longer current is lost", async (backend) => {
    const first = await mint(backend, TRIP);
    const head = await write(backend, TRIP, first, [AARHUS]);
    for (const version of [1, 3]) {
      const lost = await backend.remove(TRIP, removal(version, requestDraft("delete-1")));
      assert(lost.outcome === "lost");
      const { found } = lost;
      const target = stampOf(found.target);
      assert(target !== undefined && target !== "held");
      assertSame([found.head, target.version, found.entries.map((entry) => entry.version)], [head, 2, [1, 2]]);
    }
    assertSame((await find(backend, TRIP)).head, head);
    assertEquals((await backend.remove(TRIP, removal(2))).outcome, "removed");
  });

  contract("remove: remembers its request", async (backend) => {
    const head = await mint(backend, TRIP, { turn: 2 });
    const request = requestDraft("delete-1");
    assertEquals((await backend.remove(TRIP, removal(1, request))).outcome, "removed");
    const record = await backend.findRequest("alice", "delete-1");
    assert(record !== undefined);
    assertSame({ ...record, at: 0 }, {
      ...request,
      documentId: TRIP.id,
      version: 1,
      writeId: head.writeId,
      at: 0,
      turn: 2,
    });
    assertSame(await backend.remove(TRIP, removal(1, request)), { outcome: "replayed", record });
    await mint(backend, TRIP);
    assertSame(await backend.remove(TRIP, removal(undefined, request)), { outcome: "replayed", record });
    assertEquals((await find(backend, TRIP)).head.version, 1);
  });

  contract("remove: sent twice has one effect and one answer, also of its request", async (backend) => {
    const head = await write(backend, TRIP, await mint(backend, TRIP), [AARHUS]);
    for (const request of [undefined, requestDraft("delete-1")]) {
      const deletion = removal(request && 1, request);
      const removed = await backend.remove(TRIP, deletion);
      assertSame(removed, { outcome: "removed", version: request ? 1 : head.version });
      const gone = await backend.read(TRIP, HEAD);
      assertSame(await backend.remove(TRIP, deletion), removed);
      assertSame(await backend.read(TRIP, HEAD), gone);
      assertSame(await backend.remove(TRIP, removal()), gone);
      await mint(backend, TRIP);
    }
  });

  contract("remove: of many at once, one removes", async (backend, open) => {
    await mint(backend, TRIP);
    const connections = [backend, await open(), await open()];
    const answers = await Promise.all(connections.map((connection) => connection.remove(TRIP, removal(1))));
    assertEquals(answers.map(({ outcome }) => outcome).sort(), ["gone", "gone", "removed"]);
  });

  contract("purge: leaves nothing of a user and everything of the others", async (backend) => {
    const bob = { user: "bob", id: TRIP.id };
    const kept = await mint(backend, bob, {}, { request: requestDraft("mint-1") });
    for (let i = 0; i < 120; i++) {
      const key = { user: "alice", id: `cart_${i}` };
      const head = await mint(backend, key, { turn: 1 }, { request: requestDraft(`mint-${i}`) });
      if (i % 10 === 0) await write(backend, key, head, [AARHUS]);
      if (i % 12 === 0) await backend.remove(key, removal());
    }
    assertEquals(await backend.purge("alice"), 110);
    for (const id of ["cart_0", "cart_1", "cart_10", "cart_119"]) {
      assertSame(await backend.read({ user: "alice", id }, HEAD), { outcome: "absent" });
    }
    const range = { direction: "down", from: 1e9, limit: 200, tombstones: true } as const;
    assertSame(await backend.list("alice", range), { documents: [], seq: 0, forgotten: 0 });
    assertEquals(await backend.findRequest("alice", "mint-7"), undefined);
    assertEquals(await backend.purge("alice"), 0);
    assertEquals(await backend.purge("nobody"), 0);

    assertSame((await find(backend, bob)).head, kept);
    assertEquals((await backend.findRequest("bob", "mint-1"))?.version, 1);
    const again = await mint(backend, { user: "alice", id: "cart_1" });
    assertEquals([again.version, again.seq], [1, 1]);
    assertEquals((await find(backend, { user: "alice", id: "cart_1" })).entries.length, 1);
  });
}
