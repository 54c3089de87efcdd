/**
 * Exports and databases of the Python package that somebody has spoilt: what comes in is whole, what is not is refused.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { checkStore } from "../../src/admin/doctor.ts";
import { exportStore } from "../../src/admin/export.ts";
import { importLines, type ImportReport } from "../../src/admin/import.ts";
import { readPythonDatabase } from "../../src/admin/python.ts";
import { AdminSite, asLines, fill } from "../admin/site.ts";
import { hostileJson, hostileText, spoilt } from "./hostile.ts";
import { always, attempt } from "./rule.ts";

await using source = new AdminSite();
await fill(source);
const LINES = await Array.fromAsync(exportStore(await source.maintenance()));
await source.closeAll();

/** Deeper than can be written again as JSON. */
const DEEP = "[".repeat(50_000) + "]".repeat(50_000);

/** Takes lines in, and looks at all that is there then. */
async function judge(lines: Iterable<string> | AsyncIterable<string>): Promise<ImportReport | undefined> {
  await using site = new AdminSite();
  const maintenance = await site.maintenance();
  const iterable = Symbol.asyncIterator in lines ? lines : asLines(lines);
  const report = (await attempt(() => importLines(iterable, maintenance)))?.value;
  for (const { reason } of report?.refused ?? []) {
    assert(reason.length > 0 && reason.length <= 2_000, reason.slice(0, 99));
  }
  const findings = await Array.fromAsync(checkStore(maintenance));
  assertEquals(findings, []);
  return report;
}

Deno.test("import: lines of which some are spoilt come in whole or not at all", async () => {
  const line = fc.nat(LINES.length - 1).chain((at) =>
    fc.oneof(
      spoilt(fc.constant(JSON.parse(LINES[at]))).map((value) => JSON.stringify(value) ?? ""),
      hostileText,
      hostileJson.map((value) => JSON.stringify(value)),
      fc.constantFrom("type", "user", "body", "at").map((name) =>
        LINES[at].replace(new RegExp(`"${name}":("[^"]*"|[0-9]+|null|.*)`), () => `"${name}":${DEEP}`)
      ),
      fc.nat(LINES[at].length).map((length) => LINES[at].slice(0, length)),
      fc.nat(LINES.length - 1).map((other) => LINES[other]),
    ).map((text) => ({ at, text }))
  );
  await always(fc.array(line, { minLength: 1, maxLength: 3 }), async (spoilt) => {
    const lines = [...LINES];
    for (const { at, text } of spoilt) lines[at] = text;
    await judge(lines);
  }, 150);
  const report = await judge(LINES);
  assert(report !== undefined && report.refused.length === 0 && report.isComplete);
});

Deno.test("import: from a table of the Python package in which anything stands, takes what fits our rules", async () => {
  const cell: fc.Arbitrary<SQLInputValue> = fc.oneof(
    hostileText,
    hostileJson.map((value) => JSON.stringify(value)),
    fc.double({ noNaN: true }),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.constantFrom(null, new Uint8Array([0, 255]), new Uint8Array(), "{}", '{"a": 1e400}', '{"a": -0}', '{"a": NaN}'),
  );
  const good = ["alice", "trip_a", "trip", '{"city": "Copenhagen"}', 3, 1785229800.12, 1785229861.5, null, "phone"];
  const row = fc.tuple(fc.array(fc.tuple(fc.nat(8), cell), { maxLength: 2 }), fc.nat(9)).map(([changes, number]) => {
    const cells: SQLInputValue[] = [...good];
    cells[1] = `trip_${number}`;
    for (const [at, value] of changes) cells[at] = value;
    return cells;
  });
  await always(fc.array(row, { maxLength: 6 }), async (rows) => {
    await using site = new AdminSite();
    {
      using database = new DatabaseSync(site.path);
      database.exec(
        "CREATE TABLE handles (user, handle, kind, state, version, created_at, updated_at, expires_at, last_writer)",
      );
      const insert = database.prepare("INSERT INTO handles VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
      for (const each of rows) insert.run(...each);
    }
    const report = await judge(readPythonDatabase(site.path));
    assert(report !== undefined && report.isComplete);
    assertEquals(report.adopted + report.existing + report.ended + report.refused.length, rows.length);
  }, 100);
});
