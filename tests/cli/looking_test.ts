/**
 * The commands that look into a store, as processes, on every engine.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { setKey } from "../../src/document/ops.ts";
import { startRedis } from "../redis_server.ts";
import { CommandSite } from "./command_site.ts";
import { environment, PROGRAM } from "../server/client.ts";

/** Runs a body on each engine, in a home of its own. */
function onEachEngine(title: string, body: (site: CommandSite) => Promise<void>): void {
  Deno.test(`sqlite: ${title}`, async () => {
    await using site = new CommandSite();
    await body(site);
  });
  Deno.test(`redis: ${title}`, async () => {
    await using server = await startRedis();
    await using site = new CommandSite(server.url);
    await body(site);
  });
  Deno.test(`kv: ${title}`, async () => {
    const directory = await Deno.makeTempDir();
    {
      await using site = new CommandSite(`kv:///${directory}/state.kv`);
      await body(site);
    }
    await Deno.remove(directory, { recursive: true });
  });
}

onEachEngine("list, show, log and diff say what there is and was", async (site) => {
  const handle = await site.seed();
  const listed = await site.run("list");
  assertEquals(listed.code, 0);
  assert(listed.stdout.startsWith(`${handle}  version 4  68 B  `), listed.stdout);
  assertStringIncludes(listed.stdout, "by laptop  Which city\n");

  const { handles, next_cursor } = await site.json("list", "--kind", "research");
  assertEquals([handles.length, handles[0].handle, handles[0].version, next_cursor], [1, handle, 4, null]);
  assertEquals((await site.json("list", "--query", "no such title")).handles, []);

  assertEquals((await site.json("show", handle, "--version", "2")).state, {
    city: "Copenhagen",
    sources: ["kk.dk/housing"],
  });
  assertEquals((await site.json("show", handle, "--turn", "1")).version, 1);
  assertEquals((await site.json("show", handle, "--at", "2100-01-01")).version, 4);
  assertEquals((await site.json("show", handle, "--path", "budget.rent")).value, 1100);
  const shown = await site.run("show", handle, "--version", "1");
  assertStringIncludes(shown.stdout, "version 1 of 4");
  assertStringIncludes(shown.stdout, '\n  "city": "Copenhagen",');

  const logged = await site.run("log", handle);
  assertEquals(withoutTimes(logged.stdout), LOG);
  const { changes } = await site.json("log", handle, "--since", "3");
  assertEquals(changes.map(({ version, patch }: { version: number; patch: unknown }) => [version, patch]), [
    [4, [{ op: "replace", path: "/budget/rent", value: 1100 }]],
  ]);
  assertEquals((await site.run("diff", handle, "1", "3")).stdout.split("\n").slice(1, -1), [
    '- /city: "Copenhagen"',
    '+ /city: "Aarhus"',
    '+ /sources/0: "kk.dk/housing"',
    '+ /budget: {"rent":1400}',
  ]);
  assertEquals((await site.json("diff", handle, "3")).patch, [{ op: "replace", path: "/budget/rent", value: 1100 }]);
});

onEachEngine("watch prints each change as it happens, with what it changed", async (site) => {
  const handle = await site.seed();
  await using watching = await site.start("watch", handle, "--json");
  await watching.begun();
  await using store = await site.open();
  let days = 0;
  // It begins when it begins: writing goes on until the first event is there.
  const first = watching.printed((text) => text.includes("\n"));
  let isSeen = false;
  first.then(() => isSeen = true, () => isSeen = true);
  while (!isSeen) {
    await store.patch(handle, [setKey("", "days", ++days)], { user: "local", writer: "phone" });
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const event = JSON.parse((await first).split("\n")[0]);
  assertEquals([event.type, event.handle, event.writer], ["change", handle, "phone"]);
  assertEquals(event.patch, [{
    op: event.version === 5 ? "add" : "replace",
    path: "/days",
    value: event.version - 4,
  }]);
  await store.revoke(handle, { user: "local" });
  await watching.printed((text) => text.includes('"type":"deleted"'));
  assertEquals(await watching.stop("SIGINT"), 0);
});

const LOG = `version 4  TIME  by laptop  turn 2
  - /budget/rent: 1400
  + /budget/rent: 1100

version 3  TIME  by phone  turn 2
  - /city: "Copenhagen"
  + /city: "Aarhus"
  + /budget: {"rent":1400}

version 2  TIME  by phone  turn 2
  + /sources/0: "kk.dk/housing"

version 1  TIME  by laptop  turn 1
  + /city: "Copenhagen"
  + /sources: []
`;

function withoutTimes(text: string): string {
  return text.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/g, "TIME");
}

