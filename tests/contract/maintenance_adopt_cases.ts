import { assert, assertEquals, assertRejects } from "@std/assert";
import { checkStore } from "../../src/admin/doctor.ts";
import { migrate } from "../../src/admin/migrate.ts";
import type { Adoption } from "../../src/backends/maintenance.ts";
import { HandleExpired, HandleNotFound } from "../../src/document/errors.ts";
import { entryBytes, type PortableEntry } from "../../src/document/journal.ts";
import { increment } from "../../src/document/ops.ts";
import { adoption, alice, bob, fill, readings } from "../admin/site.ts";
import { append, appendAfter, mint, removal, until } from "./drafts.ts";
import type { MaintenanceCase } from "./maintenance.ts";

const AT = Date.parse("2026-07-28T09:30:00.123Z");

/** A journal of replaced texts, one turn for every three. */
function journal(id: string, texts: readonly string[]): Adoption {
  const entries = texts.map((text, i): PortableEntry => ({
    version: i + 1,
    writeId: crypto.randomUUID(),
    at: AT + i,
    turn: Math.floor(i / 3) + 1,
    writer: "laptop",
    body: i === 0
      ? JSON.stringify({ text, n: 0 })
      : JSON.stringify([{ op: "replace", path: "/text", value: text }, { op: "replace", path: "/n", value: i }]),
  }));
  const { version, writeId, at, turn, writer } = entries[entries.length - 1];
  const bytes = entryBytes(JSON.stringify({ text: texts[texts.length - 1], n: texts.length - 1 })) - entryBytes("");
  const times = { createdAt: AT, updatedAt: at };
  return {
    head: { id, kind: "notes", version, writeId, turn, writer, firstTurn: 1, bytes, oldest: 1, ...times },
    entries,
  };
}

