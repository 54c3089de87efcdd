import { assertEquals, assertObjectMatch, assertRejects } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { checkStore } from "../../src/admin/doctor.ts";
import { importLines } from "../../src/admin/import.ts";
import { readPythonDatabase } from "../../src/admin/python.ts";
import { BackendError, HandleExpired } from "../../src/document/errors.ts";
import { setKey } from "../../src/document/ops.ts";
import { AdminSite, alice } from "./site.ts";

const TABLE =
  "CREATE TABLE handles (user TEXT NOT NULL, handle TEXT NOT NULL, kind TEXT NOT NULL, state TEXT NOT NULL, " +
  "version INTEGER NOT NULL, created_at REAL NOT NULL, updated_at REAL NOT NULL, expires_at REAL, last_writer TEXT, " +
  "PRIMARY KEY (user, handle))";

type Row = readonly (string | number | bigint | null | Uint8Array)[];

/** As Python wrote it: times are seconds, with a fraction. */
function row(
  handle: string,
  more: Partial<
    Record<"user" | "kind" | "state" | "version" | "created" | "updated" | "expires" | "writer", Row[number]>
  > = {},
): Row {
  const { user = "alice", kind = "trip", state = '{"city": "Copenhagen"}', version = 1 } = more;
  const { created = 1785229800.1234567, updated = 1785229861.5, expires = null, writer = "claude-desktop" } = more;
  return [user, handle, kind, state, version, created, updated, expires, writer];
}

