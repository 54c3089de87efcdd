import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { openSqliteBackend } from "../../src/backends/sqlite.ts";
import { BackendError } from "../../src/document/errors.ts";
import { append } from "../../src/document/ops.ts";
import { HandleStore } from "../../src/store/store.ts";
import { Site } from "../store/raw.ts";
import { startProcess } from "./processes.ts";

const alice = { user: "alice" };

/** Everything in a directory, by name. */
async function contents(directory: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for await (const { name } of Deno.readDir(directory)) {
    const digest = await crypto.subtle.digest("SHA-256", await Deno.readFile(join(directory, name)));
    files[name] = new Uint8Array(digest).toHex();
  }
  return files;
}

/** Asserts that opening, or else the first use, fails without a path in its message. */
async function assertRefused(site: Site, path = site.path, includes = ""): Promise<void> {
  const error = await assertRejects(
    async () => {
      await using store = new HandleStore(await openSqliteBackend({ path }));
      const { handles } = await store.list("alice");
      for (const { handle } of handles) await store.get(handle, alice);
      for (const { handle } of handles) await store.patch(handle, [append("items", "x")], alice);
      throw new Error(`it was taken for a database of ours, with ${handles.length} handles`);
    },
    BackendError,
    includes,
  );
  const payload = JSON.stringify(error.toPayload());
  assert(!payload.includes(site.directory) && !payload.includes("state.db"), payload);
}

/** A database with some documents, closed. */
async function filled(): Promise<Site> {
  const site = new Site();
  await using store = await site.store();
  for (let i = 0; i < 20; i++) {
    const handle = await store.mint("cart", { items: ["i".repeat(5_000)] }, alice);
    await store.patch(handle, [append("items", i)], alice);
  }
  return site;
}

Deno.test("open: refuses a file that is no database, and leaves it as it is", async () => {
  const files = [
    "not a database at all",
    "x".repeat(100_000),
    "SQLite format 3",
    `SQLite format 3\0${"\xff".repeat(8_000)}`,
  ];
  for (const text of files) {
    await using site = new Site();
    await Deno.writeTextFile(site.path, text);
    const before = await contents(site.directory);
    await assertRefused(site);
    assertEquals(await contents(site.directory), before);
  }
});

Deno.test("open: refuses a garbled or truncated database, and overwrites nothing", async () => {
  const damages: ((bytes: Uint8Array) => Uint8Array)[] = [
    (bytes) => bytes.subarray(0, 50),
    (bytes) => bytes.subarray(0, 4_096),
    (bytes) => bytes.subarray(0, bytes.length / 2),
    (bytes) => bytes.map((byte, i) => i < 16 ? byte ^ 0x55 : byte),
    (bytes) => bytes.map((byte, i) => i > 100 && i < 5_000 ? byte ^ 0xaa : byte),
    (bytes) => bytes.map((byte, i) => i > 8_000 ? byte ^ 0xaa : byte),
  ];
  for (const [i, damage] of damages.entries()) {
    await using site = await filled();
    await Deno.writeFile(site.path, damage(await Deno.readFile(site.path)));
    const before = await Deno.readFile(site.path);
    await assertRefused(site);
    assertEquals(await Deno.readFile(site.path), before, `damage ${i}`);
  }
});

Deno.test("open: refuses the database of another program, and a newer one of ours", async () => {
  for (
    const sql of [
      "CREATE TABLE bookmarks (url TEXT)",
      "CREATE TABLE handles (user TEXT); CREATE TABLE other (n INTEGER)",
      "CREATE TABLE mcpstate_meta (name TEXT PRIMARY KEY, value TEXT); INSERT INTO mcpstate_meta VALUES ('schema', '2')",
      "CREATE TABLE mcpstate_meta (name TEXT PRIMARY KEY, value TEXT)",
    ]
  ) {
    await using site = new Site();
    const database = new DatabaseSync(site.path);
    database.exec(sql);
    database.close();
    const schema = site.rows("SELECT * FROM sqlite_schema");
    await assertRefused(site, site.path, "Nothing was changed");
    assertEquals(site.rows("SELECT * FROM sqlite_schema"), schema);
  }
});

Deno.test("open: says so where no file can be made", async () => {
  await using site = new Site();
  await Deno.writeTextFile(join(site.directory, "file"), "");
  await Deno.mkdir(join(site.directory, "directory"));
  const paths = [
    join(site.directory, "file", "state.db"),
    join(site.directory, "directory"),
    "/proc/mcpstate/state.db",
  ];
  for (const path of paths) await assertRefused(site, path);
  const long = join(site.directory, "d".repeat(300), "state.db");
  await assertRefused(site, long);
});

