import { assert, assertEquals } from "@std/assert";
import { checkStore } from "../../src/admin/doctor.ts";
import type { DocumentRecord } from "../../src/backends/maintenance.ts";
import { append, setKey } from "../../src/document/ops.ts";
import { alice, bob, fill } from "../admin/site.ts";
import { assertSame, find, mint, removal, TRIP, write } from "./drafts.ts";
import type { MaintenanceCase } from "./maintenance.ts";

export function readCases(contract: MaintenanceCase): void {
  contract("users: tells everybody who has documents or tombstones, once, in a fixed order", async (kept) => {
    const [backend, maintenance] = [await kept.backend(), await kept.maintenance()];
    assertEquals(await Array.fromAsync(maintenance.users()), []);
    const names = [
      "alice",
      "alice:trip",
      "{",
      "}:documents",
      "%61lice",
      "🦊",
      "日".repeat(170),
      "e\u0301",
      "\u00e9",
      "*",
    ];
    for (let i = 0; i < 150; i++) names.push(`user ${i}`);
    for (const user of names) await mint(backend, { user, id: TRIP.id });
    await backend.remove({ user: "alice", id: TRIP.id }, removal());
    await backend.purge("*");
    const users = await Array.fromAsync(maintenance.users());
    assertEquals(users.toSorted(), names.filter((name) => name !== "*").toSorted());
    assertEquals(await Array.fromAsync(maintenance.users()), users);
  });

  contract("documents: come in the order of their last write, ended ones among them", async (kept) => {
    const [backend, maintenance] = [await kept.backend(), await kept.maintenance()];
    const heads = new Map<string, DocumentRecord>();
    for (let i = 0; i < 330; i++) {
      const key = { user: "alice", id: `trip_${i}` };
      heads.set(key.id, await mint(backend, key, { title: `Trip ${i}` }));
    }
    const head = await write(
      backend,
      { user: "alice", id: "trip_7" },
      (await find(backend, { user: "alice", id: "trip_7" })).head,
      ["[]"],
    );
    heads.delete("trip_7");
    heads.set("trip_7", head);
    await backend.remove({ user: "alice", id: "trip_9" }, removal());
    heads.delete("trip_9");
    await mint(backend, { user: "bob", id: "trip_1" });
    const records = await Array.fromAsync(maintenance.documents("alice"));
    const tombstone = records.pop();
    assertSame(records, [...heads.values()]);
    assert(tombstone !== undefined && "status" in tombstone && tombstone.status === "deleted");
    assertSame(await maintenance.document({ user: "alice", id: "trip_9" }), tombstone);
    assertSame(await maintenance.document({ user: "alice", id: "trip_7" }), head);
    assertEquals(await maintenance.document({ user: "carol", id: "trip_7" }), undefined);
    assertEquals(await Array.fromAsync(maintenance.documents("carol")), []);
  });

  contract("entries: keyframes and turns of a document come whole, ascending", async (kept) => {
    const store = await kept.store();
    const handle = await store.mint("log", { lines: [] }, { ...alice, turn: 2 });
    for (let i = 2; i <= 60; i++) {
      const pad = `${i}`.repeat(i === 30 ? 60_000 : 1_500);
      await store.patch(handle, [setKey("", `k${i % 4}`, pad), append("lines", i)], {
        ...alice,
        turn: 2 * Math.ceil(i / 3),
      });
    }
    const maintenance = await kept.maintenance();
    const key = { ...alice, id: handle };
    const head = await maintenance.document(key);
    assert(head !== undefined && "version" in head);
    const entries = (await Array.fromAsync(maintenance.entries(key))).map((entry) => {
      assert(!("unreadable" in entry));
      return entry;
    });
    assertEquals(entries.map(({ version }) => version), Array.from({ length: 60 }, (_, i) => i + 1));
    const { entries: read } = await find(await kept.backend(), key, { as: "head" }, { version: 0, writeId: "" });
    assertSame(entries, read);
    const keyframes = await Array.fromAsync(maintenance.keyframes(key));
    assert(
      keyframes.length > 2 && keyframes.every((frame) => !("unreadable" in frame) && frame.body.includes('"state"')),
    );
    assertEquals(
      keyframes.map(({ version }) => version),
      keyframes.map(({ version }) => version).toSorted((a, b) => Number(a) - Number(b)),
    );
    const turns = (await Array.fromAsync(maintenance.turns(key))).map((end) =>
      "turn" in end ? [end.turn, end.version] : []
    );
    assertEquals(turns, Array.from({ length: 20 }, (_, i) => [2 * (i + 1), 3 * (i + 1)]));
    assertEquals(await Array.fromAsync(maintenance.entries({ ...bob, id: handle })), []);
    assertEquals(await Array.fromAsync(maintenance.keyframes({ ...bob, id: handle })), []);
    assertEquals(await Array.fromAsync(maintenance.turns({ ...bob, id: handle })), []);
  });

  contract("faults: there are none in a store in use, while it is in use", async (kept) => {
    await fill(kept);
    const store = await kept.store({ retention: { versions: 4 } });
    await store.mint("trip", { city: "Odense" }, { user: "carol", requestId: "mint-1", ttlDays: 1 });
    await store.mint("trip", { city: "Odense" }, { user: "dave", requestId: "mint-1" });
    await store.purge("dave");
    const maintenance = await kept.maintenance();
    assertEquals(await Array.fromAsync(checkStore(maintenance)), []);
    let isDone = false;
    const busy = (async () => {
      for (let i = 0; !isDone; i++) {
        const user = `user ${i % 3}`;
        const handle = await store.mint("log", { pad: "p".repeat(9_000) }, { user, requestId: `mint ${i}`, turn: 1 });
        for (let j = 0; j < 12; j++) {
          await store.patch(handle, [setKey("", "pad", `${j}`.repeat(9_000))], { user, turn: j + 1 });
        }
        if (i % 2 === 0) await store.revoke(handle, { user });
        if (i % 7 === 6) await store.purge(user);
        await new Promise((resolve) => setTimeout(resolve));
      }
    })();
    try {
      for (let round = 0; round < 3; round++) assertEquals(await Array.fromAsync(checkStore(maintenance)), []);
    } finally {
      isDone = true;
      await busy;
    }
    assertEquals(await Array.fromAsync(checkStore(maintenance)), []);
  });

  contract("dispose: twice is fine", async (kept) => {
    const maintenance = await kept.maintenance();
    await maintenance[Symbol.asyncDispose]();
    await maintenance[Symbol.asyncDispose]();
  });
}
