/**
 * The program over HTTP: whether the lines that it prints work, who is let in, and what it refuses to start as.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { until } from "../contract/drafts.ts";
import { emptyHome, succeed } from "../server/client.ts";
import { callTool, CLIENTS, readCall } from "../server/http_client.ts";
import { type HttpProcess, startServer } from "../server/http_process.ts";
import { openIssuer } from "../server/identity/issuer.ts";
import { runLine, runProgram } from "./program.ts";

const HTTP = ["serve", "--transport", "http", "--port", "0"];

/** The line that `permissions` prints. */
async function printed(home: string, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runProgram({
    home,
    flags: ["--allow-env=HOME"],
    args: ["permissions", ...args],
  });
  assertEquals([code, stderr], [0, ""]);
  return stdout.split("\n").find((line) => line.startsWith("deno run ")) ?? "";
}

/** Runs a command with just what `permissions` prints for it. Answers what it prints. */
async function run(home: string, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runLine(await printed(home, args), home, "");
  assertEquals(code, 0, stderr);
  return stdout;
}

async function start(home: string, args: readonly string[], env: Record<string, string> = {}): Promise<HttpProcess> {
  return await startServer(await printed(home, [...HTTP, ...args]), home, env);
}

async function status(answering: Promise<Response>): Promise<number> {
  const answer = await answering;
  await answer.body?.cancel();
  return answer.status;
}

Deno.test("serve --transport http: with exactly the printed permissions it serves, and SIGTERM ends it with 0", async () => {
  await using home = emptyHome();
  await using server = await start(home.path, ["--user", "alice"]);
  const { handle } = await readCall(await callTool(server, "state_save", { kind: "cart", state: { tea: 1 } }));
  assertEquals(await status(fetch(new URL("/health", server.url))), 200);
  server.kill("SIGTERM");
  assertEquals(await server.finish(), { code: 0, signal: null });
  await using next = await start(home.path, ["--user", "alice"]);
  assertEquals((await readCall(await callTool(next, "state_load", { handle }))).state, { tea: 1 });
});

for (const [name, connect] of Object.entries(CLIENTS)) {
  Deno.test(`serve --transport http: SIGTERM in the middle of writing loses nothing acknowledged, with ${name}`, async () => {
    await using home = emptyHome();
    await using server = await start(home.path, ["--user", "alice"]);
    const client = await connect(server);
    const { handle } = await succeed(client, "state_save", { kind: "log", state: { entries: [] } });
    const acknowledged: number[] = [];
    const append = async (entry: number) => {
      await succeed(client, "state_patch", { handle, ops: [{ op: "append", path: "entries", value: entry }] });
      acknowledged.push(entry);
    };
    const writing = (async () => {
      for (let batch = 0;; batch++) {
        const entries = Array.from({ length: 8 }, (_, i) => batch * 8 + i);
        const settled = await Promise.allSettled(entries.map(append));
        if (settled.some(({ status }) => status === "rejected")) return;
      }
    })();
    await until(() => acknowledged.length >= 40, "it writes");
    server.kill("SIGTERM");
    assertEquals(await server.finish(), { code: 0, signal: null });
    await writing;
    await client[Symbol.asyncDispose]();
    await using next = await start(home.path, ["--user", "alice"]);
    const { state } = await readCall(await callTool(next, "state_load", { handle, path: "entries" }));
    const entries = state as number[];
    assertEquals(acknowledged.filter((entry) => !entries.includes(entry)), []);
    assertEquals(new Set(entries).size, entries.length);
  });
}

Deno.test("token: one that was added lets in, as its user and writer; revoked, it does not", async () => {
  await using home = emptyHome();
  await using server = await start(home.path, []);
  assertEquals(await status(callTool(server, "state_list", {})), 401);

  const added = ["token", "add", "--user", "alice", "--writer", "phone", "--ttl-days", "1", "--json"];
  const { token, id, expires_at } = JSON.parse(await run(home.path, added));
  assert(Date.parse(expires_at) > Date.now());
  const phone = { url: server.url, token };
  const { handle } = await readCall(await callTool(phone, "state_save", { kind: "cart", state: {} }));
  assertEquals((await readCall(await callTool(phone, "state_load", { handle }))).last_writer, "phone");
  const reading = (await run(home.path, ["token", "add", "--user", "alice", "--scope", "read"])).trim();
  assertEquals(await status(callTool({ url: server.url, token: reading }, "state_load", { handle })), 200);
  assertEquals(await status(callTool({ url: server.url, token: reading }, "state_delete", { handle })), 403);

  const listed = await run(home.path, ["token", "list", "--json"]);
  assertEquals(
    JSON.parse(listed).map(({ user, scopes, writer }: Record<string, unknown>) => ({ user, scopes, writer })),
    [
      { user: "alice", scopes: ["mcpstate:read"], writer: null },
      { user: "alice", scopes: ["mcpstate:read", "mcpstate:write"], writer: "phone" },
    ],
  );
  const secret = token.slice(-43); // as text, which may have a "_" in it as well
  const file = new TextDecoder().decode(await Deno.readFile(`${home.path}/.mcpstate/state.db`));
  const journal = new TextDecoder().decode(await Deno.readFile(`${home.path}/.mcpstate/state.db-wal`));
  for (const text of [listed, file, journal]) assert(!text.includes(secret));

  await run(home.path, ["token", "revoke", id]);
  while (await status(callTool(phone, "state_list", {})) !== 401) {
    await new Promise((resolve) => setTimeout(resolve, 100)); // at most as long as a token counts as just seen
  }
  assert(!JSON.stringify(server.lines).includes(secret));
  const again = await runProgram({
    home: home.path,
    flags: ["--allow-env=HOME", `--allow-read=${home.path}`, `--allow-write=${home.path}`],
    args: ["token", "revoke", id],
  });
  assertEquals(again.code, 1);
});

