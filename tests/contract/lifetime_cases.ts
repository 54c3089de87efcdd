import { assert, assertEquals } from "@std/assert";
import type { Backend, Head, Tombstone } from "../../src/backends/backend.ts";
import { isTombstone } from "../../src/backends/records.ts";
import {
  AARHUS,
  appendAfter,
  assertSame,
  expected,
  find,
  HEAD,
  mint,
  outlive,
  removal,
  requestDraft,
  seconds,
  TRIP,
  write,
} from "./drafts.ts";
import type { Case } from "./target.ts";

const SHORT = seconds(0.3);

export function lifetimeCases(contract: Case): void {
  contract("expiry: is a state that every method meets", async (backend) => {
    // Each method is the first to meet a document of its own.
    const meetings: ((id: string, head: Head) => Promise<unknown>)[] = [
      (id) => backend.read({ user: "alice", id }, HEAD),
      (id, head) => backend.read({ user: "alice", id }, HEAD, head),
      (id) => backend.read({ user: "alice", id }, { as: "version", version: 1 }),
      (id) => backend.entries({ user: "alice", id }, undefined, 9),
      (id, head) => backend.append({ user: "alice", id }, expected(head), appendAfter(head, [AARHUS])),
      (id) => backend.touch({ user: "alice", id }, { ttlDays: 1 }),
      (id) => backend.touch({ user: "alice", id }, { ttlDays: null, turn: 2 }),
      (id) => backend.remove({ user: "alice", id }, removal(undefined, requestDraft("late"))),
    ];
    const heads: Head[] = [];
    for (const [i] of meetings.entries()) {
      heads.push(await mint(backend, { user: "alice", id: `cart_${i}` }, { ttlDays: SHORT }, { kind: "cart" }));
    }
    await outlive(backend, SHORT);
    for (const [i, meet] of meetings.entries()) {
      const { id, expiresAt } = heads[i];
      const answer = await meet(id, heads[i]) as { outcome: string; tombstone: Tombstone };
      const own = { seq: 0, writeId: "" };
      const { createdSeq } = heads[i];
      const tombstone = { id, status: "expired", kind: "cart", goneAt: expiresAt, ttlDays: SHORT, createdSeq };
      assertSame({ ...answer, tombstone: { ...answer.tombstone, ...own } }, {
        outcome: "gone",
        tombstone: { ...tombstone, ...own },
      }, `method ${i}`);
      const read = await backend.read({ user: "alice", id }, HEAD);
      assert(read.outcome === "gone");
      assert(read.tombstone.seq > heads[i].seq, "expiry takes a sequence number");
      assert(read.tombstone.writeId !== "", "expiry has a write id");
    }
    assertEquals(await backend.findRequest("alice", "late"), undefined);
  });

  contract("expiry: is judged anew after every renewal", async (backend) => {
    const ids = ["cart_renewed", "cart_cleared", "cart_saved", "cart_last", "cart_left"];
    const heads = new Map<string, Head>();
    for (const id of ids) heads.set(id, await mint(backend, { user: "alice", id }, { ttlDays: seconds(0.6) }));
    const key = (id: string) => ({ user: "alice", id });
    await backend.touch(key("cart_renewed"), { ttlDays: 1 });
    await backend.touch(key("cart_cleared"), { ttlDays: null });
    const saved = heads.get("cart_saved");
    assert(saved !== undefined);
    await write(backend, key("cart_saved"), saved, [AARHUS], { ttlDays: 1 });
    await outlive(backend, seconds(0.3));
    const last = await backend.touch(key("cart_last"), { ttlDays: "last" });
    assert(last.outcome === "touched" && last.head.expiresAt !== undefined);
    assert(last.head.expiresAt > (heads.get("cart_last")?.expiresAt ?? Infinity), "renewed from then");
    await outlive(backend, seconds(0.6));
    await backend.sweep("alice", 100);
    await backend.sweep(undefined, 100);
    const outcomes = await Promise.all(ids.map(async (id) => (await backend.read(key(id), HEAD)).outcome));
    assertEquals(outcomes, ["found", "found", "found", "gone", "gone"]);
    assertEquals((await find(backend, key("cart_renewed"))).entries.length, 1);
  });

  contract("touch: changes the time to live and nothing else", async (backend) => {
    const first = await mint(backend, TRIP, { ttlDays: 1 });
    const head = await write(backend, TRIP, first, [AARHUS]);
    const touch = async (ttlDays: number | null | "last" | undefined) => {
      const answer = await backend.touch(TRIP, { ttlDays });
      assert(answer.outcome === "touched");
      assertSame((await find(backend, TRIP)).head, answer.head);
      const { ttlDays: set, expiresAt, ...rest } = answer.head;
      const { ttlDays: _ttlDays, expiresAt: _expiresAt, ...before } = head;
      assertSame(rest, before);
      return { set, expiresAt };
    };
    const renewed = await touch(7);
    assert(renewed.set === 7 && renewed.expiresAt !== undefined);
    assert(renewed.expiresAt >= head.updatedAt + 7 * 86_400_000);
    const last = await touch("last");
    assert(last.set === 7 && last.expiresAt !== undefined && last.expiresAt >= renewed.expiresAt);
    assertSame(await touch(undefined), last);
    assertSame(await touch(null), {});
    assertSame(await touch("last"), {});
    const page = await backend.list("alice", { direction: "down", from: 99, limit: 9, tombstones: true });
    assertEquals([page.seq, page.documents[0].seq], [2, 2]);
    assertEquals((await find(backend, TRIP)).entries.length, 2);
  });

  contract("touch: does not make a write lose", async (backend) => {
    const head = await mint(backend, TRIP, { ttlDays: 1 });
    await backend.touch(TRIP, { ttlDays: 9 });
    const answer = await backend.append(TRIP, expected(head), appendAfter(head, [AARHUS]));
    assert(answer.outcome === "appended");
    assertEquals(answer.head.ttlDays, 9);
    const [touched, written] = await Promise.all([
      backend.touch(TRIP, { ttlDays: 20 }),
      backend.append(TRIP, expected(answer.head), appendAfter(answer.head, [AARHUS])),
    ]);
    assertEquals([touched.outcome, written.outcome], ["touched", "appended"]);
    const { head: now } = await find(backend, TRIP);
    assertEquals([now.ttlDays, now.version], [20, 3]);
  });

  contract("touch: racing expiry and sweeps, never loses a document that it renewed", async (backend, open) => {
    const other = await open();
    const race = async (i: number): Promise<string> => {
      const key = { user: "alice", id: `cart_${i}` };
      const { expiresAt } = await mint(backend, key, { ttlDays: seconds(0.25) });
      while (Date.now() < (expiresAt ?? 0) - 2) await new Promise((resolve) => setTimeout(resolve, 1));
      const [touched] = await Promise.all([
        backend.touch(key, { ttlDays: 1 }),
        other.sweep("alice", 10),
        other.list("alice", { direction: "down", from: 1e9, limit: 5, tombstones: false }),
      ]);
      const read = await other.read(key, HEAD);
      assertEquals(read.outcome, touched.outcome === "touched" ? "found" : "gone");
      return read.outcome;
    };
    const outcomes = await Promise.all(Array.from({ length: 24 }, (_, i) => race(i)));
    assertEquals(outcomes.length, 24);
  });

  contract("sweep: of one user turns what is past due into tombstones", async (backend) => {
    const ttlDays = seconds(0.7);
    const heads = new Map<string, Head>();
    for (const id of ["a", "b", "c", "d", "e", "f"]) {
      heads.set(id, await mint(backend, { user: "alice", id: `cart_${id}` }, { ttlDays }));
    }
    const bobs = await mint(backend, { user: "bob", id: "cart_b" }, { ttlDays });
    const alive = await mint(backend, TRIP, { ttlDays: 1 });
    await outlive(backend, ttlDays);
    assertEquals(await sweepAll(backend, "alice"), 6);
    assertEquals(await sweepAll(backend, "alice"), 0);
    const page = await backend.list("alice", { direction: "up", from: 0, limit: 99, tombstones: true });
    assertSame(page.documents[0], alive);
    const tombstones = page.documents.filter(isTombstone);
    assertEquals(tombstones.map(({ id }) => id).sort(), [...heads.values()].map(({ id }) => id).sort());
    for (const { id, goneAt, seq } of tombstones) {
      const head = heads.get(id.slice(5));
      assertEquals([goneAt, seq > 7], [head?.expiresAt, true]);
    }
    assertEquals(page.seq, 13);
    const gone = await backend.read({ user: "bob", id: "cart_b" }, HEAD);
    assert(gone.outcome === "gone");
    assertEquals(gone.tombstone.goneAt, bobs.expiresAt);
  });

  contract("sweep: of all users leaves what lives", async (backend) => {
    const ttlDays = seconds(0.7);
    for (const user of ["alice", "bob", "{carol}", "*"]) {
      await mint(backend, { user, id: "cart_short" }, { ttlDays });
      await mint(backend, { user, id: "cart_long" }, { ttlDays: 1 });
    }
    await outlive(backend, ttlDays);
    assertEquals(await sweepAll(backend, undefined) >= 4, true);
    assertEquals(await sweepAll(backend, undefined), 0);
    for (const user of ["alice", "bob", "{carol}", "*"]) {
      const page = await backend.list(user, { direction: "up", from: 0, limit: 9, tombstones: true });
      assertEquals(page.documents.map(({ id, seq }) => [id, seq]), [["cart_long", 2], ["cart_short", 3]]);
      assertEquals((await find(backend, { user, id: "cart_long" })).entries.length, 1);
    }
  });
}

async function sweepAll(backend: Backend, user: string | undefined): Promise<number> {
  let removed = 0;
  for (;;) {
    const count = await backend.sweep(user, 4);
    assert(count <= 16, "at most about the limit");
    if (count === 0) return removed;
    removed += count;
  }
}