Deno.test("open: without permission says so, and names no path", async () => {
  await using site = await filled();
  const before = await contents(site.directory);
  for (const permissions of [[], [`--allow-read=${site.directory}`], [`--allow-write=${site.directory}`]]) {
    await using process = await startProcess(site.url, ["open"], { permissions });
    await process.next();
    await process.go();
    const [answer] = await process.rest();
    assertEquals([answer.failed, answer.busy], ["backend_error", false]);
    assertEquals(answer.message, "Deno was not given permission to read and write the database.");
  }
  assertEquals(await contents(site.directory), before);
});

Deno.test("open: of a database that is read-only reads and refuses to write", async () => {
  await using site = await filled();
  const database = new DatabaseSync(site.path, { readOnly: true });
  await using store = new HandleStore(await openSqliteBackend({ database }));
  const { handles } = await store.list("alice");
  assertEquals(handles.length, 20);
  const before = await store.get(handles[0].handle, alice);
  const error = await assertRejects(() => store.patch(handles[0].handle, [append("items", 1)], alice), BackendError);
  assertEquals([error.busy, error.message.includes("read-only")], [false, true]);
  await assertRejects(() => store.mint("cart", {}, alice), BackendError, "read-only");
  assertEquals(await store.get(handles[0].handle, alice), before);
});

Deno.test("write: on a full disk changes nothing, and goes on when there is room", async () => {
  await using site = new Site();
  const database = new DatabaseSync(site.path);
  await using store = new HandleStore(await openSqliteBackend({ database }));
  const handle = await store.mint("cart", { items: [] }, { ...alice, ttlDays: 1 });
  const pages = Number(database.prepare("PRAGMA page_count").get()?.page_count);
  database.exec(`PRAGMA max_page_count = ${pages + 40}`);
  let landed = 0;
  const error = await assertRejects(async () => {
    for (;; landed++) {
      await store.patch(handle, [append("items", `${landed}`.padEnd(9_000, "."))], {
        ...alice,
        requestId: `${landed}`,
      });
    }
  }, BackendError);
  assertEquals([error.message.includes("full"), error.busy, error.outcomeUnknown], [true, false, false]);
  assert(!error.message.includes(site.directory));
  await assertRejects(() => store.mint("cart", { notes: "n".repeat(200_000) }, alice), BackendError, "full");
  const full = await store.get(handle, alice);
  assertEquals([full.version, (full.state.items as string[]).length], [landed + 1, landed]);
  assertEquals(site.number("SELECT count(*) FROM mcpstate_request"), landed);
  await using other = await site.store();
  assertEquals(await other.get(handle, alice), full);
  assertEquals((await store.list("alice")).handles.length, 1);
  database.exec("PRAGMA max_page_count = 100000");
  const next = await store.patch(handle, [append("items", "more")], { ...alice, requestId: `${landed}` });
  assertEquals([next.version, next.replayed], [landed + 2, undefined]);
  assertEquals(await store.revoke(handle, alice), { handle, version: landed + 2 });
});

Deno.test("write: that the file system cuts off loses nothing that was acknowledged", async () => {
  await using site = new Site();
  let handle: string;
  {
    await using store = await site.store();
    handle = await store.mint("cart", { items: [] }, alice);
  }
  // A limit on the size of files is as good as a full disk, and needs neither a disk nor root.
  await using process = await startProcess(site.url, ["append", handle, "phone", "400", "9000"], {
    limits: "trap '' XFSZ; ulimit -f 600",
  });
  assertEquals(await process.next(), { ready: true });
  await process.go();
  const answers = await process.rest();
  const landed = answers.filter(({ failed }) => failed === undefined);
  const failed = answers.filter(({ failed }) => failed !== undefined);
  assert(landed.length > 0 && failed.length > 0, `${landed.length} landed, ${failed.length} failed`);
  for (const { failed: code, message = "" } of failed) {
    assertEquals([code, message.includes(site.directory)], ["backend_error", false]);
  }
  await using store = await site.store();
  const { state } = await store.get(handle, alice);
  const items = state.items as string[];
  for (const { item = "", version = 0 } of landed) assertEquals(items[version - 2], item);
  assertEquals(site.rows("PRAGMA integrity_check"), [{ integrity_check: "ok" }]);
  await store.patch(handle, [append("items", "room again")], alice);
});
