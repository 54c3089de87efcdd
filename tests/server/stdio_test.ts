/**
 * The process and its pipes: nothing but JSON-RPC comes out, and it ends when and as it should.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { emptyHome } from "./client.ts";
import { readText, ServerProcess } from "./process.ts";

const MODERN = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

Deno.test("when its input ends the server exits with 0, and quietly", async () => {
  await using home = emptyHome();
  await using server = new ServerProcess({ home: home.path });
  await server.initialize();
  await server.end();
  const { code, stderr } = await server.finish();
  assertEquals([code, stderr], [0, ""]);
});

Deno.test("a server whose input never says anything exits with 0", async () => {
  await using home = emptyHome();
  await using server = new ServerProcess({ home: home.path });
  await server.end();
  assertEquals((await server.finish()).code, 0);
  assertEquals(server.messages(), []);
});

Deno.test("what was asked before the input ended is done and answered", async () => {
  await using home = emptyHome();
  await using server = new ServerProcess({ home: home.path });
  await server.initialize();
  for (let id = 1; id <= 50; id++) {
    const params = { name: "state_save", arguments: { kind: "cart", state: { id } } };
    await server.send({ jsonrpc: "2.0", id, method: "tools/call", params });
  }
  await server.end();
  assertEquals((await server.finish()).code, 0);
  assertEquals(
    server.messages().map(({ id }) => Number(id)).sort((a, b) => a - b),
    Array.from({ length: 51 }, (_, i) => i),
  );
});

Deno.test("SIGTERM in the middle of writing loses nothing that was acknowledged", async () => {
  await using home = emptyHome();
  await using server = new ServerProcess({ home: home.path });
  await server.initialize();
  const { handle } = await server.call(1, "state_save", { kind: "log", state: { entries: [] } });
  const ids = Array.from({ length: 400 }, (_, i) => i + 2);
  const sending = (async () => {
    for (const id of ids) {
      const ops = [{ op: "append", path: "entries", value: id }];
      await server.send({
        jsonrpc: "2.0",
        id,
        method: "tools/call",
        params: { name: "state_patch", arguments: { handle, ops } },
      });
    }
  })().catch(() => {}); // the pipe breaks when the server is gone
  await server.answerTo(20);
  server.kill("SIGTERM");
  const { code, stderr } = await server.finish();
  await sending;
  assertEquals([code, stderr], [0, ""]);
  const acknowledged = server.messages().map(({ id }) => Number(id)).filter((id) => id >= 2);
  assert(acknowledged.length >= 19);

  await using next = new ServerProcess({ home: home.path });
  await next.initialize();
  const { state } = await next.call(1, "state_load", { handle }) as { state: { entries: number[] } };
  assertEquals(acknowledged.filter((id) => !state.entries.includes(id)), []);
  assertEquals(new Set(state.entries).size, state.entries.length);
});

Deno.test("SIGINT ends an idle server with 0", async () => {
  await using home = emptyHome();
  await using server = new ServerProcess({ home: home.path });
  await server.initialize();
  server.kill("SIGINT");
  assertEquals((await server.finish()).code, 0);
});

Deno.test("every byte of output is JSON-RPC, whatever the input", async () => {
  await using home = emptyHome();
  await using server = new ServerProcess({
    home: home.path,
    env: { DEBUG: "*", NODE_DEBUG: "*", MCPSTATE_WRITER: "laptop" },
  });
  for (
    const line of ["", "no json", "[]", "null", '{"jsonrpc":"2.0"}', '{"jsonrpc":"2.0","id":{},"method":"x"}', "\u0000"]
  ) {
    await server.send(line);
  }
  await server.initialize();
  await server.request(1, "no/such/method", {});
  await server.request(2, "tools/call", { name: "no_such_tool", arguments: {} });
  await server.request(3, "tools/call", { name: "state_load", arguments: { handle: "cart_22222222" } });
  await server.request(4, "tools/call", {
    name: "state_save",
    arguments: { kind: "cart", state: { "\u2028": "\ud800" } },
  });
  await server.request(5, "logging/setLevel", { level: "debug" });
  server.kill("SIGTERM");
  assertEquals((await server.finish()).code, 0);
  const codes = server.messages().filter(({ id }) => id === null).map(({ error }) => error?.code);
  assertEquals(server.messages().length - codes.length, 6);
  assertEquals(new Set(codes), new Set([-32700, -32600]));
});

Deno.test("a line that is no message is answered with its id where that can be read, and an answer never", async () => {
  await using home = emptyHome();
  await using server = new ServerProcess({ home: home.path });
  const cases: readonly (readonly [line: string, id: unknown, code: number])[] = [
    ["no json", null, -32700],
    ['{"jsonrpc":"2.0","id":71', null, -32700],
    ['{"id":72,"method":"tools/list"}', 72, -32600],
    ['{"jsonrpc":"2.0","id":"a","method":7}', "a", -32600],
    ['{"jsonrpc":"1.0","id":73}', 73, -32600],
    ['{"jsonrpc":"2.0","id":{},"method":"x"}', null, -32600],
    ['{"jsonrpc":"2.0","id":1.5,"method":7}', null, -32600],
    ['[{"jsonrpc":"2.0","id":74,"method":"tools/list"}]', null, -32600],
    ["null", null, -32600],
  ];
  for (const [line] of cases) await server.send(line);
  for (const line of ["", "\r", '{"id":75,"result":1}', '{"jsonrpc":"2.0","id":{},"error":{}}']) {
    await server.send(line);
  }
  await server.initialize();
  assertEquals(
    server.messages().filter(({ id }) => id !== 0).map(({ id, error }) => [id, error?.code]),
    cases.map(([, id, code]) => [id, code]),
  );
});

Deno.test("a byte order mark before the first message, and CRLF, lose nothing", async () => {
  await using home = emptyHome();
  await using server = new ServerProcess({ home: home.path });
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bare", version: "1" } };
  await server.send(`\ufeff${JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params })}\r`);
  assertEquals((await server.answerTo(0)).error, undefined);
});

Deno.test("a call nested 20,000 levels deep is refused in both eras", async () => {
  await using home = emptyHome();
  const state = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
  const call = (meta: object) =>
    `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"_meta":${JSON.stringify(meta)},"name":"state_save",` +
    `"arguments":{"kind":"cart","state":${state}}}}`;
  for (const meta of [{}, MODERN]) {
    await using server = new ServerProcess({ home: home.path });
    if (meta !== MODERN) await server.initialize();
    await server.send(call(meta));
    const { error } = readText(await server.answerTo(7)) as { error: Record<string, unknown> };
    assertEquals([error.code, error.field], ["invalid_input", "state"]);
    assertStringIncludes(String(error.message), "100 levels");
  }
});

Deno.test("a client of 2026-07-28 may leave out who it is", async () => {
  await using home = emptyHome();
  await using server = new ServerProcess({ home: home.path });
  const call = async (id: number, name: string, args: Record<string, unknown>) =>
    readText(await server.request(id, "tools/call", { _meta: MODERN, name, arguments: args }));
  const { handle } = await call(1, "state_save", { kind: "cart", state: {} });
  assertEquals((await call(2, "state_load", { handle })).last_writer, "unknown");
});

Deno.test("a line that is larger than any may be is passed over, and the next one is answered", async () => {
  await using home = emptyHome();
  await using server = new ServerProcess({ home: home.path });
  await server.initialize();
  await server.send(`{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"${"a".repeat(11 * 1024 * 1024)}"}}`);
  const { result } = await server.request(2, "tools/list", {});
  assert(Array.isArray(result?.tools));
  assertEquals(server.messages().filter(({ id }) => id === null).map(({ error }) => error?.code), [-32600]);
});
