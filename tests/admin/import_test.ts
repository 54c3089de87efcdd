import { assert, assertEquals, assertRejects } from "@std/assert";
import { KEYFRAME_FORMAT } from "../../src/document/keyframe.ts";
import { documentLines, endLine, headerLine } from "../../src/admin/format.ts";
import { importLines, type ImportProgress } from "../../src/admin/import.ts";
import { BackendError, InvalidInput } from "../../src/document/errors.ts";
import { relay } from "../../src/document/relay.ts";
import { AdminSite, adoption, alice, asLines, bob, exported, fill, forward } from "./site.ts";

const encoder = new TextEncoder();

/** The lines of a document with one version. */
function document(id: string, state: Record<string, unknown>): readonly string[] {
  const { head, entries } = adoption(id, state);
  return documentLines("alice", { head, entries, folded: relay(entries).folded });
}

/** A whole export of documents. */
function wrap(...documents: readonly (readonly string[])[]): string[] {
  return [headerLine(0), ...documents.flat(), endLine({ documents: documents.length, tombstones: 0, unreadable: 0 })];
}

/** An object with fields of its own in the place of some of a line's. */
function edit(line: string, fields: Record<string, unknown>): string {
  return JSON.stringify({ ...JSON.parse(line), ...fields });
}

function nested(depth: number): Record<string, unknown> {
  let state: Record<string, unknown> = {};
  for (let i = 1; i < depth; i++) state = { down: state };
  return state;
}

/** Imports into an empty store. */
async function imported(lines: Iterable<string>, options: { maxStateBytes?: number } = {}) {
  await using site = new AdminSite();
  return await importLines(asLines(lines), await site.maintenance(), options);
}

const GOOD = document("trip_aaaaaaaa", { city: "Copenhagen" });

Deno.test("import: refuses a state one byte over the limit, and takes one at it", async () => {
  const text = "æ".repeat(50);
  const limit = encoder.encode(JSON.stringify({ text })).length;
  const over = document("trip_over", { text: `${text}x` });
  const report = await imported(wrap(GOOD, over, document("trip_at", { text })), { maxStateBytes: limit });
  assertEquals(report, {
    adopted: 2,
    existing: 0,
    ended: 0,
    tombstones: 0,
    refused: [{
      user: "alice",
      id: "trip_over",
      line: 5,
      reason:
        `The state would be ${limit + 1} bytes of JSON, 1 more than the limit of ${limit}. Nothing was changed. ` +
        "Move part of it to another handle, or keep only what is needed.",
    }],
    isComplete: true,
  });
});

Deno.test("import: takes a state 100 levels deep and refuses 101, in states, patches and keyframes", async () => {
  const [head, entry] = document("trip_deep", nested(100));
  assertEquals((await imported(wrap([head, entry]))).refused, []);
  const deeper = [head, edit(entry, { body: nested(101) })];
  const operation = { op: "add", path: "/a/b", value: nested(99) };
  const patched = [
    edit(head, { version: 2 }),
    edit(entry, { body: { a: {} } }),
    edit(entry, { version: 2, body: [operation] }),
  ];
  const keyframe = {
    type: "keyframe",
    version: 1,
    write_id: "w",
    bytes: 2,
    body: { format: KEYFRAME_FORMAT, keys: {}, state: nested(101) },
  };
  const bottomless = entry.replace(/"body":.*$/, `"body":${'{"down":'.repeat(100_000)}1${"}".repeat(100_000)}}`);
  for (const lines of [deeper, patched, [head, JSON.stringify(keyframe)], [head, bottomless]]) {
    const { adopted, refused } = await imported(wrap(lines, GOOD));
    assertEquals([adopted, refused.length], [1, 1]);
    assert(refused[0].reason.includes("nested more than 100 levels"), refused[0].reason);
  }
});