Deno.test("log: what came before the oldest retained version is said to be gone", async () => {
  await using site = new CommandSite();
  const { HandleStore } = await import("../../src/store/store.ts");
  await using store = await HandleStore.fromUrl(site.url, { retention: { versions: 3 } });
  const local = { user: "local" };
  const handle = await store.mint("log", { pad: "" }, local);
  for (let n = 1; n <= 40; n++) await store.patch(handle, [setKey("", "pad", `${n}`.repeat(9_000))], local);
  const { stdout } = await site.run("log", handle);
  assertEquals(stdout.match(/^version \d+/gm), ["version 41", "version 40"]);
  assertStringIncludes(stdout, "what came before version 39 is no longer retained");
  const pruned = await site.run("show", handle, "--version", "2");
  assertEquals([pruned.code, pruned.stdout], [1, ""]);
  assertStringIncludes(pruned.stderr, "Version 2 is no longer retained. Versions 39 to 41 can be read.");
});

Deno.test("looking makes no database, and what is not there is said", async () => {
  await using site = new CommandSite();
  const { code, stdout, stderr } = await site.run("list");
  assertEquals([code, stdout], [1, ""]);
  assertStringIncludes(stderr, `There is no database at ${site.home}/.mcpstate/state.db`);
  assertEquals([...Deno.readDirSync(site.home)], []);
  await site.seed();
  const missing = await site.run("show", "research_22222222");
  assertEquals(missing.code, 1);
  assertStringIncludes(missing.stderr, 'There is no handle "research_22222222".');
  for (const words of [["show"], ["diff", "a", "one"], ["show", "a", "--at", "noon"], ["log", "a", "--limit", "0"]]) {
    assertEquals((await site.runWith(["--allow-all"], words)).code, 2, words.join(" "));
  }
});

Deno.test("what a model wrote cannot steer a terminal, and NO_COLOR is heeded without a permission", async () => {
  await using site = new CommandSite();
  await using store = await site.open();
  const evil = "\x1b]0;owned\x07\u202e\x9b31m";
  const options = { user: "local", writer: evil, title: evil };
  const handle = await store.mint("cart", { [evil]: evil, list: [evil] }, options);
  for (const words of [["list"], ["list", "--json"], ["show", handle], ["log", handle], ["log", handle, "--json"]]) {
    const { stdout } = await site.run(...words);
    // deno-lint-ignore no-control-regex -- these are what is looked for
    assertEquals(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/.test(stdout), false, words.join(" "));
  }
  assertEquals((await site.json("show", handle)).state, { [evil]: evil, list: [evil] });
  const { flags } = await site.permissions(["log", handle]);
  for (const [env, isColoured] of [[{ NO_COLOR: "1" }, false], [{ NO_COLOR: "" }, true]] as const) {
    const text = await onTerminal(site.home, ["run", ...flags, PROGRAM, "log", handle], env);
    assertEquals(text.includes("\x1b[32m"), isColoured, text);
  }
});

/** What a program prints on a terminal. */
async function onTerminal(home: string, words: readonly string[], env: Record<string, string>): Promise<string> {
  const line = [Deno.execPath(), ...words].map((word) => `'${word}'`).join(" ");
  const { stdout } = await new Deno.Command("script", {
    args: ["-qec", line, "/dev/null"],
    env: environment(home, env),
    clearEnv: true,
    stdin: "null",
  }).output();
  return new TextDecoder().decode(stdout);
}
