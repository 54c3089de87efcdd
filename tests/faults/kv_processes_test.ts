import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { openKvBackend } from "../../src/backends/kv.ts";
import { HandleStore } from "../../src/store/store.ts";
import { KvSite, ofKind } from "./kv_site.ts";
import { startProcess, together } from "./processes.ts";

const alice = { user: "alice" };

Deno.test("kv: of six processes that open a new file at once, all answer", async () => {
  await using site = new KvSite();
  const path = join(site.directory, "new", "er", "state.kv");
  const permissions = ["--unstable-kv", `--allow-read=${site.directory}`, `--allow-write=${site.directory}`];
  const answers = (await together(`kv:///${path}`, Array(6).fill(["open"]), { permissions })).flat();
  assertEquals(answers.map(({ failed }) => failed), Array(6).fill(undefined));
  await using store = new HandleStore(await openKvBackend({ path }));
  for (const { handle = "", pid = 0 } of answers) assertEquals((await store.get(handle, alice)).state, { by: pid });
  assertEquals((await store.list("alice")).handles.length, 6);
  const modes = [path, join(site.directory, "new", "er")].map((each) => Deno.statSync(each).mode ?? 0);
  assertEquals(modes.map((mode) => (mode & 0o777).toString(8)), ["600", "700"]);
});

Deno.test("kv: a process ends once its backend is closed, whoever still listens", async () => {
  await using site = new KvSite();
  await using process = await startProcess(site.url, ["listen"]);
  assertEquals(await process.rest(), [{ item: "closed" }]);
  assertEquals(ofKind(await site.records(), "format"), new Map([["[]", 1]]));
});

Deno.test("kv: without its flag, says which", async () => {
  await using site = new KvSite();
  await using process = await startProcess(site.url, ["open"], {
    permissions: ["--no-config", `--allow-read=${site.directory}`, `--allow-write=${site.directory}`],
  });
  await process.next();
  await process.go();
  const [{ failed, message = "" }] = await process.rest();
  assertEquals(failed, "backend_error");
  assert(message.includes("--unstable-kv"), message);
});
