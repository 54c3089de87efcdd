/**
 * The commands that move, check and delete whole stores, as processes.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { environment, PROGRAM } from "../server/client.ts";
import { CommandSite } from "./command_site.ts";

/** The lines of an export, but for when it was made. */
function content(text: string): readonly string[] {
  const [header, ...lines] = text.split("\n");
  assertEquals(JSON.parse(header).type, "header");
  return lines.toSorted();
}

Deno.test("export and import: a store arrives whole, through a file and through a pipe", async () => {
  await using from = new CommandSite();
  await using to = new CommandSite();
  const handle = await from.seed();
  const { stdout } = await from.run("export");
  const written = await from.run("export", "backup.jsonl");
  assertEquals([written.code, written.stdout, written.stderr], [0, "", ""]);
  const file = `${from.home}/backup.jsonl`;
  assertEquals(content(await Deno.readTextFile(file)), content(stdout));
  assertEquals((await Deno.stat(file)).mode! & 0o777, 0o600);

  assertEquals((await to.json("import", file, "--dry-run")).adopted, 1);
  assertEquals((await to.json("list")).handles, []);
  assertEquals((await to.json("import", file)).adopted, 1);
  assertEquals(content((await to.run("export")).stdout), content(stdout));
  assertEquals((await to.json("show", handle, "--version", "2")).state.city, "Copenhagen");

  await using through = new CommandSite();
  const { flags } = await through.permissions(["import"]);
  const piped = await through.runWith(flags, ["import"], stdout);
  assertEquals([piped.code, piped.stderr], [0, ""]);
  assertStringIncludes(piped.stdout, "Took in 1 documents");
  assertEquals(content((await through.run("export")).stdout), content(stdout));

  const again = await from.run("export", "backup.jsonl");
  assertEquals([again.code, again.stdout], [1, ""]);
  assertStringIncludes(again.stderr, "Name another one, or remove it.");
});

Deno.test("import: what is refused is named, an export that was cut is said to be, and the rest is taken in", async () => {
  await using from = new CommandSite();
  await using to = new CommandSite();
  const [first, second] = [await from.seed(), await from.seed()];
  const lines = (await from.run("export")).stdout.trimEnd().split("\n");
  const damaged = lines.map((line) => line.replace(/"sha256":"."/, '"sha256":"')).slice(0, -1);
  const at = damaged.findIndex((line) => line.includes(second) && line.includes('"type":"document"'));
  const text = [
    ...lines.slice(0, at),
    damaged[at].replace("Which city", "Which \\u001b city"),
    ...damaged.slice(at + 1),
  ];
  const { flags } = await to.permissions(["import"]);
  const { code, stdout, stderr } = await to.runWith(
    flags,
    ["import"],
    `${text.join("\n").replace('"version":3', '"version":7')}\n`,
  );
  assertEquals(code, 1);
  assertStringIncludes(stderr, first);
  assertStringIncludes(stderr, "the export is not whole");
  assertStringIncludes(stdout, "Took in 1 documents");
  assertEquals((await to.json("list")).handles.map((each: { handle: string }) => each.handle), [second]);
  assertEquals((await to.run("import", "no_such_file.jsonl")).code, 1);
});

Deno.test("import: one that was killed half-way is taken up by running it again", async () => {
  await using from = new CommandSite();
  await using to = new CommandSite();
  {
    await using store = await from.open();
    for (let i = 0; i < 3_000; i++) await store.mint("cart", { items: [`tea ${i}`] }, { user: "local" });
  }
  assertEquals((await from.run("export", "carts.jsonl")).code, 0);
  const file = `${from.home}/carts.jsonl`;
  const { flags } = await to.permissions(["import", file]);
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", ...flags, PROGRAM, "import", file],
    env: environment(to.home),
    clearEnv: true,
    stdout: "null",
    stderr: "null",
  }).spawn();
  const arrived = () => {
    try {
      using database = new DatabaseSync(`${to.home}/.mcpstate/state.db`, { readOnly: true });
      return Number(database.prepare("SELECT count(*) AS n FROM mcpstate_document").get()?.n);
    } catch {
      return 0; // it is not there yet
    }
  };
  while (arrived() < 100) await new Promise((resolve) => setTimeout(resolve, 5));
  child.kill("SIGKILL");
  await child.status;
  const before = arrived();
  assert(before >= 100 && before < 3_000, `${before} were there when it was killed`);
  const report = await to.json("import", file);
  assertEquals([report.adopted + report.existing, report.existing >= before, report.complete], [3_000, true, true]);
  assertEquals(content((await to.run("export")).stdout), content(await Deno.readTextFile(file)));
});

