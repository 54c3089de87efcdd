import { join } from "node:path";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { openSqliteBackend } from "../../src/backends/sqlite.ts";
import { BackendError, HandleExpired } from "../../src/document/errors.ts";
import { append } from "../../src/document/ops.ts";
import { HandleStore } from "../../src/store/store.ts";
import { seconds, until } from "../contract/drafts.ts";
import { Site } from "../store/raw.ts";
import { startProcess, together } from "./processes.ts";

const alice = { user: "alice" };

Deno.test("open: of six processes at once on a directory that is not there, all answer", async () => {
  await using site = new Site();
  const path = join(site.directory, "new", "er", "state.db");
  const permissions = [`--allow-read=${site.directory}`, `--allow-write=${site.directory}`];
  const answers = (await together(`sqlite:///${path}`, Array(6).fill(["open"]), { permissions })).flat();
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
  await using holder = await startProcess(site.url, ["hold"]);
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
