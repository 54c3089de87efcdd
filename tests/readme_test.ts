/**
 * What the README gives to be pasted starts a server.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import { emptyHome } from "./server/client.ts";
import { MINT_AND_GO, runLine, runProgram } from "./cli/program.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const README = Deno.readTextFileSync(`${ROOT}README.md`);

/** What each stdio configuration runs, word by word. */
function configurations(): readonly (readonly string[])[] {
  const blocks = [...README.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text]) => JSON.parse(text));
  const servers = blocks.flatMap(({ mcpServers, servers }) => Object.values(mcpServers ?? servers ?? {}));
  const started = servers.filter((server): server is { command: string; args: string[] } =>
    typeof server === "object" && server !== null && "command" in server
  ).map(({ command, args }) => [command, ...args]);
  const added = [...README.matchAll(/^claude mcp add .*? -- (.*)$/gm)].map(([, line]) => line.split(" "));
  return [...started, ...added];
}

Deno.test("each stdio configuration in the README starts a server", async () => {
  const found = configurations();
  assertEquals(found.map(([command]) => command).toSorted(), ["deno", "deno", "deno", "npx"]);
  for (const words of found) {
    await using home = emptyHome();
    const program = words[0] === "npx" ? ["deno", ...words.slice(3)] : words;
    if (words[0] === "npx") assertEquals(words.slice(1, 3), ["-y", "deno@2.9.6"]);
    // In the checkout the package's name leads to the checkout.
    const [deno, run, ...rest] = program.map((word) => word.replace("/home/you", home.path));
    const line = [deno, run, "-q", "--cached-only", ...rest].join(" ");
    const { code, stdout, stderr } = await runLine(line, home.path, MINT_AND_GO, ROOT);
    assertEquals([code, stderr], [0, ""], line);
    assertStringIncludes(stdout, '\\"handle\\":\\"cart_');
  }
});

Deno.test("packaging works with exactly the permissions that are printed", async () => {
  await using home = emptyHome();
  const flags = ["--allow-env=HOME"];
  const { stdout } = await runProgram({ home: home.path, flags, args: ["permissions", "--json"] });
  const { compile } = JSON.parse(stdout);
  const line = compile.replace("--output=mcpstate", `--output=${home.path}/mcpstate`);
  const packed = await runLine(`DENORT_BIN=${Deno.execPath()} ${line}`, home.path, "", ROOT);
  assertEquals(packed.code, 0, packed.stderr);
  assert((await Deno.stat(`${home.path}/mcpstate`)).size > 1_000_000);
});
