/**
 * Every example runs as its own head says, and prints what the README shows.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** The command in the head of an example. */
function commandOf(file: string): readonly string[] {
  const [, command] = / \* (deno run .*)/.exec(Deno.readTextFileSync(`${ROOT}${file}`)) ?? [];
  assert(command !== undefined, `${file} does not say how it is run`);
  return command.split(" ").slice(1);
}

async function run(file: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...commandOf(file)],
    cwd: ROOT,
    env: { NO_COLOR: "1" },
  }).output();
  assert(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

Deno.test("research assistant: prints what the README shows", async () => {
  const output = await run("examples/research_assistant.ts");
  assertStringIncludes(Deno.readTextFileSync(`${ROOT}README.md`), output.trim());
});

Deno.test("merge conflict: what does not clash lands, what does is named and decided", async () => {
  assertEquals((await run("examples/merge_conflict.ts")).trim().split("\n"), [
    'version 3: {"city":"Aarhus","days":5,"stops":["Nyhavn","ARoS","Tivoli"]}',
    "clash at /city: Copenhagen became Aarhus and Odense",
    'version 4: {"city":"Aarhus","days":5,"stops":["Nyhavn","ARoS","Tivoli"],"wishes":["Odense"]}',
  ]);
});

Deno.test("langgraph agent: prints what the README shows", async () => {
  const output = await run("examples/langgraph_agent.ts");
  assertStringIncludes(Deno.readTextFileSync(`${ROOT}README.md`), output.trim());
});

Deno.test("examples: each is run by a test", () => {
  const files = [...Deno.readDirSync(`${ROOT}examples`)].map(({ name }) => name).toSorted();
  assertEquals(files, ["langgraph_agent.ts", "merge_conflict.ts", "research_assistant.ts"]);
});
