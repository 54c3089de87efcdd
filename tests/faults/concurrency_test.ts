import { join } from "node:path";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { openSqliteBackend } from "../../src/backends/sqlite.ts";
import { BackendError, HandleExpired } from "../../src/document/errors.ts";
import { append } from "../../src/document/ops.ts";
import { HandleStore } from "../../src/store/store.ts";
import { seconds, until } from "../contract/drafts.ts";
import { Site } from "../store/raw.ts";
import { type Answer, Process } from "./processes.ts";

const alice = { user: "alice" };

Deno.test("patch: from eight processes, twenty each, all land once and without gaps", async () => {
  await using site = new Site();
  const store = await site.store();
  const handle = await store.mint("cart", { items: [] }, alice);
  const answers = await Promise.all((await start(site, 8, ["append", handle], 20)).map(finish));
  assertEquals(answers.flat().filter(({ failed }) => failed !== undefined), []);
  const { state, version } = await store.get(handle, alice);
  const items = state.items as string[];
  assertEquals([version, items.length, new Set(items).size], [161, 160, 160]);
  for (let writer = 0; writer < 8; writer++) {
    const own = Array.from({ length: 20 }, (_, i) => `${writer}-${i}`);
    assertEquals(items.filter((item) => item.startsWith(`${writer}-`)), own);
  }
  for (const { item = "", version = 0 } of answers.flat()) assertEquals(items[version - 2], item);
  const rows = site.rows("SELECT version, seq FROM mcpstate_entry ORDER BY version");
  assertEquals(rows, Array.from({ length: 161 }, (_, i) => ({ version: i + 1, seq: i + 1 })));
});

Deno.test("patch: from eight processes, two hundred each, lands or answers that the store was busy", async () => {
  await using site = new Site();
  const store = await site.store();
  const handle = await store.mint("cart", { items: [] }, alice);
  const answers = (await Promise.all((await start(site, 8, ["append", handle], 200)).map(finish))).flat();
  assertEquals(answers.length, 1_600);
  const landed = answers.filter(({ failed }) => failed === undefined);
  for (const { failed, busy } of answers) assert(failed === undefined || failed === "backend_error" && busy === true);
  assert(landed.length > 800, "most land");
  const { state, version } = await store.get(handle, alice);
  assertEquals((state.items as string[]).toSorted(), landed.map(({ item = "" }) => item).sort());
  assertEquals([version, site.number("SELECT max(version) FROM mcpstate_entry")], [
    landed.length + 1,
    landed.length + 1,
  ]);
});

Deno.test("open: of six processes at once on a directory that is not there, all answer", async () => {
  await using site = new Site();
  const path = join(site.directory, "new", "er", "state.db");
  const permissions = [`--allow-read=${site.directory}`, `--allow-write=${site.directory}`];
  const processes = Array.from({ length: 6 }, () => new Process(path, ["open"], { permissions }));
  await Promise.all(processes.map((process) => process.next()));
  const answers = (await Promise.all(processes.map(finish))).flat();
  assertEquals(answers.map(({ failed }) => failed), Array(6).fill(undefined));
  for (const { state, pid } of answers) assertEquals(state, { by: pid });
  await using store = new HandleStore(await openSqliteBackend({ path }));
  const listed = (await store.list("alice")).handles.map(({ handle }) => handle);
  assertEquals(listed.toSorted(), answers.map(({ handle = "" }) => handle).sort());
  const modes = [path, join(site.directory, "new", "er")].map((each) => Deno.statSync(each).mode ?? 0);
  assertEquals(modes.map((mode) => (mode & 0o777).toString(8)), ["600", "700"]);
});

Deno.test("busy: is an answer, and the same process reads and writes on afterwards", async () => {
  await using site = new Site();
  const store = await site.store({ maxContentionMs: 150 }, { maxContentionMs: 150 });
  const handle = await store.mint("cart", { items: [] }, alice);
  const short = await store.mint("cart", {}, { ...alice, ttlDays: seconds(0.3) });
  await using holder = new Process(site.path, ["hold"]);
  assertEquals(await holder.next(), { ready: true });
  const error = await assertRejects(() => store.patch(handle, [append("items", 1)], alice), BackendError);
  assertEquals([error.busy, error.outcomeUnknown, error.toPayload().busy], [true, false, true]);
  assert(!error.message.includes(site.directory));
  assertEquals((await assertRejects(() => store.mint("cart", {}, alice), BackendError)).busy, true);
  assertEquals((await assertRejects(() => store.revoke(handle, alice), BackendError)).busy, true);
  // Readers need no lock, not even to find that something has expired.
  assertEquals((await store.get(handle, alice)).version, 1);
  await until(async () => {
    const read = await store.get(short, alice).catch((error) => error);
    return read instanceof HandleExpired;
  }, "the short one expires");
  for (let i = 0; i < 40; i++) assertEquals((await store.list("alice")).handles.map((info) => info.handle), [handle]);
  const fresh = await site.backend({ maxContentionMs: 150 });
  assertEquals((await fresh.read({ user: "alice", id: handle }, { as: "head" })).outcome, "found");

  await holder.go();
  assertEquals(await holder.next(), { released: true });
  assertEquals((await store.patch(handle, [append("items", 2)], alice)).state, { items: [2] });
  assertEquals((await store.get(handle, alice)).version, 2);
  await store.sweep("alice");
  assertEquals(site.number("SELECT count(*) FROM mcpstate_document WHERE status = 'expired'"), 1);
});

/** Starts workers, each with its number as its writer, and waits until all are ready. */
async function start(site: Site, processes: number, command: string[], count: number): Promise<Process[]> {
  const all = Array.from({ length: processes }, (_, i) => new Process(site.path, [...command, `${i}`, `${count}`]));
  assertEquals(await Promise.all(all.map((process) => process.next())), Array(processes).fill({ ready: true }));
  return all;
}

/** Lets a worker go on, and hears it out. */
async function finish(started: Process): Promise<Answer[]> {
  await using process = started;
  await process.go();
  return await process.rest();
}
