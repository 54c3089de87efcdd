/**
 * Every example runs as its own head says, and prints what the README shows.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { startRedis } from "./redis_server.ts";
import { connectTo, succeed } from "./server/client.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** The command in the head of an example. */
function commandOf(file: string): readonly string[] {
  const [, command] = / \* (deno run .*)/.exec(Deno.readTextFileSync(`${ROOT}${file}`)) ?? [];
  assert(command !== undefined, `${file} does not say how it is run`);
  return command.split(" ").slice(1);
}

/** Where an example that starts others finds the very Deno that runs the tests. */
const PATH = `${dirname(Deno.execPath())}:${Deno.env.get("PATH")}`;

async function run(file: string, ...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: args.length === 0 ? [...commandOf(file)] : [...commandOf(file).slice(0, -args.length), ...args],
    cwd: ROOT,
    env: { NO_COLOR: "1", PATH },
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

Deno.test("shopping cart: a laptop and a phone fill it at once, over Redis", async () => {
  await using server = await startRedis();
  const command = commandOf("examples/shopping_cart.ts");
  assert(command.at(-1)?.startsWith("redis://"), "the head names the server last");
  assertEquals((await run("examples/shopping_cart.ts", server.url)).trim().split("\n"), [
    "Both at once: version 6, 5 items, total 153 DKK.",
    "Nothing is lost: apples, butter, coffee, milk, rye bread.",
    "laptop wrote 2 versions.",
    "phone wrote 3 versions.",
    "Paid: true; before the checkout: false.",
  ]);
});

Deno.test("hosting with tokens: each device has its own, and what one lost can read ends with it", async () => {
  assertEquals((await run("examples/hosting_with_tokens.ts")).trim().split("\n"), [
    "Alice's phone reads tent and map; the last to write was her laptop.",
    "Bob's list has 0 handles, and her handle gives him handle_not_found.",
    "The phone is lost and its token revoked: HTTP 401.",
    "The laptop still reads version 2.",
  ]);
});

Deno.test("own server: its tools and those of the state share documents, held to their schema", async () => {
  const directory = await Deno.makeTempDir();
  const [subcommand, ...flags] = commandOf("examples/own_server.ts");
  const file = flags.pop();
  const args = [subcommand, ...flags, "--config", `${ROOT}deno.json`, `${ROOT}${file}`];
  {
    await using connection = await connectTo({ command: Deno.execPath(), args, cwd: directory, stderr: "inherit" });
    const { structuredContent } = await connection.raw("plan_trip", { city: "Aarhus", nights: 2 });
    const { trip } = Object(structuredContent);
    const stop = await connection.raw("add_stop", { trip, name: "ARoS" });
    assertEquals(stop.structuredContent, { version: 2, stops: ["ARoS"] });
    const loaded = await succeed(connection, "state_load", { handle: trip });
    assertEquals([loaded.title, loaded.state], ["Trip to Aarhus", { city: "Aarhus", nights: 2, stops: ["ARoS"] }]);
    const ops = [{ op: "set_key", path: "", key: "nights", value: 99 }];
    const refused = await connection.raw("state_patch", { handle: trip, ops });
    assert(refused.isError, "the schema holds for every tool");
  }
  await Deno.remove(directory, { recursive: true });
});

Deno.test("examples: each is run by a test", () => {
  const files = [...Deno.readDirSync(`${ROOT}examples`)].map(({ name }) => name).toSorted();
  assertEquals(files, [
    "hosting_with_tokens.ts",
    "langgraph_agent.ts",
    "merge_conflict.ts",
    "own_server.ts",
    "research_assistant.ts",
    "shopping_cart.ts",
  ]);
});