Deno.test("import: reads a database of the Python package with nothing but read permission, and leaves it as it is", async () => {
  await using site = new CommandSite();
  const path = `${site.home}/python.db`;
  {
    using database = new DatabaseSync(path);
    database.exec(
      "CREATE TABLE handles (user TEXT NOT NULL, handle TEXT NOT NULL, kind TEXT NOT NULL, state TEXT NOT NULL, " +
        "version INTEGER NOT NULL, created_at REAL NOT NULL, updated_at REAL NOT NULL, expires_at REAL, " +
        "last_writer TEXT, PRIMARY KEY (user, handle))",
    );
    database.prepare("INSERT INTO handles VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .run("local", "trip_aaaaaaaa", "trip", '{"city": "Aarhus"}', 7, 1785229800, 1785229861.5, null, "claude-desktop");
  }
  const before = await Deno.readFile(path);
  const { flags } = await site.permissions(["import", path]);
  assertEquals(flags.filter((flag) => flag.startsWith("--allow-write")), [`--allow-write=${site.home}/.mcpstate`]);
  assertEquals((await site.json("import", path)).adopted, 1);
  const shown = await site.json("show", "trip_aaaaaaaa");
  assertEquals([shown.version, shown.last_writer, shown.state], [7, "claude-desktop", { city: "Aarhus" }]);
  assertEquals(await Deno.readFile(path), before);
});

Deno.test("migrate: copies a store, and again only what has come since", async () => {
  await using site = new CommandSite();
  await site.seed();
  const urls = [site.url, `sqlite:///${site.home}/copy/state.db`] as const;
  assertEquals((await site.json("migrate", ...urls, "--dry-run")).adopted, 1);
  assertEquals((await site.json("migrate", ...urls)).adopted, 1);
  await site.seed();
  const { adopted, existing } = await site.json("migrate", ...urls);
  assertEquals([adopted, existing], [1, 1]);
  const { stdout } = await site.run("export", "--backend", urls[1]);
  assertEquals(content(stdout), content((await site.run("export")).stdout));
});

Deno.test("doctor: names the document that is damaged, and ends with 1", async () => {
  await using site = new CommandSite();
  const [good, bad] = [await site.seed(), await site.seed()];
  assertEquals((await site.run("doctor")).stdout, "2 documents looked at: nothing is wrong.\n");
  {
    using database = new DatabaseSync(`${site.home}/.mcpstate/state.db`);
    database.prepare(
      "DELETE FROM mcpstate_entry WHERE version = 3 AND doc = (SELECT doc FROM mcpstate_document WHERE id = ?)",
    ).run(bad);
  }
  const { code, stdout } = await site.run("doctor");
  assertEquals(code, 1);
  assertStringIncludes(stdout, `${bad} of local: Entry 3 is missing.`);
  assert(!stdout.includes(good));
  const json = await site.run("doctor", "--json");
  const { checked, findings } = JSON.parse(json.stdout);
  assertEquals([json.code, checked, findings[0].handle], [1, 2, bad]);
  const exported = await site.run("export");
  assertEquals(exported.code, 1);
  assertStringIncludes(exported.stderr, `${bad} of local could not be read: Its entry 3 is missing.`);
});

Deno.test("purge: asks on a terminal, needs --yes elsewhere, and deletes one user alone", async () => {
  await using site = new CommandSite();
  const handle = await site.seed();
  {
    await using store = await site.open();
    await store.mint("cart", {}, { user: "alice" });
  }
  for (const words of [["purge", "--user", "alice"], ["purge", "--yes"]]) {
    const { code, stdout } = await site.run(...words);
    assertEquals([code, stdout], [2, ""], words.join(" "));
  }
  const { run } = await site.permissions(["purge", "--user", "alice"]);
  for (const [answer, isGone] of [["n", false], ["y", true]] as const) {
    const line = run.replace(/^deno/, Deno.execPath());
    await new Deno.Command("sh", {
      args: ["-c", `printf '${answer}\\n' | script -qec "$LINE" /dev/null`],
      env: { ...environment(site.home), LINE: line },
      clearEnv: true,
    }).output();
    assertEquals((await site.json("list", "--user", "alice")).handles.length, isGone ? 0 : 1, answer);
  }
  const { stdout } = await site.run("purge", "--user", "alice", "--yes");
  assertEquals(stdout, "Deleted 0 documents of alice with all their history.\n");
  assertEquals((await site.json("list")).handles[0].handle, handle);
});
