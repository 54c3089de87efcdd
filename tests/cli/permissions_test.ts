/**
 * What the program needs, what it does without, and whether the line that it prints works.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { documentedFlags, emptyHome } from "../server/client.ts";
import { MINT_AND_GO, type Run, runLine, runProgram } from "./program.ts";

/** The line to run, out of what was printed. */
function lineIn(text: string, command = "run"): string {
  const line = text.split("\n").find((each) => each.startsWith(`deno ${command} `));
  assert(line !== undefined, text);
  return line;
}

function assertMinted({ code, stdout, stderr }: Run): void {
  assertEquals([code, stderr], [0, ""]);
  assertStringIncludes(stdout, '\\"handle\\":\\"cart_');
}

Deno.test("without permissions it prints the line to run and ends with 1, having written nothing", async () => {
  await using home = emptyHome();
  const refused = await runProgram({ home: home.path });
  assertEquals([refused.code, refused.stdout], [1, ""]);
  const line = lineIn(refused.stderr);
  assertStringIncludes(
    line,
    '--allow-read="$HOME/.mcpstate" --allow-write="$HOME/.mcpstate" --allow-env=HOME,MCPSTATE_',
  );
  assertEquals([...Deno.readDirSync(home.path)], []);
  assertMinted(await runLine(line, home.path, MINT_AND_GO));
  assertEquals([...Deno.readDirSync(home.path)].map(({ name }) => name), [".mcpstate"]);
});

Deno.test("with HOME alone it prints absolute paths", async () => {
  await using home = emptyHome();
  const refused = await runProgram({ home: home.path, flags: ["--allow-env=HOME"] });
  assertEquals(refused.code, 1);
  const line = lineIn(refused.stderr);
  for (const flag of documentedFlags(home.path)) assertStringIncludes(line, ` ${flag} `);
  assertMinted(await runLine(line, home.path, MINT_AND_GO));
});

Deno.test("exactly the documented flags work in an empty home", async () => {
  await using home = emptyHome();
  const flags = documentedFlags(home.path).join(" ");
  const { href } = new URL("../../mod.ts", import.meta.url);
  assertMinted(await runLine(`deno run ${flags} ${href}`, home.path, MINT_AND_GO));
  const { mode } = Deno.statSync(`${home.path}/.mcpstate`);
  assertEquals((mode ?? 0) & 0o777, 0o700);
});

Deno.test("the printed line works for other settings, with paths that a shell would take apart", async () => {
  await using home = emptyHome();
  const folder = `${home.path}/it's a "$HOME" & more`;
  Deno.mkdirSync(folder);
  for (
    const backend of [
      "sqlite:///~/elsewhere/carts.db",
      `sqlite:///${folder}/carts.db`,
      "sqlite:///carts.db?synchronous=normal",
      "sqlite:///below/carts.db",
    ]
  ) {
    const args = ["--backend", backend, "--user", "alice b", "--max-state-bytes=5000"];
    const refused = await runProgram({ home: home.path, flags: ["--allow-env=HOME"], args, cwd: folder });
    assertEquals(refused.code, 1, backend);
    assertMinted(await runLine(lineIn(refused.stderr), home.path, MINT_AND_GO));
  }
  assert(Deno.statSync(`${home.path}/elsewhere/carts.db`).isFile);
  assert(Deno.statSync(`${folder}/carts.db`).isFile);
  assert(Deno.statSync(`${folder}/below/carts.db`).isFile);
});

Deno.test("a directory that flags cannot name is refused", async () => {
  await using home = emptyHome();
  for (
    const args of [["--backend", "sqlite:////srv/a,b/state.db"], ["permissions", "--backend=sqlite:////srv/a,b/s.db"]]
  ) {
    const { code, stdout, stderr } = await runProgram({ home: home.path, args });
    assertEquals([code, stdout], [2, ""]);
    assertStringIncludes(stderr, "comma");
  }
});

Deno.test("a state in memory needs no permission", async () => {
  await using home = emptyHome();
  const { href } = new URL("../../mod.ts", import.meta.url);
  assertMinted(await runLine(`deno run ${href} --backend sqlite:///:memory:`, home.path, MINT_AND_GO));
});

Deno.test("permissions prints both lines", async () => {
  await using home = emptyHome();
  const { code, stdout } = await runProgram({ home: home.path, flags: ["--allow-env=HOME"], args: ["permissions"] });
  assertEquals(code, 0);
  assertMinted(await runLine(lineIn(stdout), home.path, MINT_AND_GO));
  assertMatch(lineIn(stdout, "compile"), /^deno compile --output=mcpstate --allow-read=\S+\/\.mcpstate /);
});

Deno.test("permissions prints JSON, wherever that is said", async () => {
  await using home = emptyHome();
  const print = async (args: readonly string[]) => {
    const run = await runProgram({ home: home.path, flags: ["--allow-env=HOME"], args: ["permissions", ...args] });
    assertEquals([run.code, run.stderr], [0, ""]);
    return run.stdout;
  };
  const known = JSON.parse(await print(["--json", "serve", "--user", "alice"]));
  assertMatch(known.run, /^deno run --allow-read=\S+\/\.mcpstate .* --user alice$/);
  assertEquals(JSON.parse(await print(["serve", "--json", "--user", "alice"])), known);
  assertEquals(JSON.parse(await print(["serve", "--user", "alice", "--json"])), known);
  // Where it is the command's own, it is the command's.
  assertStringIncludes(lineIn(await print(["list", "--json"])), " list --json");
  assertStringIncludes(JSON.parse(await print(["--json", "list", "--json"])).run, " list --json");
});

Deno.test("the package name in the checkout starts the server", async () => {
  await using home = emptyHome();
  const checkout = new URL("../..", import.meta.url).pathname;
  const flags = documentedFlags(home.path).join(" ");
  const line = `deno run -q --cached-only ${flags} jsr:@mcpstate/server`;
  assertMinted(await runLine(line, home.path, MINT_AND_GO, checkout));
});
