import { DatabaseSync } from "node:sqlite";
import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Head } from "../../src/backends/records.ts";
import { openSqliteBackend } from "../../src/backends/sqlite.ts";
import type { SqliteDatabase } from "../../src/backends/sqlite/driver.ts";
import { BackendError } from "../../src/document/errors.ts";
import { AARHUS, appendAfter, expected, HEAD, mint } from "../contract/drafts.ts";
import { Site } from "../store/raw.ts";

const DAYS = ["mon", "tue", "wed"].map((day) => ({ user: "alice", id: `trip_${day}` }));

/** A database that counts its commits. */
function counted(): { readonly database: SqliteDatabase; commits(): number } {
  const real = new DatabaseSync(":memory:");
  let commits = 0;
  const database: SqliteDatabase = {
    exec: (sql) => real.exec(sql),
    prepare(sql) {
      const statement = real.prepare(sql);
      return {
        get: (...parameters) => statement.get(...parameters),
        all: (...parameters) => statement.all(...parameters),
        run(...parameters) {
          if (sql === "COMMIT") commits++;
          return statement.run(...parameters);
        },
      };
    },
    close: () => real.close(),
  };
  return { database, commits: () => commits };
}

Deno.test("append: of several documents in one turn is one transaction, and each has its own outcome", async () => {
  const { database, commits } = counted();
  await using backend = await openSqliteBackend({ database });
  const heads: Head[] = [];
  for (const key of DAYS) heads.push(await mint(backend, key));
  await backend.append(DAYS[1], expected(heads[1]), appendAfter(heads[1], [AARHUS]));
  const before = commits();
  const answers = await Promise.all(DAYS.map((key, i) => {
    return backend.append(key, expected(heads[i]), appendAfter(heads[i], [AARHUS]));
  }));
  assertEquals(commits() - before, 1);
  assertEquals(answers.map(({ outcome }) => outcome), ["appended", "lost", "appended"]);
});

Deno.test("append: beside one whose document is damaged lands, and only that one fails", async () => {
  await using site = new Site();
  const backend = await site.backend();
  const heads: Head[] = [];
  for (const key of DAYS) heads.push(await mint(backend, key));
  site.run("UPDATE mcpstate_document SET kind = x'00' WHERE id = ?", DAYS[1].id);
  const answers = await Promise.allSettled(DAYS.map((key, i) => {
    return backend.append(key, expected(heads[i]), appendAfter(heads[i], [AARHUS]));
  }));
  assertEquals(answers.map(({ status }) => status), ["fulfilled", "rejected", "fulfilled"]);
  const [, damaged] = answers;
  assert(damaged.status === "rejected" && damaged.reason instanceof BackendError && !damaged.reason.outcomeUnknown);
  for (const key of [DAYS[0], DAYS[2]]) {
    const found = await backend.read(key, HEAD);
    assert(found.outcome === "found");
    assertEquals([found.head.version, found.entries.length], [2, 2]);
  }
});

Deno.test("append: that was begun before the end is done, and none after it", async () => {
  await using site = new Site();
  const backend = await site.backend();
  const head = await mint(backend, DAYS[0]);
  const begun = backend.append(DAYS[0], expected(head), appendAfter(head, [AARHUS]));
  await backend[Symbol.asyncDispose]();
  assertEquals((await begun).outcome, "appended");
  await assertRejects(() => backend.append(DAYS[0], expected(head), appendAfter(head, [AARHUS])), BackendError);
  assertEquals(site.number("SELECT version FROM mcpstate_document"), 2);
});
