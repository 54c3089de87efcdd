/**
 * The permission sets of `deno.json`, for work in the checkout: what `permissions` prints for a store kept there.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import { permissionFlags } from "../../src/cli/permissions.ts";
import { splitName, toCall } from "../../src/cli/commands.ts";
import { requirementsOf } from "../../src/cli/requirements.ts";
import { emptyHome, PROGRAM } from "../server/client.ts";
import { MINT_AND_GO, runLine } from "./program.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SETS: Readonly<Record<string, Readonly<Record<string, readonly string[] | true>>>> =
  JSON.parse(Deno.readTextFileSync(`${ROOT}deno.json`)).permissions;
const STORE = ["--backend", `sqlite:///${ROOT}.mcpstate/state.db`];

/** A set as the flags that give the same, with its paths where they lead from `deno.json`. */
function flagsOf(set: (typeof SETS)[string]): readonly string[] {
  return Object.entries(set).map(([name, values]) => {
    if (values === true) return `--allow-${name}`;
    const isPath = name === "read" || name === "write";
    return `--allow-${name}=${values.map((value) => isPath ? ROOT + value : value).join(",")}`;
  });
}

const COMMANDS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "serve": [["serve"]],
  "serve-http": [["serve", "--transport", "http"]],
  "commands": [
    ["list", "--user", "alice"],
    ["show", "trip_abcdefgh", "--user", "alice"],
    ["log", "trip_abcdefgh", "--user", "alice"],
    ["diff", "trip_abcdefgh", "1", "2", "--user", "alice"],
    ["watch", "--user", "alice"],
    ["doctor"],
    ["purge", "--user", "alice"],
    ["token", "add", "--user", "alice"],
  ],
};

for (const [set, commands] of Object.entries(COMMANDS)) {
  for (const words of commands) {
    Deno.test(`permission sets: ${set} is what ${words.slice(0, 3).join(" ")} needs`, async () => {
      const { name, words: rest } = splitName([...words, ...STORE]);
      assertEquals(flagsOf(SETS[set]), permissionFlags(await requirementsOf(toCall(name, rest))));
    });
  }
}

Deno.test("permission sets: with just its set the server keeps state in the checkout", async () => {
  // The same settings in a directory of the test's, so that the state is kept there.
  await using home = emptyHome();
  const settings = JSON.parse(Deno.readTextFileSync(`${ROOT}deno.json`));
  await Deno.writeTextFile(`${home.path}/deno.json`, JSON.stringify({ ...settings, lock: false }));
  const line = `deno run -q -P=serve --config deno.json ${PROGRAM} --backend sqlite:///.mcpstate/state.db`;
  const { code, stdout, stderr } = await runLine(line, home.path, MINT_AND_GO, home.path);
  assertEquals([code, stderr], [0, ""]);
  assertStringIncludes(stdout, '\\"handle\\":\\"cart_');
  assertEquals([...Deno.readDirSync(home.path)].map(({ name }) => name).toSorted(), [".mcpstate", "deno.json"]);
});
