import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { openKvBackend } from "../../src/backends/kv.ts";
import { HandleStore } from "../../src/store/store.ts";
import { assertSound, KvProcess, KvSite, ofKind, together } from "./kv_site.ts";

const alice = { user: "alice" };

Deno.test("kv: patches from eight processes, twenty each, all land once and without gaps", async () => {
  await using site = new KvSite();
  const store = await site.store();
  const handle = await store.mint("cart", { items: [] }, alice);
  const answers = await together(site, 8, ["append", handle], 20);
  assertEquals(answers.filter(({ failed }) => failed !== undefined), []);
  const { state, version } = await store.get(handle, alice);
  const items = state.items as string[];
  assertEquals([version, items.length, new Set(items).size], [161, 160, 160]);
  for (const { item = "", version = 0 } of answers) assertEquals(items[version - 2], item);
  for (let writer = 0; writer < 8; writer++) {
    const own = items.filter((item) => item.startsWith(`${writer}-`));
    assertEquals(own, Array.from({ length: 20 }, (_, i) => `${writer}-${i}`));
  }
  assertSound(await site.records());
});

Deno.test("kv: patches from eight processes, two hundred each, land or answer that the store was busy", async () => {
  await using site = new KvSite();
  const store = await site.store();
  const handle = await store.mint("cart", { items: [] }, alice);
  const answers = await together(site, 8, ["append", handle], 200);
  const landed = answers.filter(({ failed }) => failed === undefined);
  for (const { failed, busy } of answers) assert(failed === undefined || failed === "backend_error" && busy === true);
  assertEquals(answers.length, 1_600);
  assert(landed.length > 800, "most land");
  const { state, version } = await store.get(handle, alice);
  assertEquals((state.items as string[]).toSorted(), landed.map(({ item = "" }) => item).sort());
  assertEquals(version, landed.length + 1);
  assertSound(await site.records());
});

Deno.test("kv: of six processes that open a new file at once, all answer", async () => {
  await using site = new KvSite();
  const path = join(site.directory, "new", "er", "state.kv");
  const flags = ["--unstable-kv", `--allow-read=${site.directory}`, `--allow-write=${site.directory}`];
  await using all = new AsyncDisposableStack();
  const processes = Array.from({ length: 6 }, () => all.use(new KvProcess(path, ["open"], { flags })));
  await Promise.all(processes.map((each) => each.next()));
  await Promise.all(processes.map((each) => each.go()));
  const answers = (await Promise.all(processes.map((each) => each.rest()))).flat();
  assertEquals(answers.map(({ failed }) => failed), Array(6).fill(undefined));
  await using store = new HandleStore(await openKvBackend({ path }));
  for (const { handle = "", pid = 0 } of answers) assertEquals((await store.get(handle, alice)).state, { by: pid });
  assertEquals((await store.list("alice")).handles.length, 6);
  const modes = [path, join(site.directory, "new", "er")].map((each) => Deno.statSync(each).mode ?? 0);
  assertEquals(modes.map((mode) => (mode & 0o777).toString(8)), ["600", "700"]);
});

Deno.test("kv: a process ends once its backend is closed, whoever still listens", async () => {
  await using site = new KvSite();
  await using process = new KvProcess(site.path, ["listen"]);
  assertEquals(await process.rest(), [{ item: "closed" }]);
  assertEquals(ofKind(await site.records(), "format"), new Map([["[]", 1]]));
});

Deno.test("kv: without its flag, says which", async () => {
  await using site = new KvSite();
  await using process = new KvProcess(site.path, ["open"], { flags: ["--no-config"] });
  await process.next();
  await process.go();
  const [{ failed, message = "" }] = await process.rest();
  assertEquals(failed, "backend_error");
  assert(message.includes("--unstable-kv"), message);
});