Deno.test("serve --issuer: with exactly the printed permissions it lets in who holds a token of the issuer", async () => {
  await using home = emptyHome();
  await using issuer = await openIssuer();
  const audience = "https://state.example.com/mcp";
  for (const keys of [[], ["--jwks", issuer.keysUrl.href], ["--jwks", `${home.path}/keys.json`]]) {
    await Deno.writeTextFile(`${home.path}/keys.json`, issuer.keys);
    const args = ["--issuer", issuer.issuer, "--public-url", "https://state.example.com", ...keys];
    await using server = await start(home.path, args);
    const token = await issuer.token({ sub: "alice", aud: audience, azp: "inspector" });
    const { handle } = await readCall(
      await callTool({ url: server.url, token }, "state_save", { kind: "cart", state: {} }),
    );
    assertMatch(String(handle), /^cart_/);
    assertEquals(await status(callTool(server, "state_list", {})), 401);
    const other = await issuer.token({ sub: "alice", aud: server.url.href });
    assertEquals(await status(callTool({ url: server.url, token: other }, "state_list", {})), 401);
    const added = (await run(home.path, ["token", "add", "--user", "bob"])).trim();
    assertEquals(await status(callTool({ url: server.url, token: added }, "state_load", { handle })), 200);
    assertEquals(
      (await readCall(await callTool({ url: server.url, token: added }, "state_list", {}))).handles,
      [],
    );
  }
});

const WAYS = [
  ["::1", "[::1]"],
  ["[::1]", "[::1]"],
  ["0:0:0:0:0:0:0:1", "[::1]"],
  ["localhost", "localhost"],
  ["127.0.0.2", "127.0.0.2"],
] as const;
for (const [host, written] of WAYS) {
  Deno.test(`serve --host ${host}: the printed permission, the address that it tells and the host check are one`, async () => {
    await using home = emptyHome();
    const args = ["--user", "alice", "--host", host];
    assertStringIncludes(await printed(home.path, [...HTTP, ...args]), `--allow-net=${written}:0`);
    await using server = await start(home.path, args);
    assertEquals(server.url.hostname, written);
    assertEquals((await readCall(await callTool(server, "state_list", {}))).handles, []);
  });
}

Deno.test("serve --allow-anonymous says so on standard error", async () => {
  await using home = emptyHome();
  await using server = await start(home.path, ["--allow-anonymous"]);
  assertEquals(server.lines.map(({ event }) => event), ["anonymous", "listening"]);
  const { handle } = await readCall(await callTool(server, "state_save", { kind: "cart", state: {} }));
  assertMatch(String(handle), /^cart_[a-z2-7]{26}$/);
});

Deno.test("serve: a user that was set for another server lets nobody in over HTTP", async () => {
  await using home = emptyHome();
  await using server = await start(home.path, [], { MCPSTATE_USER: "alice" });
  assertEquals(await status(callTool(server, "state_list", {})), 401);
});

Deno.test("serve: what would be open to more than it should be is refused, with what to do", async () => {
  await using home = emptyHome();
  const refused = async (args: readonly string[]) => {
    const { code, stdout, stderr } = await runProgram({
      home: home.path,
      flags: ["--allow-env", "--allow-net", `--allow-read=${home.path}`, `--allow-write=${home.path}`],
      args: [...HTTP, ...args],
    });
    assertEquals([code, stdout], [2, ""], stderr);
    return stderr;
  };
  assertStringIncludes(await refused(["--user", "alice", "--host", "0.0.0.0"]), "mcpstate token add");
  assertStringIncludes(await refused(["--user", "alice", "--allow-anonymous"]), "exclude each other");
  assertStringIncludes(await refused(["--issuer", "https://id.example", "--allow-anonymous"]), "exclude each other");
  assertStringIncludes(await refused(["--host", "0.0.0.0"]), "--public-url");
  assertStringIncludes(await refused(["--issuer", "http://id.example"]), "https");
  assertStringIncludes(await refused(["--public-url", "https://state.example.com/mcp"]), "without a path");
  assertStringIncludes(await refused(["--allowed-origins", "app.example.com"]), "https://");
  assertStringIncludes(await refused(["--user", "mcpstate:tokens"]), "mcpstate:");
  assertStringIncludes(await refused(["--allowed-hosts", "state.example.com:8000"]), "without a port");
  for (const host of ["127.0.0.1:8000", "http://127.0.0.1", "[::1", "a b", "user@state.example.com", ""]) {
    assertStringIncludes(await refused([`--host=${host}`]), "without a port");
  }
  const issued = ["--issuer", "https://id.example", "--public-url", "https://state.example.com"];
  assertStringIncludes(await refused([...issued, "--jwks", "http://id.example/keys"]), "https");
  assertStringIncludes(await refused([...issued, "--jwks", "http://127.0.0.1.evil.example/keys"]), "https");
  assertStringIncludes(await refused(["--issuer", "https://id.example"]), "127.0.0.1:0 is none: say --public-url");
  const everywhere = ["--issuer", "https://id.example", "--host", "::", "--allowed-hosts", "state.example.com"];
  assertStringIncludes(await refused([...everywhere, "--port", "8000"]), "[::]:8000 is none: say --public-url");
  const { code, stderr } = await runProgram({ home: home.path, flags: ["--allow-env"], args: ["--port", "8000"] });
  assertEquals([code, stderr.includes("--transport http")], [2, true]);
});
