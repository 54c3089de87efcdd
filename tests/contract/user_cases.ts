import { assertEquals } from "@std/assert";
import { AARHUS, assertSame, find, mint, removal, requestDraft, TRIP, write } from "./drafts.ts";
import type { Case } from "./target.ts";

/** Whatever an engine might use to put a key together. */
const NAMES = [
  "alice",
  "ALICE",
  "alice:trip",
  "alice:trip_copenhagen",
  "a/b",
  "a",
  "b/c",
  "../alice",
  "{alice}",
  "{",
  "}{",
  "%",
  "%61lice",
  "#",
  "#1",
  "🦊",
  "日".repeat(170),
  "e\u0301",
  "\u00e9",
  "index",
  "user",
  "*",
  "[a-z]*",
  "?",
  " alice",
  "alice\n",
  "\ufffd",
  "'; DROP TABLE handles; --",
  "__proto__",
];

export function userCases(contract: Case): void {
  contract("users: are all told, whatever their names, as long as something is left of them", async (backend) => {
    for (const user of NAMES) await mint(backend, { user, id: TRIP.id });
    await backend.remove({ user: NAMES[3], id: TRIP.id }, removal());
    await backend.purge(NAMES[5]);
    const told = new Set(await Array.fromAsync(backend.users()));
    assertEquals([...told].sort(), NAMES.toSpliced(5, 1).sort());
  });

  contract("users: with any names see nothing of each other", async (backend) => {
    for (const [i, user] of NAMES.entries()) {
      const head = await mint(backend, { user, id: TRIP.id }, { writer: user, title: user }, {
        request: requestDraft("mint-1"),
      });
      assertEquals([head.seq, head.title], [1, user]);
      if (i % 2 === 0) await write(backend, { user, id: TRIP.id }, head, [AARHUS]);
    }
    for (const [i, user] of NAMES.entries()) {
      const { head, entries } = await find(backend, { user, id: TRIP.id });
      assertEquals([head.version, head.writer], [i % 2 === 0 ? 2 : 1, i % 2 === 0 ? "laptop" : user]);
      assertEquals(entries.length, head.version);
      const page = await backend.list(user, { direction: "down", from: 99, limit: 9, tombstones: true });
      assertSame(page.documents, [head]);
    }
    for (const [i, user] of NAMES.entries()) {
      if (i % 3 === 0) assertEquals(await backend.purge(user), 1);
      if (i % 3 === 1) assertEquals((await backend.remove({ user, id: TRIP.id }, removal())).outcome, "removed");
    }
    for (const [i, user] of NAMES.entries()) {
      const { outcome } = await backend.read({ user, id: TRIP.id }, { as: "head" });
      assertEquals(outcome, ["absent", "gone", "found"][i % 3], user);
      assertEquals((await backend.findRequest(user, "mint-1"))?.version, i % 3 === 0 ? undefined : 1);
    }
  });

  contract("documents: with any ids see nothing of each other", async (backend) => {
    const ids = [...NAMES, "x".repeat(1024), `${"x".repeat(1023)}y`];
    for (const [i, id] of ids.entries()) {
      const head = await mint(backend, { user: "日".repeat(170), id }, { title: `Trip ${i}` });
      if (i % 2 === 0) await write(backend, { user: "日".repeat(170), id }, head, [AARHUS], { turn: i + 1 });
    }
    for (const [i, id] of ids.entries()) {
      const { head, entries } = await find(backend, { user: "日".repeat(170), id }, { as: "turn", turn: 99 });
      assertEquals([head.id, head.title, head.version], [id, `Trip ${i}`, i % 2 === 0 ? 2 : 1]);
      assertEquals(entries.length, head.version);
    }
    const range = { direction: "up", from: 0, limit: 99, tombstones: false } as const;
    const page = await backend.list("日".repeat(170), range);
    assertEquals(page.documents.map(({ id }) => id).sort(), ids.toSorted());
  });
}
