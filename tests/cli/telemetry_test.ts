/**
 * What the program sends to whoever collects telemetry: the real process with the printed permissions, and a real receiver.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { HandleStore } from "../../src/store/store.ts";
import { OtlpReceiver } from "../otlp_receiver.ts";
import { emptyHome } from "../server/client.ts";
import { callTool, connectHttpLegacy, connectHttpModern, readCall } from "../server/http_client.ts";
import { startServer } from "../server/http_process.ts";
import { ServerProcess } from "../server/process.ts";
import { runProgram } from "./program.ts";

/** What must be in nothing that is sent: a user, a token, a state, what a caller calls things. */
const SECRETS = {
  user: "canary-user",
  token: "canary-token",
  state: "canary-state",
  key: "canary-key",
  title: "canary-title",
  request: "canary-request",
  tool: "canary-tool",
  writer: "canary-writer",
} as const;

const HTTP = ["serve", "--transport", "http", "--port", "0", "--user", SECRETS.user];

async function printed(home: string, args: readonly string[]): Promise<string> {
  const { stdout } = await runProgram({ home, flags: ["--allow-env=HOME"], args: ["permissions", ...args] });
  return stdout.split("\n").find((line) => line.startsWith("deno run ")) ?? "";
}

Deno.test("telemetry: a known set of calls is told in spans and numbers, and nothing of what they hold", async () => {
  await using home = emptyHome();
  await using receiver = new OtlpReceiver();
  const line = await printed(home.path, HTTP);
  assert(!line.includes("OTEL"), "it takes no permission");
  await using server = await startServer(line, home.path, receiver.variables);
  const reach = { url: server.url, token: SECRETS.token };
  const call = async (name: string, args: Record<string, unknown>) => await readCall(await callTool(reach, name, args));
  const minting = { kind: "trip", state: { [SECRETS.key]: SECRETS.state }, title: SECRETS.title };
  const { handle } = await call("state_save", minting) as { handle: string };
  for (let i = 0; i < 3; i++) await call("state_load", { handle });
  const setting = (value: number) => ({ handle, ops: [{ op: "set_key", path: "", key: "n", value }] });
  const once = { ...setting(1), request_id: SECRETS.request };
  assertEquals((await call("state_patch", once)).version, 2);
  assertEquals((await call("state_patch", once)).version, 2);
  const stale = await call("state_save", { handle, state: {}, expect_version: 1 });
  assertEquals((stale.error as { code: string }).code, "stale_write");
  {
    // Another process, as far as the server can tell; it keeps one version.
    const url = `sqlite:///${home.path}/.mcpstate/state.db`;
    await using store = await HandleStore.fromUrl(url, { retention: { versions: 1 } });
    const set = { op: "set_key", path: "", key: "n", value: 2 } as const;
    await store.patch(handle, [set], { user: SECRETS.user, writer: SECRETS.writer });
  }
  assertEquals((await call("state_patch", setting(3))).version, 4);
  const pruned = await call("state_load", { handle, version: 1 });
  assertEquals((pruned.error as { code: string }).code, "version_pruned");
  const query = new URL(`/threads/${handle}/state/${SECRETS.key}?version=4&access_token=${SECRETS.token}`, server.url);
  assertEquals((await (await fetch(query)).json()).value, SECRETS.state);
  await (await callTool(reach, SECRETS.tool, {})).body?.cancel();
  {
    await using connected = await connectHttpModern(reach);
    const uri = `mcpstate://handle/${handle}`;
    await connected.client.readResource({ uri });
    await connected.client.listResources();
    await connected.client.getPrompt({ name: "resume", arguments: { handle } });
    await connected.client.readResource({ uri: "mcpstate://handle/trip_aaaaaaaa" }).catch(() => {});
    await using legacy = await connectHttpLegacy(reach);
    await legacy.raw("state_load", { handle });
  }
  const traced = {
    traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    tracestate: "a=canary-tool",
  };
  {
    await using connected = await connectHttpModern(reach);
    await connected.raw("state_list", {}, traced);
  }
  server.kill("SIGTERM");
  assertEquals((await server.finish()).code, 0);

  const ours = receiver.spans.filter(({ scope }) => scope === "mcpstate");
  const told = (attributes: Record<string, unknown>) => ({
    "network.transport": "tcp",
    "mcp.protocol.version": "2026-07-28",
    ...attributes,
  });
  const tool = (name: string, more: Record<string, unknown> = {}) =>
    told({
      "mcp.method.name": "tools/call",
      "gen_ai.tool.name": name,
      "gen_ai.operation.name": "execute_tool",
      ...more,
    });
  const failed = (code: string) => ({ "error.type": "tool_error", "mcpstate.error.code": code });
  assertEquals(ours.map(({ name, kind, status, attributes }) => [name, kind, status, attributes]), [
    ["tools/call state_save", 2, 0, tool("state_save")],
    ...Array.from({ length: 3 }, () => ["tools/call state_load", 2, 0, tool("state_load")]),
    ["tools/call state_patch", 2, 0, tool("state_patch")],
    ["tools/call state_patch", 2, 0, tool("state_patch")],
    ["tools/call state_save", 2, 2, tool("state_save", failed("stale_write"))],
    ["tools/call state_patch", 2, 0, tool("state_patch")],
    ["tools/call state_load", 2, 2, tool("state_load", failed("version_pruned"))],
    ["resources/read", 2, 0, told({ "mcp.method.name": "resources/read" })],
    ["resources/list", 2, 0, told({ "mcp.method.name": "resources/list" })],
    ["prompts/get resume", 2, 0, told({ "mcp.method.name": "prompts/get", "gen_ai.prompt.name": "resume" })],
    [
      "resources/read",
      2,
      2,
      told({ "mcp.method.name": "resources/read", "error.type": "-32602", "rpc.response.status_code": "-32602" }),
    ],
    ["tools/call state_load", 2, 0, {
      "network.transport": "tcp",
      "mcp.method.name": "tools/call",
      "gen_ai.tool.name": "state_load",
      "gen_ai.operation.name": "execute_tool",
    }],
    ["tools/call state_list", 2, 0, tool("state_list")],
  ]);
  const [first, last] = [ours[0], ours[ours.length - 1]];
  assertEquals([last.traceId, last.parentSpanId], ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"]);
  assertEquals(last.links.length, 1, "the request that carried it");
  assert(receiver.spans.some(({ scope, traceId }) => scope === "deno" && traceId === first.traceId));

  const sums = ["cache.hits", "cache.misses", "write.conflicts", "write.retries", "write.replays", "read.pruned"]
    .map((name) => [name, receiver.metric(`mcpstate.${name}`)[""]]);
  assertEquals(Object.fromEntries(sums), {
    // Three loads; a write; its like, which reads the first result; one that looks before it is refused; the one that
    // lost; the thread's route; a resource; and the load of the older client.
    "cache.hits": 12,
    "cache.misses": 0,
    "write.conflicts": 1,
    "write.retries": 1,
    "write.replays": 1,
    "read.pruned": 1,
  });
  const count = (name: string) =>
    Object.entries(receiver.metric(name)).map(([attributes, value]) =>
      [
        /gen_ai.tool.name=(\w+)/.exec(attributes)?.[1] ?? /mcp.method.name=(\S+)/.exec(attributes)?.[1],
        /mcpstate.error.code=(\w+)/.exec(attributes)?.[1] ?? /error.type=(\S+)/.exec(attributes)?.[1] ?? "",
        value,
      ].join(" ")
    ).sort();
  assertEquals(count("mcpstate.calls"), [
    "prompts/get  1",
    "resources/list  1",
    "resources/read  1",
    "resources/read -32602 1",
    "state_list  1",
    "state_load  1",
    "state_load  3",
    "state_load version_pruned 1",
    "state_patch  3",
    "state_save  1",
    "state_save stale_write 1",
  ]);
  assertEquals(count("mcp.server.operation.duration"), count("mcpstate.calls"));

  assert(receiver.spans.some(({ attributes }) => attributes["url.path"] === "/threads/{handle}"));
  const sent = receiver.bodies.join("\n");
  for (const [what, secret] of Object.entries(SECRETS)) assert(!sent.includes(secret), what);
  assert(!sent.includes(handle.slice("trip_".length)), "the handle");
});

Deno.test("telemetry: without OTEL_DENO nothing is sent", async () => {
  await using home = emptyHome();
  await using receiver = new OtlpReceiver();
  const { OTEL_DENO: _, ...others } = receiver.variables;
  await using server = await startServer(await printed(home.path, HTTP), home.path, others);
  await readCall(await callTool(server, "state_save", { kind: "trip", state: {} }));
  server.kill("SIGTERM");
  assertEquals([(await server.finish()).code, receiver.bodies], [0, []]);
});

Deno.test("telemetry: on stdio too, with the documented permissions and nothing but JSON-RPC on standard output", async () => {
  await using home = emptyHome();
  await using receiver = new OtlpReceiver();
  await using server = new ServerProcess({
    home: home.path,
    env: { ...receiver.variables, MCPSTATE_USER: SECRETS.user },
  });
  await server.initialize();
  await server.call(1, "state_save", { kind: "trip", state: { to: SECRETS.state } });
  await server.end();
  assertEquals((await server.finish()).code, 0);
  assertEquals(server.messages().length, 2);
  const ours = receiver.spans.filter(({ scope }) => scope === "mcpstate");
  assertEquals(ours.map(({ name, attributes }) => [name, attributes["network.transport"]]), [[
    "tools/call state_save",
    "pipe",
  ]]);
  const sent = receiver.bodies.join("\n");
  for (const [what, secret] of Object.entries(SECRETS)) assert(!sent.includes(secret), what);
});

Deno.test("telemetry: what a command prints is no log", async () => {
  await using home = emptyHome();
  await using receiver = new OtlpReceiver();
  const flags = ["--allow-env=HOME", `--allow-read=${home.path}/.mcpstate`, `--allow-write=${home.path}/.mcpstate`];
  const args = ["token", "add", "--user", SECRETS.user];
  const { code, stdout } = await runProgram({ home: home.path, flags, args, env: receiver.variables });
  assertEquals(code, 0);
  const sent = receiver.bodies.join("\n");
  assert(stdout.startsWith("mcpstate_") && !sent.includes(stdout.trim()) && !sent.includes(SECRETS.user));
});