export function adoptCases(contract: MaintenanceCase): void {
  contract("adopt: gives documents that read alike, their past included", async (kept, another) => {
    const to = await another();
    const { trip, cart, log, notes, deleted, expired } = await fill(kept);
    const [source, target] = [await kept.maintenance(), await to.maintenance()];
    const report = await migrate(source, target);
    assertEquals(report, { adopted: 4, existing: 0, ended: 0, tombstones: 2, refused: [], isComplete: true });
    const [before, after] = [await kept.store(), await to.store()];
    for (const [handle, user] of [[trip, "alice"], [log, "alice"], [cart, "bob"], [notes, "bob"]]) {
      assertEquals(await readings(after, handle, user), await readings(before, handle, user), handle);
    }
    for (const user of ["alice", "bob"]) {
      assertEquals((await after.list(user)).handles, (await before.list(user)).handles, "the order stays");
    }
    const [old, now] = await Promise.all(
      [before, after].map((store) => assertRejects(() => store.get(expired, alice), HandleExpired)),
    );
    assertEquals(now.toPayload(), old.toPayload());
    await assertRejects(() => after.get(deleted, alice), HandleNotFound);
    assertEquals(await Array.fromAsync(checkStore(target)), []);
    const again = await migrate(source, target);
    assertEquals(again, { adopted: 0, existing: 4, ended: 2, tombstones: 0, refused: [], isComplete: true });
    const { version } = await after.get(notes, bob);
    assertEquals((await after.save(notes, { text: "new" }, { ...bob, expectVersion: version })).version, version + 1);
    assertEquals(await Array.fromAsync(checkStore(target)), []);
  });

  contract("adopt: leaves alone what is there, and what has ended", async (kept) => {
    const [backend, maintenance] = [await kept.backend(), await kept.maintenance()];
    await mint(backend, { ...alice, id: "trip_1" });
    await mint(backend, { ...alice, id: "trip_2" });
    await backend.remove({ ...alice, id: "trip_2" }, removal());
    const records = await Array.fromAsync(maintenance.documents("alice"));
    const tombstone = { id: "x", kind: "trip", status: "deleted", goneAt: AT } as const;
    for (const id of ["trip_1", "trip_2"]) {
      assertEquals(await maintenance.adopt({ ...alice, id }, adoption(id, { city: "Odense" })), "exists");
      assertEquals(await maintenance.adopt({ ...alice, id }, tombstone), "exists");
    }
    assertEquals(await Array.fromAsync(maintenance.documents("alice")), records);
  });

  contract("adopt: by several at once takes a document in once", async (kept) => {
    const ports = await Promise.all([kept.maintenance(), kept.maintenance(), kept.maintenance()]);
    const small = adoption("trip_1", { city: "Odense" });
    const large = journal("notes_1", Array.from({ length: 8 }, (_, i) => `${i}`.repeat(300_000)));
    for (const each of [small, large]) {
      const answers = await Promise.all(ports.map((port) => port.adopt({ ...alice, id: each.head.id }, each)));
      assertEquals(answers.toSorted(), ["adopted", "exists", "exists"]);
    }
    assertEquals((await (await kept.store()).list("alice")).handles.length, 2);
    assertEquals(await Array.fromAsync(checkStore(ports[0])), []);
  });

  contract("adopt: of a journal that is not whole changes nothing", async (kept) => {
    const maintenance = await kept.maintenance();
    const { head, entries } = journal("notes_1", ["a", "b", "c"]);
    const key = { ...alice, id: "notes_1" };
    await assertRejects(() => maintenance.adopt(key, { head, entries: entries.toSpliced(1, 1) }), TypeError);
    await assertRejects(() => maintenance.adopt(key, { head, entries: [] }), TypeError);
    assertEquals(await maintenance.document(key), undefined);
    assertEquals(await Array.fromAsync(maintenance.users()), []);
    assertEquals(await Array.fromAsync(checkStore(maintenance)), []);
  });

  contract("adopt: takes long and large journals in, while others write for the same user", async (kept) => {
    const [backend, maintenance] = [await kept.backend(), await kept.maintenance()];
    const long = journal("notes_long", Array.from({ length: 1_500 }, (_, i) => `${i} æble`.repeat(20)));
    const large = journal(
      "notes_large",
      Array.from({ length: 9 }, (_, i) => `${i}日`.repeat(i === 4 ? 900_000 : 100_000)),
    );
    let head = await mint(backend, { ...alice, id: "cart_1" });
    let isDone = false;
    const busy = (async () => {
      while (!isDone) {
        const nothing = appendAfter(head, ["[]"], { bytes: head.bytes });
        head = (await append(backend, { ...alice, id: "cart_1" }, head, nothing)).head;
        await new Promise((resolve) => setTimeout(resolve));
      }
    })();
    try {
      for (const each of [long, large]) {
        assertEquals(await maintenance.adopt({ ...alice, id: each.head.id }, each), "adopted");
      }
    } finally {
      isDone = true;
      await busy;
    }
    for (const each of [long, large]) {
      const entries = await Array.fromAsync(maintenance.entries({ ...alice, id: each.head.id }));
      const bare = entries.map((entry) => {
        assert(!("unreadable" in entry));
        const { seq: _, offset: _offset, ...rest } = entry;
        return rest;
      });
      assertEquals(bare, [...each.entries]);
    }
    assertEquals(await Array.fromAsync(checkStore(maintenance)), []);
    const store = await kept.store();
    assertEquals((await store.get("notes_long", { ...alice, turn: 100 })).state.n, 299);
    assertEquals((await store.get("notes_large", { ...alice, version: 5 })).state.text, "4日".repeat(900_000));
    assertEquals(await store.purge("alice"), 3);
    assertEquals(await Array.fromAsync(maintenance.users()), []);
    assertEquals(await Array.fromAsync(checkStore(maintenance)), []);
  });

  contract("adopt: is told to watchers, and counts under the quota", async (kept) => {
    const maintenance = await kept.maintenance();
    const store = await kept.store({ maxHandlesPerUser: 2 });
    const cart = await store.mint("cart", { n: 0 }, alice);
    const watch = store.watch("alice")[Symbol.asyncIterator]();
    let isHeard = false;
    const first = watch.next().then(() => isHeard = true);
    await until(async () => {
      await store.patch(cart, [increment("n", 1)], alice);
      return isHeard;
    }, "the watch has begun");
    await first;
    await maintenance.adopt({ ...alice, id: "notes_1" }, journal("notes_1", ["a", "b", "c"]));
    const events: (readonly unknown[])[] = [];
    while (events.length < 3) {
      const { value } = await watch.next();
      if (value.handle === "notes_1") events.push([value.type, value.version, value.writer]);
    }
    await watch.return?.();
    assertEquals(events, [
      ["change", 1, "laptop"],
      ["change", 2, "laptop"],
      ["change", 3, "laptop"],
    ]);
    await assertRejects(() => store.mint("cart", {}, alice), Error, "2 handles are held and 2 are allowed");
  });

  contract("adopt: of a document that is past due gives one that has expired", async (kept) => {
    const maintenance = await kept.maintenance();
    const { head, entries } = adoption("trip_1", { city: "Odense" });
    for (const ttlDays of [7, undefined]) {
      const id = `trip_${ttlDays}`;
      const key = { ...alice, id };
      assertEquals(
        await maintenance.adopt(key, { head: { ...head, id, ttlDays, expiresAt: AT + 1_000 }, entries }),
        "adopted",
      );
      assertEquals(await maintenance.adopt(key, { head, entries }), "exists");
      const gone = await assertRejects(async () => (await kept.store()).get(id, alice), HandleExpired);
      assertEquals(gone.toPayload().expired_at, new Date(AT + 1_000).toISOString());
    }
    await (await kept.store()).sweep("alice");
    assertEquals((await (await kept.store()).list("alice")).handles, []);
    assertEquals(await Array.fromAsync(checkStore(maintenance)), []);
  });

  contract("adopt: keeps an expiry that is to come, which ends the document", async (kept) => {
    const maintenance = await kept.maintenance();
    const { head, entries } = adoption("trip_1", { city: "Odense" });
    const expiresAt = Date.now() + 86_400_000;
    await maintenance.adopt({ ...alice, id: "trip_1" }, { head: { ...head, ttlDays: 30, expiresAt }, entries });
    const store = await kept.store();
    assertEquals((await store.get("trip_1", alice)).expiresAt, new Date(expiresAt).toISOString());
    assertEquals((await store.touch("trip_1", { ...alice, ttlDays: null })).expiresAt, undefined);
    assertEquals(await Array.fromAsync(checkStore(maintenance)), []);
  });
}