Deno.test("import: refuses a tampered document with the line at fault, while others land", async () => {
  const [head, entry] = document("trip_b", { city: "Aarhus", n: 1 });
  const second = { op: "replace", path: "/n", value: 2 };
  const long = edit(head, { version: 2 });
  const cases: readonly (readonly [lines: readonly string[], line: number, reason: string])[] = [
    [[head, edit(entry, { body: { city: "Odense", n: 1 } })], 5, "its SHA-256 differs"],
    [[edit(head, { sha256: "0".repeat(64) }), entry], 5, "its SHA-256 differs"],
    [[edit(head, { bytes: 24 }), entry], 5, "has 23 bytes, not 24"],
    [[edit(head, { updated_at: "2026-07-28T09:30:00.124Z" }), entry], 5, "updated_at is not when"],
    [[edit(head, { created_at: "2026-07-28T09:30:00.124Z" }), entry], 4, "updated_at is before created_at"],
    [[edit(head, { created_at: "2026-07-28" }), entry], 4, "created_at must be a time such as"],
    [[edit(head, { kind: "Trip" }), entry], 4, "kind must be"],
    [[edit(head, { user: " " }), entry], 4, "user is blank"],
    [[edit(head, { title: "a\0" }), entry], 4, "NUL"],
    [[edit(head, { ttl_days: 36_526, expires_at: "2026-08-28T09:30:00.000Z" }), entry], 4, "ttl_days must be"],
    [[edit(head, { ttl_days: 7 }), entry], 4, "ttl_days is set, but not expires_at"],
    [[edit(head, { first_turn: 1 }), entry], 4, "first_turn 1 does not go with turn 0"],
    [[edit(head, { oldest: 2 }), entry], 4, "oldest is 2, beyond version 1"],
    [[edit(head, { colour: "red" }), entry], 4, '"colour", which is unknown'],
    [[head, edit(entry, { writer: "" })], 5, "writer is empty"],
    [[head, edit(entry, { write_id: 7 })], 5, "write_id must be a text"],
    [[head, edit(entry, { turn: 3 })], 5, "turn 3, which goes back or was never"],
    [[head, edit(entry, { version: 2 })], 5, "Entry 1 is missing: found 2"],
    [[head, edit(entry, { body: "text" })], 5, "must be a JSON object"],
    [[head, edit(entry, { body: { n: 2 ** 53 } })], 5, "beyond 2^53"],
    [[head, entry.replace('"n":1', '"n":NaN')], 5, "not JSON"],
    [[head, entry.replace('"n":1', '"__proto__":1')], 5, "__proto__"],
    [[long, entry, edit(entry, { version: 3 })], 6, "Entry 2 is missing: found 3"],
    [[long, entry, edit(entry, { version: 2, at: "2026-07-28T09:30:00.122Z" })], 6, "older than what is before it"],
    [[long, entry, edit(entry, { version: 2, body: [{ ...second, path: "/m" }] })], 6, "does not fit the state"],
    [[long, entry, edit(entry, { version: 2, body: [{ ...second, op: "move" }] })], 6, "no JSON Patch"],
    [[long, entry, edit(entry, { version: 2, body: [{ ...second, path: "n" }] })], 6, "no JSON Pointer"],
    [
      [long, entry, edit(entry, { version: 2, body: [{ ...second, op: "add", path: "/__proto__" }] })],
      6,
      "a key named",
    ],
    [[long, entry, edit(entry, { version: 2, body: [{ ...second, from: "/m" }] })], 6, 'a field "from"'],
    [[long, entry, edit(entry, { version: 2, body: [{ op: "replace", path: "", value: [] }] })], 6, "not an object"],
    [[long, entry], 4, "fewer entries than its head says"],
    [[head, edit(entry, { version: 1, body: [second] })], 5, "does not fit the state"],
  ];
  for (const [lines, line, reason] of cases) {
    const { adopted, refused, isComplete } = await imported(wrap(GOOD, lines, document("trip_c", {})));
    assertEquals([adopted, refused.length, isComplete], [2, 1, true], `${reason}: ${JSON.stringify(refused)}`);
    assertEquals([refused[0].line, refused[0].id], [line, "trip_b"], reason);
    assert(refused[0].reason.includes(reason), `${reason}: ${refused[0].reason}`);
  }
});

