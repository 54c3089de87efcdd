import { assert, assertEquals } from "@std/assert";
import type { Backend, Head, ListPage, ListRange, Tombstone } from "../../src/backends/backend.ts";
import { isTombstone } from "../../src/backends/records.ts";
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

  contract(
    "list: shows each of 5,000 documents that lives throughout, though others move, come and go",
    async (backend, open) => {
      const other = await open();
      const heads = new Map<string, Head>();
      for (let i = 0; i < 5_000; i += 100) {
        const ids = Array.from({ length: 100 }, (_, j) => `cart_${i + j}`);
        for (const head of await Promise.all(ids.map((id) => mint(other, { user: "alice", id })))) {
          heads.set(head.id, head);
        }
      }
      const ids = [...heads.keys()];
      const ended = new Set<string>();
      let pages = 0;
      // All over the list: what was seen, what comes next, and its end.
      const disturb = async () => {
        for (const id of [0, 1, 2, 3].map((step) => ids[(pages * 83 + step * 997) % ids.length])) {
          const head = heads.get(id);
          if (head === undefined || ended.has(id)) continue;
          heads.set(id, await write(other, { user: "alice", id }, head, [AARHUS]));
        }
        const victim = ids[(pages * 83 + 4 * 997) % ids.length];
        if (!ended.has(victim)) await other.remove({ user: "alice", id: victim }, removal());
        ended.add(victim);
        await mint(other, { user: "alice", id: `late_${pages}` });
      };
      const seen = new Map<string, number[]>();
      const go = async (direction: ListRange["direction"], from: number): Promise<number> => {
        let top = 0;
        for (let place: number | undefined = from; place !== undefined; pages++) {
          const page: ListPage = await backend.list("alice", { direction, from: place, limit: 100, tombstones: false });
          top ||= page.seq;
          for (const document of page.documents) {
            if (isTombstone(document)) throw new Error("no tombstones were asked for");
            seen.set(document.id, [...seen.get(document.id) ?? [], document.version]);
          }
          place = page.next;
          if (pages < 60) await disturb();
          assert(pages < 200, "the walk ends");
        }
        return top;
      };
      // What moves goes above the place where the walk began: it is met on the way up from there.
      await go("up", await go("down", Number.MAX_SAFE_INTEGER));
      assertEquals(ids.filter((id) => !ended.has(id) && !seen.has(id)), []);
      for (const versions of seen.values()) {
        assertEquals(versions, [...new Set(versions)].sort((a, b) => a - b), "again only with a higher version");
      }
      assert(
        [...seen.values()].some((versions) => versions.length > 1) && ended.size > 50,
        "the walk met what it is about",
      );
    },
  );

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
