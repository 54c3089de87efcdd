/**
 * The store on SQLite beside bare `node:sqlite` that moves the same bytes: `deno task bench`.
 *
 * @module
 */

import { DatabaseSync } from "node:sqlite";
import { append, HandleStore } from "../mod.ts";
import { openSqliteBackend } from "../src/backends/sqlite.ts";
import { compare, type Comparison, print } from "./side_by_side.ts";
import { openRaw } from "./raw_sqlite.ts";
import { text } from "./texts.ts";

const user = "alice";
const KIB = 1024;

async function openStore(directory: string, cacheBytes?: number): Promise<HandleStore> {
  return new HandleStore(await openSqliteBackend({ path: `${directory}/store.db` }), { cacheBytes });
}

/** A state of about so many bytes: one long text, and a list to append to. */
function oneText(bytes: number): { note: string; log: string[] } {
  return { note: text(Math.max(1, bytes - 30)), log: [] };
}

/** A state of about a megabyte: ten thousand items. */
function manyItems(): { log: string[] } {
  return { log: Array.from({ length: 10_000 }, (_, i) => text(100, i)) };
}

async function gets(results: Comparison[]): Promise<void> {
  for (const [name, bytes] of [["1 KB", KIB], ["100 KB", 100 * KIB], ["1 MiB", 1000 * KIB]] as const) {
    const directory = Deno.makeTempDirSync();
    await using store = await openStore(directory);
    const handle = await store.mint("bench", oneText(bytes), { user });
    using database = new DatabaseSync(`${directory}/store.db`);
    const head = database.prepare("SELECT * FROM mcpstate_document WHERE user = ? AND id = ?");
    results.push(
      await compare(`warm get, ${name} | head look-up`, { run: () => store.get(handle, { user }) }, {
        run: () => head.get(user, handle),
      }, { runs: 20_000, block: 200, target: 3 }),
    );
  }
}

async function saves(results: Comparison[]): Promise<void> {
  const directory = Deno.makeTempDirSync();
  await using store = await openStore(directory);
  using raw = openRaw(`${directory}/raw.db`);
  const states = Array.from({ length: 64 }, (_, i) => ({ note: text(KIB, i), turn: i }));
  const handle = await store.mint("bench", states[0], { user });
  let version = 1;
  results.push(
    await compare("save of 1 KB | read head, insert entry, update head", {
      run: async (i) => version = (await store.save(handle, states[i % 64], { user, expectVersion: version })).version,
    }, {
      run: (i) =>
        raw.write(
          JSON.stringify([{ op: "replace", path: "/note", value: states[i % 64].note }, {
            op: "replace",
            path: "/turn",
            value: i % 64,
          }]),
        ),
    }, { runs: 2_000, target: 1.6 }),
  );
}

async function appends(results: Comparison[]): Promise<void> {
  const item = text(100);
  const medians: number[] = [];
  for (
    const [name, state] of [["1 KB", oneText(KIB)], ["1 MiB, one text", oneText(900 * KIB)], [
      "1 MiB, 10,000 items",
      manyItems(),
    ]] as const
  ) {
    const directory = Deno.makeTempDirSync();
    const options = { maxStateBytes: 4 * KIB * KIB };
    await using store = new HandleStore(await openSqliteBackend({ path: `${directory}/store.db` }), options);
    using raw = openRaw(`${directory}/raw.db`);
    const handle = await store.mint("bench", state, { user });
    const body = JSON.stringify([{ op: "add", path: "/log/-", value: item }]);
    const comparison = await compare(
      `append of 100 bytes to ${name} | the same`,
      {
        run: () => store.patch(handle, [append("log", item)], { user }),
      },
      { run: () => raw.write(body) },
      { runs: 2_000, target: 1.8 },
    );
    medians.push(comparison.ours.median);
    results.push(comparison);
  }
  console.log(
    `append at 1 MiB by append at 1 KB: one text ${(medians[1] / medians[0]).toFixed(2)}, 10,000 items ${
      (medians[2] / medians[0]).toFixed(2)
    } (target ≤ 2)`,
  );
}

async function lists(results: Comparison[]): Promise<void> {
  const directory = Deno.makeTempDirSync();
  await using store = await openStore(directory);
  for (let i = 0; i < 100; i++) {
    await store.mint("large", oneText(100 * KIB), { user: "large" });
    await store.mint("tiny", { i }, { user: "tiny" });
  }
  results.push(
    await compare("list of 100 documents of 100 KB | of 100 tiny ones", {
      run: () => store.list("large", { limit: 100 }),
    }, {
      run: () => store.list("tiny", { limit: 100 }),
    }, { runs: 500, target: 1.2 }),
  );
}

async function asOf(results: Comparison[]): Promise<void> {
  const directory = Deno.makeTempDirSync();
  await using store = await openStore(directory, 0);
  await using writing = await openStore(directory);
  const handle = await writing.mint("bench", { log: [] as string[] }, { user });
  for (let i = 0; i < 999; i++) await writing.patch(handle, [append("log", text(100, i))], { user });
  const worst = await writing.mint("bench", { log: [] as string[] }, { user });
  let dearest = 0;
  for (let i = 0; i < 999; i++) {
    await writing.patch(worst, [append("log", text(100, i))], { user });
    const start = performance.now();
    await store.get(worst, { user });
    dearest = Math.max(dearest, i > 900 ? performance.now() - start : 0);
  }
  results.push(
    await compare(
      "as of any of 1,000 versions | cold get at that size",
      {
        run: (i) => store.get(handle, { user, version: 1 + (i * 37) % 1000 }),
      },
      { run: () => store.get(worst, { user }) },
      { runs: 1_000, target: 2 },
    ),
  );
}

/** Times everything. */
export async function timeSqlite(): Promise<Comparison[]> {
  const results: Comparison[] = [];
  for (const group of [gets, saves, appends, lists, asOf]) await group(results);
  return results;
}

if (import.meta.main) print(await timeSqlite());