/** Puts a database of the Python package into a file, and leaves it closed. */
function python(path: string, rows: readonly Row[]): void {
  using database = new DatabaseSync(path);
  database.exec(`PRAGMA journal_mode = WAL; ${TABLE}`);
  const insert = database.prepare("INSERT INTO handles VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (const each of rows) insert.run(...each);
}

const SCHEMA = "SELECT type, name, sql FROM sqlite_schema WHERE tbl_name = 'handles' ORDER BY name";
const ROWS =
  "SELECT user, handle, kind, state, CAST(version AS TEXT), created_at, updated_at, expires_at, last_writer FROM handles ORDER BY rowid";

Deno.test("python: its documents come in with kinds, versions, times, expiries and writers", async () => {
  await using site = new AdminSite();
  const soon = Date.now() / 1000 + 86_400;
  python(site.path, [
    row("trip_aaaaaaaa", { updated: 1785229862 }),
    row("trip_bbbbbbbb", {
      version: 7,
      state: '{"city": "\\u00c5rhus", "stops": [1.0, 1e3, -0.0, null]}',
      writer: null,
    }),
    row("cart_cccccccc", {
      user: "bob",
      kind: "cart",
      expires: soon,
      created: soon - 7 * 86_400,
      updated: soon - 86_400 * 2,
    }),
    row("trip_dddddddd", { expires: 1785229900.25 }),
  ]);
  const before = [site.rows(SCHEMA), site.rows(ROWS)];
  const target = await site.maintenance(); // our tables, in the very same file
  const report = await importLines(readPythonDatabase(site.path), target);
  assertEquals(report, { adopted: 4, existing: 0, ended: 0, tombstones: 0, refused: [], isComplete: true });
  assertEquals([site.rows(SCHEMA), site.rows(ROWS)], before);

  const store = await site.store();
  assertObjectMatch(await store.get("trip_bbbbbbbb", alice), {
    handle: "trip_bbbbbbbb",
    kind: "trip",
    version: 7,
    createdAt: "2026-07-28T09:10:00.123Z",
    updatedAt: "2026-07-28T09:11:01.500Z",
    lastWriter: "unknown",
    turn: 0,
    bytes: 41,
    currentVersion: 7,
    oldestVersion: 7,
    state: { city: "Århus", stops: [1, 1000, 0, null] },
  });
  const cart = await store.get("cart_cccccccc", { user: "bob" });
  assertEquals([cart.kind, cart.ttlDays, cart.lastWriter], ["cart", 7, "claude-desktop"]);
  assertEquals(cart.expiresAt, new Date(Math.round(soon * 1000)).toISOString());
  const expired = await assertRejects(() => store.get("trip_dddddddd", alice), HandleExpired);
  assertEquals(expired.expiredAt, "2026-07-28T09:11:40.250Z");
  assertEquals((await store.list("alice")).handles.map(({ handle }) => handle), ["trip_aaaaaaaa", "trip_bbbbbbbb"]);

  assertEquals((await store.patch("trip_bbbbbbbb", [setKey("", "days", 3)], alice)).version, 8);
  assertEquals((await store.get("trip_bbbbbbbb", { ...alice, version: 7 })).state.city, "Århus");
  const pruned = await store.get("trip_bbbbbbbb", { ...alice, version: 6 }).catch((error) => error.toPayload());
  assertEquals([pruned.code, pruned.retained], ["version_pruned", { from: 7, to: 8 }]);
  const again = await importLines(readPythonDatabase(site.path), target);
  assertEquals([again.adopted, again.existing, again.ended], [0, 3, 1]);
  assertEquals([site.rows(SCHEMA), site.rows(ROWS)], before);
  assertEquals(await Array.fromAsync(checkStore(target)), []);
});

Deno.test("python: rows that are no documents here are refused with the reason, and not altered", async () => {
  await using site = new AdminSite();
  const cases: readonly (readonly [Parameters<typeof row>[1], string])[] = [
    [{ state: '{"n": NaN}' }, "state is not JSON: NaN and Infinity"],
    [{ state: '{"n": -Infinity}' }, "state is not JSON: NaN and Infinity"],
    [{ state: '{"n": 9007199254740993}' }, "integer beyond 2^53"],
    [{ state: '{"n": -100000000000000000000000000}' }, "integer beyond 2^53"],
    [{ state: '{"n": 1e+17}' }, "integer beyond 2^53"],
    [{ state: '{"text": "\\ud800"}' }, "lone surrogate"],
    [{ state: "[1]" }, "must be a JSON object"],
    [{ state: new Uint8Array([123, 125]) }, "state must be a text"],
    [{ state: `{"a": ${"[".repeat(50_000)}${"]".repeat(50_000)}}` }, "nested more than 100 levels"],
    [{ state: JSON.stringify({ text: "t".repeat(1024 * 1024) }) }, "more than the limit"],
    [{ kind: "Trip" }, "kind must be"],
    [{ kind: "trip\n" }, "kind must be"],
    [{ user: " " }, "user is blank"],
    [{ version: 0 }, "version must be a whole number"],
    [{ version: 2n ** 60n }, "version must be a whole number"],
    [{ writer: "w".repeat(257) }, "writer is longer"],
    [{ created: "yesterday" }, "created_at must be a time"],
    [{ updated: 1e300 }, "updated_at must be a time"],
    [{ expires: 1785229800.1 }, "ttl_days must be"],
    [{ expires: 9_000_000_000 }, "ttl_days must be"],
  ];
  python(site.path, [
    row("trip_aaaaaaaa"),
    ...cases.map(([more], i) => row(`trip_${i}`, more)),
    row("trip_digits", {
      state: '{"text": "12345678901234567890 \\" 12345678901234567890", "n": 12345.678901234567890}',
    }),
    row("trip_zzzzzzzz", { updated: 1785229000 }), // its clock went back
  ]);
  const before = [site.rows(SCHEMA), site.rows(ROWS)];
  const report = await importLines(readPythonDatabase(site.path), await site.maintenance());
  assertEquals([report.adopted, report.isComplete], [3, true], JSON.stringify(report));
  for (const [i, [_, reason]] of cases.entries()) {
    const refusal = report.refused.find(({ id }) => id === `trip_${i}`);
    assertEquals(refusal?.reason.includes(reason), true, `row ${i}: ${refusal?.reason}`);
  }
  assertEquals(report.refused.length, cases.length);
  assertEquals([site.rows(SCHEMA), site.rows(ROWS)], before);
});

Deno.test("python: more rows than are fetched at once come each once, also where times are equal", async () => {
  await using site = new AdminSite();
  await using to = new AdminSite();
  const rows = Array.from({ length: 1_100 }, (_, i) => row(`trip_${i}`, { updated: 1785229861 + Math.floor(i / 100) }));
  python(site.path, rows);
  const report = await importLines(readPythonDatabase(site.path), await to.maintenance());
  assertEquals([report.adopted, report.existing, report.isComplete], [1_100, 0, true]);
});

Deno.test("python: a file that is missing, garbled or of another kind is named as such, and not made", async () => {
  await using site = new AdminSite();
  const read = () => Array.fromAsync(readPythonDatabase(site.path));
  await assertRejects(read, BackendError, "could not be read");
  await assertRejects(() => Deno.stat(site.path), Deno.errors.NotFound);
  await (await site.store()).mint("trip", {}, alice);
  await assertRejects(read, BackendError, "no table of the Python package");
  await Deno.writeTextFile(`${site.directory}/garbled.db`, "garbled ".repeat(1_000));
  await assertRejects(
    () => Array.fromAsync(readPythonDatabase(`${site.directory}/garbled.db`)),
    BackendError,
    "could not be read",
  );
});
