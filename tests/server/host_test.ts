/**
 * What the host of a model says of a call, and what nobody expected.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { createServer } from "../../src/server/server.ts";
import { VERSION } from "../../src/server/version.ts";
import { openSqliteBackend } from "../../src/backends/sqlite.ts";
import { InvalidInput } from "../../src/document/errors.ts";
import { HandleStore } from "../../src/store/store.ts";
import { assertThrows } from "@std/assert";
import { connectInProcess, fail, succeed } from "./client.ts";
import { openServer } from "./stores.ts";

Deno.test("turn and writer come with the request, from the host", async () => {
  await using server = await openServer();
  const { client } = server;
  const meta = (turn: number, writer: string) => ({ "mcpstate/turn": turn, "mcpstate/writer": writer });
  const cart = { kind: "cart", state: { city: "Copenhagen" } };
  const { handle } = await succeed(client, "state_save", cart, meta(1, "phone"));
  const ops = [{ op: "set_key", path: "", key: "city", value: "Aarhus" }];
  await succeed(client, "state_patch", { handle, ops }, meta(3, "laptop"));
  const first = await succeed(client, "state_load", { handle, turn: 2 });
  assertEquals([first.state, first.as_of, first.version], [{ city: "Copenhagen" }, { turn: 2 }, 1]);
  const { entries } = await succeed(client, "state_changes", { handle });
  assertEquals(entries.map(({ turn, writer }) => [turn, writer]), [[1, "phone"], [3, "laptop"]]);
  assertEquals((await fail(client, "state_patch", { handle, ops }, { "mcpstate/turn": "3" })).field, "turn");
  assertEquals((await fail(client, "state_patch", { handle, ops }, { "mcpstate/writer": 3 })).field, "writer");
  assertEquals((await fail(client, "state_load", { handle, turn: 9 })).code, "turn_not_found");
});

Deno.test("the writer is the one of the server's options, else the client's name", async () => {
  await using named = await openServer({ writer: "laptop" });
  const first = await succeed(named.client, "state_save", { kind: "cart", state: {} });
  assertEquals((await succeed(named.client, "state_load", { handle: first.handle })).last_writer, "laptop");
  await using unnamed = await openServer();
  const second = await succeed(unnamed.client, "state_save", { kind: "cart", state: {} });
  assertEquals((await succeed(unnamed.client, "state_load", { handle: second.handle })).last_writer, "in-process");
});

Deno.test("another user's handle is not found", async () => {
  await using server = await openServer();
  const handle = await server.store.mint("cart", {}, { user: "bob" });
  assertEquals(await fail(server.client, "state_load", { handle }), {
    code: "handle_not_found",
    message: `There is no handle "${handle}". List the handles to see what there is, or mint a new one.`,
    handle,
  } as never);
  for (const tool of ["state_delete", "state_touch", "state_changes"]) {
    assertEquals((await fail(server.client, tool, { handle })).code, "handle_not_found");
  }
});

Deno.test("what nobody expected is internal_error without its text, and is logged", async () => {
  const backend = await openSqliteBackend();
  const broken = new Proxy(backend, {
    get(target, name) {
      if (name === "list") return () => Promise.reject(new Error("secret of /var/lib/state.db"));
      const value = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  await using store = new HandleStore(broken);
  await using client = await connectInProcess(store, { user: "alice" });
  const logged: unknown[] = [];
  const original = console.error;
  console.error = (...args) => logged.push(...args);
  try {
    const error = await fail(client, "state_list", {});
    assertEquals(error.code, "internal_error");
    assert(!JSON.stringify(error).includes("secret"));
  } finally {
    console.error = original;
  }
  assert(logged.some((each) => each instanceof Error && each.message.includes("secret")));
});

Deno.test("conflicts and refusals are not logged", async () => {
  await using server = await openServer();
  const { handle } = await succeed(server.client, "state_save", { kind: "cart", state: {} });
  const logged: unknown[] = [];
  const original = console.error;
  console.error = (...args) => logged.push(...args);
  try {
    await succeed(server.client, "state_save", { handle, expect_version: 1, state: { tea: 1 } });
    for (let i = 0; i < 100; i++) await fail(server.client, "state_save", { handle, expect_version: 1, state: {} });
  } finally {
    console.error = original;
  }
  assertEquals(logged, []);
});

Deno.test("createServer refuses a blank user and an answer too short for an error", async () => {
  await using store = await HandleStore.fromUrl("sqlite:///:memory:");
  assertThrows(() => createServer(store, { user: " " }), InvalidInput);
  assertThrows(() => createServer(store, { user: "alice", maxAnswerChars: 100 }), RangeError);
});

Deno.test("the version is that of the package", () => {
  const { version } = JSON.parse(Deno.readTextFileSync(new URL("../../deno.json", import.meta.url)));
  assertEquals(VERSION, version);
});
