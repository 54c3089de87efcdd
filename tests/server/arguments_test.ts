/**
 * What clients send: as JSON, as JSON text, in the wrong shape, or far too much of it.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type Connection, connectLegacy, connectModern, emptyHome, fail, succeed } from "./client.ts";
import { CLIENTS } from "./http_client.ts";
import { openSite } from "./http_site.ts";
import { openServer } from "./stores.ts";

async function sendJsonText(client: Connection): Promise<void> {
  const { handle } = await succeed(client, "state_save", { kind: "cart", state: '{"items": [], "note": "{}"}' });
  const ops = [
    { op: "append", path: "items", value: '{"tea": 1}' },
    { op: "merge", mapping: '{"city": "Aarhus", "more": "[1]"}' },
    { op: "set_key", path: "", key: "text", value: "[1, 2]" },
  ];
  await succeed(client, "state_patch", { handle, ops: JSON.stringify(ops) });
  assertEquals((await succeed(client, "state_load", { handle })).state, {
    items: ['{"tea": 1}'],
    note: "{}",
    city: "Aarhus",
    more: "[1]",
    text: "[1, 2]",
  });
  await succeed(client, "state_patch", { handle, ops: [JSON.stringify({ op: "del_key", path: "", key: "text" })] });
}

Deno.test("state, ops and mapping are read from JSON text; a value stays text", async () => {
  await using server = await openServer();
  await sendJsonText(server.client);
});

for (const [name, connect] of Object.entries(CLIENTS)) {
  Deno.test(`state, ops and mapping are read from JSON text over HTTP too, with ${name}`, async () => {
    await using site = await openSite();
    await using client = await connect(await site.caller("alice"));
    await sendJsonText(client);
  });
}

Deno.test("text that is no JSON is refused by its field", async () => {
  await using server = await openServer();
  const { client } = server;
  assertEquals((await fail(client, "state_save", { kind: "cart", state: "{'a': 1}" })).field, "state");
  assertEquals((await fail(client, "state_save", { kind: "cart", state: "[1]" })).field, "state");
  const { handle } = await succeed(client, "state_save", { kind: "cart", state: {} });
  assertEquals((await fail(client, "state_patch", { handle, ops: "append" })).field, "ops");
  const error = await fail(client, "state_patch", { handle, ops: [{ op: "merge", mapping: "{" }] });
  assertEquals([error.code, error.field, error.path], ["invalid_input", "ops", "/0/mapping"]);
});

Deno.test("arguments of the wrong shape are refused as invalid_input with their field", async () => {
  await using server = await openServer();
  const { client } = server;
  const { handle } = await succeed(client, "state_save", { kind: "cart", state: {}, ttl_days: 1 });
  const cases: readonly (readonly [tool: string, args: Record<string, unknown>, field: string])[] = [
    ["state_save", { kind: "cart" }, "state"],
    ["state_save", { kind: 7, state: {} }, "kind"],
    ["state_save", { kind: "Cart", state: {} }, "kind"],
    ["state_save", { state: {} }, "kind"],
    ["state_save", { kind: "cart", state: {}, expect_version: 1 }, "handle"],
    ["state_save", { kind: "cart", state: {}, on_conflict: "merge" }, "handle"],
    ["state_save", { handle, state: {}, expect_version: "1" }, "expect_version"],
    ["state_save", { handle, state: {}, expect_version: 1.5 }, "expect_version"],
    ["state_save", { handle, state: {}, expect_version: 9 }, "expect_version"],
    ["state_save", { handle, state: {}, expect_version: 1, kind: "research" }, "kind"],
    ["state_save", { handle, state: {}, expect_version: 1, on_conflict: "win" }, "on_conflict"],
    ["state_save", { kind: "cart", state: {}, ttl_days: "7" }, "ttl_days"],
    ["state_save", { kind: "cart", state: {}, ttl_days: 0 }, "ttl_days"],
    ["state_save", { kind: "cart", state: {}, ttl: 7 }, "ttl"],
    ["state_load", {}, "handle"],
    ["state_load", { handle, version: 1, turn: 1 }, "version"],
    ["state_load", { handle, at: "yesterday" }, "at"],
    ["state_load", { handle, max_chars: 10 }, "max_chars"],
    ["state_load", { handle, path: "a..b" }, "path"],
    ["state_list", { limit: 101 }, "limit"],
    ["state_list", { cursor: "abc" }, "cursor"],
    ["state_patch", { handle }, "ops"],
    ["state_patch", { handle, ops: { op: "append" } }, "ops"],
    ["state_touch", { handle, ttl_days: 7, persist: true }, "ttl_days"],
    ["state_touch", { handle, persist: "yes" }, "persist"],
    ["state_delete", { handle, expect_version: 0 }, "expect_version"],
    ["state_restore", { handle, expect_version: 1 }, "version"],
    ["state_changes", { handle, since_version: 9 }, "since_version"],
    ["state_changes", { handle, since_version: -1 }, "since_version"],
    ["state_changes", { handle, limit: 0 }, "limit"],
  ];
  for (const [tool, args, field] of cases) {
    const error = await fail(client, tool, args);
    assertEquals([error.code, error.field], ["invalid_input", field], `${tool} ${JSON.stringify(args)}`);
  }
  assertEquals((await succeed(client, "state_load", { handle })).version, 1);
});

Deno.test("saving over a handle without expect_version names the version and says to load first", async () => {
  await using server = await openServer();
  const { handle } = await succeed(server.client, "state_save", { kind: "cart", state: {} });
  await succeed(server.client, "state_patch", { handle, ops: [{ op: "set_key", path: "", key: "tea", value: 1 }] });
  const error = await fail(server.client, "state_save", { handle, state: {} });
  assertEquals([error.code, error.field], ["invalid_input", "expect_version"]);
  assertStringIncludes(error.message, "version 2");
  assertStringIncludes(error.message, "state_load");
  assertEquals(
    (await fail(server.client, "state_save", { handle: "cart_22222222", state: {} })).code,
    "handle_not_found",
  );
});

Deno.test("null stands for what is left out", async () => {
  await using server = await openServer();
  const { handle } = await succeed(server.client, "state_save", {
    kind: "cart",
    state: { tea: null },
    handle: null,
    ttl_days: null,
    title: null,
    request_id: null,
  });
  assertEquals((await succeed(server.client, "state_load", { handle, path: null, version: null })).state, {
    tea: null,
  });
});

Deno.test("touch renews by the last time to live, sets another, or ends it", async () => {
  await using server = await openServer();
  const { client } = server;
  const { handle } = await succeed(client, "state_save", { kind: "cart", state: {}, ttl_days: 1 });
  const days = async (args: Record<string, unknown>) => {
    const { expires_at, version } = await succeed(client, "state_touch", { handle, ...args });
    assertEquals(version, 1);
    return expires_at && Math.round((Date.parse(expires_at) - Date.now()) / 86_400_000);
  };
  assertEquals(await days({}), 1);
  assertEquals(await days({ ttl_days: 30 }), 30);
  assertEquals(await days({ persist: false }), 30);
  assertEquals(await days({ persist: true }), null);
  assertEquals(await days({}), null);
});

function nestedText(levels: number): string {
  return `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
}

for (const [era, connect] of [["1.x", connectLegacy], ["2.x", connectModern]] as const) {
  Deno.test(`what is far too deep, too large or too much is refused, and the server lives on: ${era} client`, async () => {
    await using home = emptyHome();
    await using client = await connect({ home: home.path });
    const { handle } = await succeed(client, "state_save", { kind: "cart", state: { items: [] } });
    const deep = JSON.parse(nestedText(5_000));
    for (const state of [deep, nestedText(20_000)]) {
      const error = await fail(client, "state_save", { kind: "cart", state });
      assertEquals([error.code, error.field], ["invalid_input", "state"]);
    }
    const ops = [{ op: "append", path: "items", value: deep }];
    assertEquals((await fail(client, "state_patch", { handle, ops })).code, "invalid_input");
    const large = { text: "x".repeat(5 * 1024 * 1024) };
    assertEquals((await fail(client, "state_save", { kind: "cart", state: large })).code, "state_too_large");
    const many = Array.from({ length: 400_000 }, () => 1);
    for (const state of [{ many }, JSON.stringify({ many })]) {
      const error = await fail(client, "state_save", { kind: "cart", state });
      assertEquals([error.code, error.field], ["invalid_input", "state"]);
      assertStringIncludes(error.message, "250000");
    }
    assertEquals((await fail(client, "state_patch", { handle, ops: many })).code, "invalid_input");
    assertEquals((await succeed(client, "state_load", { handle })).state, { items: [] });
  });
}

Deno.test("a key named __proto__ is refused, not dropped", async () => {
  await using server = await openServer();
  const state = JSON.parse('{"__proto__": {"admin": true}}');
  assertEquals((await fail(server.client, "state_save", { kind: "cart", state })).code, "invalid_input");
  assert(!("admin" in {}));
});