Deno.test("import: refuses what is wrong with a pruned past", async () => {
  await using site = new AdminSite();
  const { log } = await fill(site);
  const lines = await exported(await site.maintenance(), "alice");
  const start = lines.findIndex((line) => JSON.parse(line).id === log);
  const keyframe = JSON.parse(lines[start + 1]);
  const { keys } = keyframe.body;
  const [row, ...rows] = keys.rows;
  const damages: readonly (readonly [number, string | undefined, string])[] = [
    [1, undefined, "Entry 1 is missing"],
    [1, edit(lines[start + 1], { body: { ...keyframe.body, format: 1 } }), `not of format ${KEYFRAME_FORMAT}`],
    [1, edit(lines[start + 1], { bytes: 1_000_000 }), "bytes, not 1000000"],
    [1, edit(lines[start + 1], { version: 17 }), "beyond the oldest, 16"],
    [
      1,
      edit(lines[start + 1], { body: { ...keyframe.body, keys: { ...keys, runs: [] } } }),
      "history of keys is damaged",
    ],
    [
      1,
      edit(lines[start + 1], { body: { ...keyframe.body, keys: { ...keys, rows: [[0, ...row.slice(1)], ...rows] } } }),
      "history of keys is damaged",
    ],
    [
      1,
      edit(lines[start + 1], {
        body: { ...keyframe.body, keys: { ...keys, rows: [[...row.slice(0, 8), [1, 99, 1]], ...rows] } },
      }),
      "history of keys is damaged",
    ],
    [2, edit(lines[start + 2], { write_id: "another" }), "not the one that the keyframe is of"],
    [2, undefined, "is missing: found"],
  ];
  for (const [at, line, reason] of damages) {
    const damaged = lines.flatMap((each, i) => i === start + at ? line ?? [] : each);
    const { refused, isComplete } = await imported(damaged);
    assertEquals([refused.length, refused[0]?.id, isComplete], [1, log, true], reason);
    assert(refused[0].reason.includes(reason), `${reason}: ${refused[0].reason}`);
  }
  assertEquals((await imported(lines)).refused, []);
});

Deno.test("import: that is killed half-way is taken up by running it again", async () => {
  await using from = new AdminSite();
  await using to = new AdminSite();
  const { trip, cart, notes } = await fill(from);
  const lines = await exported(await from.maintenance());
  const half = lines.findIndex((line) => JSON.parse(line).id === cart) + 2;
  const breaking = async function* () {
    yield* lines.slice(0, half);
    throw new Error("killed");
  };
  await assertRejects(async () => importLines(breaking(), await to.maintenance()), Error, "killed");
  await assertRejects(async () => (await to.store()).get(cart, bob));
  const report = await importLines(asLines(lines), await to.maintenance());
  assertEquals(report, { adopted: 2, existing: 2, ended: 2, tombstones: 0, refused: [], isComplete: true });
  const [before, after] = [await from.store(), await to.store()];
  for (const [handle, user] of [[trip, alice], [cart, bob], [notes, bob]] as const) {
    assertEquals(await after.get(handle, user), await before.get(handle, user));
  }
});

Deno.test("import: of an engine that fails stops, and keeps what is in", async () => {
  await using site = new AdminSite();
  const target = await site.maintenance();
  let adoptions = 0;
  const failing = {
    ...forward(target),
    adopt: (...args: Parameters<typeof target.adopt>) =>
      ++adoptions > 1 ? Promise.reject(new BackendError("The disk is full.")) : target.adopt(...args),
  };
  const lines = wrap(GOOD, document("trip_b", {}), document("trip_c", {}));
  await assertRejects(() => importLines(asLines(lines), failing), BackendError, "disk is full");
  const report = await importLines(asLines(lines), target);
  assertEquals([report.adopted, report.existing], [2, 1]);
});

