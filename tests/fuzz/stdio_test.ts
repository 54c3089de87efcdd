/**
 * A server process whose client sends anything: every request is answered, each byte is JSON-RPC, nothing else changes.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { emptyHome } from "../server/client.ts";
import { type Message, readText, ServerProcess } from "../server/process.ts";
import { hostileJson, hostileText, spoilt } from "./hostile.ts";
import { always } from "./rule.ts";

const CODES = [
  "invalid_input",
  "handle_not_found",
  "handle_expired",
  "stale_write",
  "patch_error",
  "path_not_found",
  "state_too_large",
  "version_not_found",
  "version_pruned",
  "turn_not_found",
  "no_turn_history",
];

/** What each tool is rightly called with, for a document of this name. */
const tools = (handle: string) =>
  fc.constantFrom<readonly [name: string, args: Record<string, unknown>]>(
    ["state_save", { kind: "cart", state: { items: [] }, ttl_days: 7, title: "Tea", request_id: "r" }],
    ["state_save", { handle, state: { items: [1] }, expect_version: 1, on_conflict: "merge" }],
    ["state_load", { handle, path: "items", version: 1, max_chars: 500 }],
    ["state_load", { handle, at: "2999-01-01" }],
    ["state_list", { kind: "cart", query: "tea", limit: 5, cursor: "x" }],
    ["state_patch", { handle, ops: [{ op: "append", path: "items", value: 1 }], request_id: "p" }],
    ["state_touch", { handle, ttl_days: 1 }],
    ["state_delete", { handle, expect_version: 99 }],
    ["state_changes", { handle, since_version: 0, limit: 5 }],
    ["state_restore", { handle, version: 1, expect_version: 1 }],
    ["inspect_state", { handle, key: "items", pattern: "t.a", path: "0", version: 1 }],
  );

Deno.test("stdio: whatever a tool is sent is answered, with an error of ours by its field or with a result", async () => {
  await using home = emptyHome();
  await using server = new ServerProcess({ home: home.path });
  await server.initialize();
  const state = { items: ["tea"], city: "Aarhus" };
  const kept = await server.call(1, "state_save", { kind: "trip", state });
  const { handle } = await server.call(2, "state_save", { kind: "cart", state: { items: [] } });
  let id = 3;
  const spoiltCall = tools(String(handle)).chain(([name, args]) =>
    fc.tuple(
      fc.oneof({ weight: 9, arbitrary: fc.constant(name) }, { weight: 1, arbitrary: hostileText }),
      spoilt(fc.constant(args)),
      fc.option(spoilt(fc.constant({ "mcpstate/turn": 1, "mcpstate/writer": "phone" }))),
    )
  );
  await always(spoiltCall, async ([name, args, meta]) => {
    const params = { name, arguments: args, ...(meta === null ? {} : { _meta: meta }) };
    const answer = await server.request(id++, "tools/call", params as Record<string, unknown>);
    if (answer.result?.isError === true) checkError(answer);
    else {assert(
        answer.error === undefined ? answer.result !== undefined : answer.error.code < 0,
        JSON.stringify(answer),
      );}
  }, 300);
  assertEquals((await server.call(id++, "state_load", { handle: kept.handle })).state, state);
  await server.end();
  assertEquals((await server.finish()).code, 0);
});

function checkError(answer: Message): void {
  const { ok, error } = readText(answer) as { ok: unknown; error: Record<string, unknown> };
  assertEquals(ok, false);
  assert(CODES.includes(String(error.code)), `${error.code}: ${error.message}`);
  assert(String(error.message).length <= 4_000, `${String(error.message).length} characters`);
  if (error.code !== "invalid_input") return;
  const { field, message } = error;
  // An argument that nobody knows may have no name.
  assert(typeof field === "string" && (field !== "" || String(message).includes('no argument ""')), String(message));
}

Deno.test("stdio: lines that are no requests are passed over or refused, and the next one is answered", async () => {
  await using home = emptyHome();
  await using server = new ServerProcess({ home: home.path });
  await server.initialize();
  let id = 1;
  const request = { jsonrpc: "2.0", method: "tools/list", params: { cursor: "x" } };
  const lines = fc.oneof(
    spoilt(fc.constant({ ...request, id: 1e6 })).map((value) => JSON.stringify(value) ?? ""),
    spoilt(fc.constant({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } }))
      .map((value) => JSON.stringify(value) ?? ""),
    hostileJson.map((value) => JSON.stringify(value)),
    hostileText.map((text) => text.replaceAll(/[\r\n]/g, " ")),
    fc.constantFrom(
      '{"jsonrpc": "2.0", "id": 1, "method": ',
      "[".repeat(50_000),
      '{"a":'.repeat(20_000),
      "\u0000",
      "[]",
    ),
  );
  await always(lines, async (line) => {
    await server.send(line);
    const { result } = await server.request(id++, "tools/list", {});
    assert(Array.isArray(result?.tools) && result.tools.length === 9);
  }, 150);
  await server.end();
  assertEquals((await server.finish()).code, 0);
});
