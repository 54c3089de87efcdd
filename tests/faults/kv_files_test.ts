import { assert, assertEquals, assertRejects } from "@std/assert";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openKvBackend } from "../../src/backends/kv.ts";
import { openSqliteBackend } from "../../src/backends/sqlite.ts";
import { BackendError } from "../../src/document/errors.ts";
import { AARHUS, appendAfter, expected, find, HEAD, mint, TRIP, write } from "../contract/drafts.ts";
import { assertSound, KvSite } from "./kv_site.ts";
import { startProcess } from "./processes.ts";

Deno.test("kv: a file that is no Deno KV database is refused and left as it is", async () => {
  await using site = new KvSite();
  const files: Record<string, (path: string) => unknown> = {
    "text": (path) => Deno.writeTextFile(path, "Copenhagen, Aarhus, Odense. ".repeat(200)),
    "python": (path) => {
      using database = new DatabaseSync(path);
      database.exec("CREATE TABLE handles (handle TEXT PRIMARY KEY, state TEXT)");
    },
    "sqlite": async (path) => {
      await using backend = await openSqliteBackend({ path });
      await mint(backend, TRIP);
    },
    "truncated": async (path) => {
      {
        await using backend = await openKvBackend({ path });
        await mint(backend, TRIP);
      }
      await Deno.truncate(path, 1_000);
    },
  };
  for (const [name, make] of Object.entries(files)) {
    const path = join(site.directory, name);
    await make(path);
    const before = await Deno.readFile(path);
    const error = await assertRejects(() => openKvBackend({ path }), BackendError);
    assert(!error.message.includes(site.directory), error.message);
    assertEquals([error.busy, error.outcomeUnknown], [false, false]);
    assertEquals(await Deno.readFile(path), before, name);
  }
});

Deno.test("kv: a database of a later format is refused and left as it is", async () => {
  await using site = new KvSite();
  {
    using kv = await Deno.openKv(site.path);
    await kv.set(["mcpstate", "format"], 2);
  }
  const error = await assertRejects(() => site.backend(), BackendError, "format 2");
  assert(!error.message.includes(site.directory));
  assertEquals((await site.records()).map(({ key, value }) => [key, value]), [[["format"], 2]]);
});

Deno.test("kv: a path that cannot be is a backend error without the path", async () => {
  await using site = new KvSite();
  await Deno.writeTextFile(site.path, "");
  for (const path of [site.directory, join(site.path, "below", "state.kv")]) {
    const error = await assertRejects(() => openKvBackend({ path }), BackendError);
    assert(!error.message.includes(site.directory), error.message);
  }
});

Deno.test("kv: busy is an answer, and the same process reads and writes on afterwards", async () => {
  await using site = new KvSite();
  const backend = await site.backend({ maxContentionMs: 50 });
  const head = await mint(backend, TRIP);
  {
    using holder = new DatabaseSync(site.path);
    holder.exec("BEGIN IMMEDIATE");
    const error = await assertRejects(() => write(backend, TRIP, head, [AARHUS]), BackendError);
    assertEquals([error.busy, error.outcomeUnknown, error.message.includes(site.directory)], [true, false, false]);
    assertEquals((await find(backend, TRIP)).head, head);
    holder.exec("ROLLBACK");
  }
  assertEquals((await write(backend, TRIP, head, [AARHUS])).version, 2);
  assertEquals((await find(backend, TRIP)).entries.length, 2);
  assertSound(await site.records());
});

Deno.test("kv: a write that the file system cuts off leaves the old version whole, and says whether it may have landed", async () => {
  await using site = new KvSite();
  const backend = await site.backend();
  let head = await mint(backend, TRIP);
  const unknown = new Set<boolean | undefined>();
  // A limit on the size of files is as good as a full disk, and needs neither a disk nor root. In blocks of 512 bytes.
  for (const blocks of [2_500, 7_500, 10_000]) {
    await using process = await startProcess(site.url, ["die", TRIP.id, "x", `${3 * 1024 * 1024}`, "99", "after"], {
      limits: `trap '' XFSZ; ulimit -f ${blocks}`,
    });
    const [answer] = await process.rest();
    const { head: now } = await find(backend, TRIP);
    if (now.version === head.version) assertEquals(answer.failed, "backend_error");
    else assert(answer.item === "appended" || answer.unknown);
    if (answer.failed !== undefined) unknown.add(answer.unknown);
    head = await write(backend, TRIP, now, [AARHUS]);
    await site.sweepLater();
    assertSound(await site.records());
  }
  assert(unknown.has(false), "some failed before anything of the write could be seen");
});

Deno.test("kv: what is under way when the backend is closed lands whole or not at all, and is answered", async () => {
  await using site = new KvSite();
  for (let round = 0; round < 10; round++) {
    const key = { user: "alice", id: `trip_${round}` };
    const backend = await site.backend();
    const head = await mint(backend, key);
    const writes = [backend, backend, backend].map((each, i) =>
      each.append(key, { ...expected(head), version: head.version + i }, appendAfter(head, [AARHUS]))
    );
    const settled = Promise.allSettled(writes);
    await backend[Symbol.asyncDispose]();
    for (const each of await settled) {
      assert(each.status === "fulfilled" || each.reason instanceof BackendError);
    }
    await assertRejects(() => backend.read(key, HEAD), BackendError, "closed");
  }
  assertSound(await site.records());
});

Deno.test("kv: closing a database that its owner has closed already is fine", async () => {
  const kv = await Deno.openKv(":memory:");
  const backend = await openKvBackend({ kv });
  kv.close();
  const error = await assertRejects(() => backend.read(TRIP, HEAD), BackendError, "closed");
  assertEquals(error.outcomeUnknown, false);
  await backend[Symbol.asyncDispose]();
  await backend[Symbol.asyncDispose]();
});
