import { assert, assertEquals } from "@std/assert";
import type { Backend, Head, ListRange, Tombstone } from "../../src/backends/backend.ts";
import { AARHUS, assertSame, mint, outlive, removal, requestDraft, seconds, write } from "./drafts.ts";
import type { Case } from "./target.ts";

export function listCases(contract: Case): void {
  contract("list: of an unknown user is empty", async (backend) => {
    for (const direction of ["up", "down"] as const) {
      const page = await backend.list("nobody", { direction, from: 5, limit: 9, tombstones: true });
      assertSame(page, { documents: [], seq: 0, forgotten: 0 });
    }
  });

  contract("list: goes through heads and tombstones in the order of seq, both ways", async (backend) => {
    const heads: Head[] = [];
    for (let i = 0; i < 8; i++) {
      heads.push(await mint(backend, { user: "alice", id: `trip_${i}` }, { title: `Trip ${i}` }));
    }
    heads[2] = await write(backend, { user: "alice", id: "trip_2" }, heads[2], [AARHUS, AARHUS]);
    await backend.remove({ user: "alice", id: "trip_5" }, removal());
    heads[0] = await write(backend, { user: "alice", id: "trip_0" }, heads[0], [AARHUS]);
    await backend.touch({ user: "alice", id: "trip_1" }, { turn: 3 });
    await mint(backend, { user: "bob", id: "trip_2" });
    const ids = ["trip_1", "trip_3", "trip_4", "trip_6", "trip_7", "trip_2", "trip_5", "trip_0"];
    const seqs = [2, 4, 5, 7, 8, 10, 11, 12];
    const up = await walk(backend, { direction: "up", from: 0, limit: 3, tombstones: true });
    assertEquals(up.map(({ id }) => id), ids);
    assertEquals(up.map(({ seq }) => seq), seqs);
    const down = await walk(backend, { direction: "down", from: 1e15, limit: 3, tombstones: true });
    assertSame(down, up.toReversed());
    assertSame(up[7], heads[0]);
    assertSame([up[5], up[1]], [heads[2], heads[3]]);
    const alive = await walk(backend, { direction: "down", from: 1e15, limit: 2, tombstones: false });
    assertEquals(alive.map(({ id }) => id), ids.filter((id) => id !== "trip_5").reverse());

    const above = await walk(backend, { direction: "up", from: 8, limit: 99, tombstones: false });
    assertEquals(above.map(({ id }) => id), ["trip_2", "trip_0"]);
    const below = await walk(backend, { direction: "down", from: 5, limit: 99, tombstones: false });
    assertEquals(below.map(({ id }) => id), ["trip_3", "trip_1"]);
    const page = await backend.list("alice", { direction: "down", from: 1, limit: 9, tombstones: true });
    assertSame(page, { documents: [], seq: 12, forgotten: 0 });
  });

  contract("list: shows no past due document as alive", async (backend) => {
    const ttlDays = seconds(0.3);
    for (let i = 0; i < 9; i++) await mint(backend, { user: "alice", id: `cart_${i}` }, { ttlDays });
    await mint(backend, { user: "alice", id: "trip_1" });
    await outlive(backend, ttlDays);
    const alive = await walk(backend, { direction: "down", from: 1e15, limit: 4, tombstones: false });
    assertEquals(alive.map(({ id }) => id), ["trip_1"]);
    await backend.sweep("alice", 100);
    const all = await walk(backend, { direction: "up", from: 0, limit: 4, tombstones: true });
    assertEquals(all.map((record) => "status" in record ? record.status : record.version), [
      1,
      ...Array.from({ length: 9 }, () => "expired"),
    ]);
  });

  contract("list: numbers mints, writes, deletions and expiries without gaps", async (backend) => {
    const head = await mint(backend, { user: "alice", id: "trip_1" }, { ttlDays: seconds(0.3) });
    await mint(backend, { user: "alice", id: "trip_2" });
    await write(backend, { user: "alice", id: "trip_1" }, head, [AARHUS]);
    await backend.remove({ user: "alice", id: "trip_2" }, removal(undefined, requestDraft("delete-1")));
    await outlive(backend, seconds(0.3));
    await backend.read({ user: "alice", id: "trip_1" }, { as: "head" });
    const page = await backend.list("alice", { direction: "up", from: 0, limit: 9, tombstones: true });
    assertEquals(page.documents.map(({ id, seq }) => [id, seq]), [["trip_2", 4], ["trip_1", 5]]);
    assertEquals(page.seq, 5);
  });
}

async function walk(backend: Backend, range: ListRange): Promise<(Head | Tombstone)[]> {
  const documents: (Head | Tombstone)[] = [];
  let from: number | undefined = range.from;
  while (from !== undefined) {
    const page = await backend.list("alice", { ...range, from });
    assert(page.documents.length <= range.limit);
    documents.push(...page.documents);
    from = page.next;
  }
  return documents;
}
