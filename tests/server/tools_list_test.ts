/**
 * What clients are strict about in a list of tools.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { type Connection, connectLegacy, connectModern, emptyHome } from "./client.ts";
import { CLIENTS } from "./http_client.ts";
import { openSite } from "./http_site.ts";

const NAMES = [
  "state_save",
  "state_load",
  "state_list",
  "state_patch",
  "state_touch",
  "state_delete",
  "state_changes",
  "state_restore",
  "inspect_state",
];
const HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

function* schemasIn(schema: unknown, pointer = ""): Generator<readonly [string, Record<string, unknown>]> {
  if (typeof schema !== "object" || schema === null) return;
  if (!Array.isArray(schema)) yield [pointer, schema as Record<string, unknown>];
  for (const [key, value] of Object.entries(schema)) yield* schemasIn(value, `${pointer}/${key}`);
}

function checkTools({ tools, instructions }: Connection): void {
  assertEquals(tools.map(({ name }) => name), NAMES);
  for (const { name, title, description = "", inputSchema, outputSchema = {}, annotations = {} } of tools) {
    assert(name.length <= 16, name);
    assert(title, `${name} has no title`);
    assert(description.length > 0 && description.length <= 2_048, `${name}: ${description.length} characters`);
    for (const hint of HINTS) assertEquals(typeof annotations[hint], "boolean", `${name} ${hint}`);
    for (const root of [inputSchema, outputSchema]) {
      assertEquals([root.type, root.oneOf, root.anyOf, root.allOf], ["object", undefined, undefined, undefined]);
      for (const [pointer, schema] of schemasIn(root)) {
        const place = `${name} ${pointer}`;
        assert(!("$ref" in schema) && !("$defs" in schema), place);
        assert(!("oneOf" in schema) && !("anyOf" in schema) && !("allOf" in schema), place);
        assert(schema.type !== "array" || "items" in schema, place);
        if ("$schema" in schema) assertEquals(schema.$schema, "https://json-schema.org/draft/2020-12/schema");
      }
    }
  }
  assert(instructions !== undefined && instructions.length > 0 && instructions.length <= 2_048);
}

Deno.test("tools are listed as clients need them, to a client of 2025-11-25", async () => {
  await using home = emptyHome();
  await using connection = await connectLegacy({ home: home.path });
  checkTools(connection);
});

Deno.test("tools are listed as clients need them, to a client of 2026-07-28", async () => {
  await using home = emptyHome();
  await using connection = await connectModern({ home: home.path });
  checkTools(connection);
});

for (const [name, connect] of Object.entries(CLIENTS)) {
  Deno.test(`tools are listed as clients need them, over HTTP to ${name}`, async () => {
    await using site = await openSite();
    await using connection = await connect(await site.caller("alice"));
    checkTools(connection);
  });
}

Deno.test("only deleting is destructive, only reading is read-only", async () => {
  await using home = emptyHome();
  await using connection = await connectModern({ home: home.path });
  const named = (hint: string) => connection.tools.filter((tool) => tool.annotations?.[hint]).map(({ name }) => name);
  assertEquals(named("destructiveHint"), ["state_delete"]);
  assertEquals(named("readOnlyHint"), ["state_load", "state_list", "state_changes", "inspect_state"]);
});