Deno.test("import: reports a cut file, wherever it was cut", async () => {
  await using from = new AdminSite();
  await fill(from);
  const lines = await exported(await from.maintenance());
  const heads = lines.flatMap((line, i) => JSON.parse(line).type === "document" ? [i] : []);
  const cut = "The export ends before this document does.";
  for (
    const [length, reasons] of [
      [1, []],
      [heads[0] + 1, [cut]],
      [heads[1], []],
      [heads[1] + 1, [cut]],
      [heads[2] + 3, [cut]],
      [lines.length - 1, []],
    ] as const
  ) {
    const { refused, isComplete } = await imported(lines.slice(0, length));
    assertEquals([refused.map(({ reason }) => reason), isComplete], [[...reasons], false], `${length} lines`);
  }
  const half = lines[heads[1] + 1].slice(0, 20);
  const { refused } = await imported([...lines.slice(0, heads[1] + 1), half]);
  assertEquals(refused.map(({ line, reason }) => [line, reason]), [[heads[1] + 2, "The line is not JSON."]]);
  const without = await imported(lines.filter((_, i) => i < heads[0] || i >= heads[1]));
  assertEquals([without.refused, without.isComplete], [[], false], "a document that is missing whole is noticed too");
});

Deno.test("import: refuses another format, a file that is none, and nothing at all", async () => {
  const header = headerLine(0);
  for (
    const [lines, reason] of [
      [[edit(header, { number: 2 }), ...GOOD], "format 2, and this version of the library reads 1"],
      [[edit(header, { format: "other" })], "not the header of an export"],
      [[...GOOD], "not the header of an export"],
      [["PK\u0003\u0004"], "not JSON"],
      [["[]"], "not a JSON object"],
      [[], "nothing to import"],
    ] as const
  ) {
    await using site = new AdminSite();
    await assertRejects(async () => importLines(asLines(lines), await site.maintenance()), InvalidInput, reason);
    assertEquals(site.number("SELECT count(*) FROM mcpstate_document"), 0);
  }
});

Deno.test("import: of broken and stray lines names them, and goes on", async () => {
  const [head, entry] = document("trip_b", {});
  const lines = wrap(GOOD, [entry], ["", "garbage"], [entry], [edit(head, { id: 7 }), entry], [head, entry], [
    '{"type":"odd"}',
  ]);
  const { adopted, refused } = await imported([...lines, entry]);
  assertEquals(adopted, 2);
  assertEquals(
    refused.map(({ line, reason }) => `${line} ${reason}`),
    [
      "4 The line belongs to no document.",
      "6 The line is not JSON.",
      "8 handle must be a text.",
      '12 There is no type of line "odd" here.',
      "14 The line comes after the end.",
    ].map((each) => each.replace("8 id", "8 handle")),
  );
});

Deno.test("import: of the same document twice takes the first", async () => {
  const again = document("trip_aaaaaaaa", { city: "Odense" });
  const { adopted, existing } = await imported(wrap(GOOD, again));
  assertEquals([adopted, existing], [1, 1]);
});

Deno.test("import: in a dry run judges all and writes nothing", async () => {
  await using from = new AdminSite();
  await using to = new AdminSite();
  await fill(from);
  const lines = await exported(await from.maintenance());
  const target = await to.maintenance();
  await importLines(asLines(await exported(await from.maintenance(), "bob")), target);
  const tables = to.rows("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'mcpstate_%'");
  const rows = () => tables.map(({ name }) => to.rows(`SELECT * FROM ${name}`));
  const before = rows();
  const tampered = lines.map((line) => line.replace('"Jutland"', '"Jut\\u0000land"'));
  const report = await importLines(asLines(tampered), target, { dryRun: true });
  assertEquals([report.adopted, report.existing, report.tombstones, report.refused.length], [1, 2, 2, 1]);
  assertEquals(rows(), before);
});

Deno.test("import: tells how far it is", async () => {
  await using site = new AdminSite();
  const told: ImportProgress[] = [];
  const lines = wrap(GOOD, GOOD, document("trip_b", {}).slice(0, 1), document("trip_c", {}));
  await importLines(asLines(lines), await site.maintenance(), { onProgress: (progress) => told.push(progress) });
  assertEquals(told, [
    { line: 3, adopted: 1, existing: 0, refused: 0 },
    { line: 4, adopted: 1, existing: 1, refused: 0 },
    { line: 7, adopted: 1, existing: 1, refused: 1 },
    { line: 8, adopted: 2, existing: 1, refused: 1 },
  ]);
});
