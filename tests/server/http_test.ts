/**
 * The HTTP shell: who is let in by address, what is too much, and what is told to whom.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { openSqliteBackend } from "../../src/backends/sqlite.ts";
import { MAX_BODY_BYTES } from "../../src/server/http/body.ts";
import { addToken, tokenIdentity } from "../../src/server/identity/tokens.ts";
import { localUser } from "../../src/server/identity/local_user.ts";
import { serveHttp } from "../../src/server/http.ts";
import { SCOPES } from "../../src/server/scopes.ts";
import { HandleStore } from "../../src/store/store.ts";
import { fail, succeed } from "./client.ts";
import { BARE_CALLS, callTool, CLIENTS, MODERN_META, type Reach, readCall } from "./http_client.ts";
import { keepLog, openSite } from "./http_site.ts";

/** A body in bare text, since these are the ones that no client would make. */
function post(url: URL, token: string | undefined, body: BodyInit, headers: Record<string, string> = {}) {
  return fetch(url, {
    method: "POST",
    body,
    headers: {
      "content-type": "application/json",
      "accept": "application/json, text/event-stream",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
  });
}

/** `fetch` says itself which host it asks. */
async function statusWithHost({ url, token }: Reach, host: string): Promise<number> {
  using connection = await Deno.connect({ hostname: url.hostname, port: Number(url.port) });
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
  const head = [
    "POST /mcp HTTP/1.1",
    `host: ${host}`,
    "connection: close",
    "content-type: application/json",
    "accept: application/json, text/event-stream",
    `authorization: Bearer ${token}`,
    `content-length: ${body.length}`,
  ];
  await connection.write(new TextEncoder().encode(`${head.join("\r\n")}\r\n\r\n${body}`));
  const answer = await new Response(connection.readable).text();
  return Number(/^HTTP\/1.1 (\d+)/.exec(answer)?.[1]);
}

/** The status, with the answer read to its end. */
async function status(answering: Response | Promise<Response>): Promise<number> {
  const answer = await answering;
  await answer.body?.cancel();
  return answer.status;
}

Deno.test("serveHttp: a hostile Host is refused, loopback with any port and an allowed host are not", async () => {
  await using site = await openSite({ hosts: ["state.example.com"] });
  const alice = await site.caller("alice");
  const asked = (host: string) => statusWithHost(alice, host);
  assertEquals(await asked("evil.example"), 403);
  assertEquals(await asked("127.0.0.1.evil.example:8000"), 403);
  assertEquals(await asked("localhost.evil.example"), 403);
  for (const host of ["[::1]", "[::1]:8000", "localhost", "localhost:8000", "127.0.0.1:1", "STATE.example.com:443"]) {
    assertEquals(await asked(host), 200, host);
  }
});

Deno.test("serveHttp: a hostile Origin is refused, none, loopback and an allowed one are not", async () => {
  await using site = await openSite({ origins: ["https://app.example.com"] });
  const alice = await site.caller("alice");
  const hostile = [
    "https://evil.example",
    "http://app.example.com",
    "https://app.example.com:8443",
    "https://app.example.com.evil.example",
    "null",
    "file://",
    "chrome-extension://abc",
  ];
  const friendly = ["https://app.example.com", "http://localhost:6274", "http://[::1]:3000", "http://127.0.0.1"];
  for (const call of Object.values(BARE_CALLS)) {
    for (const origin of [...hostile, ...friendly]) {
      const answer = await call(alice, "state_list", {}, { headers: { origin } });
      await answer.body?.cancel();
      const isFriendly = friendly.includes(origin);
      const said = [answer.status, answer.headers.get("access-control-allow-origin")];
      assertEquals(said, isFriendly ? [200, origin] : [403, null], origin);
      if (isFriendly) assertStringIncludes(answer.headers.get("vary") ?? "", "origin");
    }
  }
});

Deno.test("serveHttp: a page's preflight is answered for an allowed origin alone, without a token", async () => {
  await using site = await openSite({ origins: ["https://app.example.com"] });
  const ask = (origin: string) => fetch(site.url, { method: "OPTIONS", headers: { origin } });
  const allowed = await ask("https://app.example.com");
  assertEquals([allowed.status, allowed.headers.get("access-control-allow-origin")], [204, "https://app.example.com"]);
  assertStringIncludes(allowed.headers.get("access-control-allow-headers") ?? "", "mcp-protocol-version");
  assertStringIncludes(allowed.headers.get("access-control-allow-headers") ?? "", "authorization");
  assertEquals(await status(ask("https://evil.example")), 403);
});

Deno.test("serveHttp: without a token the answer says where tokens come from", async () => {
  await using site = await openSite();
  const answer = await callTool({ url: site.url }, "state_list", {});
  await answer.body?.cancel();
  const [, metadata] = /resource_metadata="([^"]+)"/.exec(answer.headers.get("www-authenticate") ?? "") ?? [];
  assertEquals(metadata, `${site.url.origin}/.well-known/oauth-protected-resource/mcp`);
  const document = await (await fetch(metadata)).json();
  assertEquals([document.resource, document.scopes_supported], [site.url.href, ["mcpstate:read", "mcpstate:write"]]);
});

Deno.test("serveHttp: a token that may only read reads, and is told what it would need to write", async () => {
  await using site = await openSite();
  const writer = await site.caller("alice");
  const reader = await site.caller("alice", { scopes: ["mcpstate:read"] });
  const { handle } = await readCall(await callTool(writer, "state_save", { kind: "cart", state: { tea: 1 } }));
  assertEquals((await readCall(await callTool(reader, "state_load", { handle }))).state, { tea: 1 });
  const refused = await callTool(reader, "state_delete", { handle });
  assertEquals(refused.status, 403);
  assertMatch(
    refused.headers.get("www-authenticate") ?? "",
    /^Bearer error="insufficient_scope", scope="mcpstate:write", resource_metadata="http:/,
  );
  await refused.body?.cancel();
  assertEquals(await status(callTool(reader, "no_such_tool", {})), 403);
  assertEquals((await readCall(await callTool(writer, "state_load", { handle }))).version, 1);
});

Deno.test("serveHttp: what is too large, too deep, too much or no JSON-RPC is clearly refused", async () => {
  await using site = await openSite();
  const { url, token } = await site.caller("alice");
  const call = (args: string, meta: object) =>
    `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"state_save","_meta":${
      JSON.stringify(meta)
    },"arguments":{"kind":"cart","state":${args}}}}`;
  const modern = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "state_save" };
  const eras = [[MODERN_META, modern], [{}, { "mcp-protocol-version": "2025-11-25" }]] as const;
  const refusal = async (body: BodyInit, headers: Record<string, string> = {}) => {
    const answer = await post(url, token, body, headers);
    return [answer.status, JSON.parse(await answer.text()).error.message];
  };
  const deep = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
  const many = `[${"0,".repeat(399_999)}0]`;
  for (const [meta, headers] of eras) {
    const large = call(`{"a":"${"a".repeat(5 * 1024 * 1024)}"}`, meta);
    assertEquals((await refusal(large, headers))[0], 413);
    assertStringIncludes((await refusal(large, headers))[1], String(MAX_BODY_BYTES));
    assertEquals((await refusal(ReadableStream.from([new TextEncoder().encode(large)]), headers))[0], 413);
    for (const [state, word] of [[deep, "100 levels"], [`{"list":${many}}`, "250000"]]) {
      const answer = await post(url, token, call(state, meta), headers);
      const { error } = await readCall(answer) as { error: { code: string; field: string; message: string } };
      assertEquals([error.code, error.field], ["invalid_input", "state"]);
      assertStringIncludes(error.message, word);
    }
  }
  for (const around of [deep, many]) {
    const body = `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":{"a":${around}}}}`;
    assertEquals((await refusal(body))[0], 400);
  }
  for (const body of ["", "no json", "[]", "null", "7", "[1]", new Uint8Array([0x22, 0xff, 0x22])]) {
    assertEquals((await refusal(body))[0], 400, String(body));
  }
  assertEquals(await status(post(url, token, "{}", { "content-type": "text/plain" })), 415);
  assertEquals(await status(fetch(url, { headers: { authorization: `Bearer ${token}` } })), 405);
  assertEquals(await status(fetch(new URL("/", url), { headers: { authorization: `Bearer ${token}` } })), 404);
});

/** A store whose lists fail, once that is said, in a way that nobody expects. */
async function openBreaking(): Promise<{ readonly store: HandleStore; isBroken: boolean }> {
  const backend = await openSqliteBackend();
  const breaking = new Proxy(backend, {
    get(target, name) {
      if (broken.isBroken && name === "list") {
        return () => Promise.reject(new Error("the disk of /var/lib/state.db is gone"));
      }
      const value = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const broken = { store: new HandleStore(breaking), isBroken: false };
  return broken;
}

for (const [name, connect] of Object.entries(CLIENTS)) {
  Deno.test(`serveHttp: what nobody expected is internal_error without its text, and is logged, with ${name}`, async () => {
    const broken = await openBreaking();
    await using store = broken.store;
    await using server = serveHttp(store, {
      hostname: "127.0.0.1",
      port: 0,
      identity: localUser("alice"),
      log: keepLog(),
    });
    await using connected = await connect(server);
    broken.isBroken = true;
    const logged: string[] = [];
    const original = console.error;
    console.error = (...args) => void logged.push(args.map(String).join(" "));
    try {
      const { code, message } = await fail(connected, "state_list", {});
      assertEquals([code, message.includes("disk")], ["internal_error", false]);
    } finally {
      console.error = original;
    }
    assert(logged.some((line) => line.includes("the disk of /var/lib/state.db is gone")));
    broken.isBroken = false;
    assertEquals((await succeed(connected, "state_list", {})).handles, []);
  });
}

Deno.test("serveHttp: /health reads the store, and says 503 when it cannot", async () => {
  const broken = await openBreaking();
  await using store = broken.store;
  const log = keepLog();
  await using server = serveHttp(store, { hostname: "127.0.0.1", port: 0, identity: tokenIdentity(store), log });
  const ask = async () => {
    const answer = await fetch(new URL("/health", server.url));
    return [answer.status, await answer.json()];
  };
  assertEquals(await ask(), [200, { status: "ok" }]);
  broken.isBroken = true;
  assertEquals(await ask(), [503, { status: "unavailable" }]);
  assertEquals(log.lines.map(({ event }) => event), ["unhealthy"]);
  broken.isBroken = false;
  assertEquals(await ask(), [200, { status: "ok" }]);
});

Deno.test("serveHttp: it finishes what is under way, then takes no more", async () => {
  const backend = await openSqliteBackend();
  const reached = Promise.withResolvers<void>();
  const mayGoOn = Promise.withResolvers<void>();
  const slow = new Proxy(backend, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      if (name !== "create") return value.bind(target);
      return async (...args: unknown[]) => {
        reached.resolve();
        await mayGoOn.promise;
        return await Reflect.apply(value, target, args);
      };
    },
  });
  await using store = new HandleStore(slow);
  const server = serveHttp(store, { hostname: "127.0.0.1", port: 0, identity: localUser("alice"), log: keepLog() });
  const saving = callTool({ url: server.url }, "state_save", { kind: "cart", state: { tea: 1 } });
  await reached.promise;
  const closing = server.close();
  mayGoOn.resolve();
  const { handle } = await readCall(await saving);
  await closing;
  await server.finished;
  assertEquals((await store.get(String(handle), { user: "alice" })).state, { tea: 1 });
  assert(await callTool({ url: server.url }, "state_list", {}).then(() => false, () => true));
});

Deno.test("localUser: what came through a proxy is not this machine's", async () => {
  await using site = await openSite({ identity: localUser("alice") });
  assertEquals(await status(callTool({ url: site.url }, "state_list", {})), 200);
  for (const header of ["x-forwarded-for", "forwarded", "x-real-ip", "via"]) {
    assertEquals(
      await status(callTool({ url: site.url }, "state_list", {}, { headers: { [header]: "203.0.113.7" } })),
      401,
    );
  }
});

Deno.test("serveHttp: a user who calls too often is told when to come again, and no other user is", async () => {
  await using site = await openSite({ rate: { perSecond: 0.01, burst: 2 } });
  const [alice, bob] = [await site.caller("alice"), await site.caller("bob")];
  for (let call = 0; call < 2; call++) await readCall(await callTool(alice, "state_list", {}));
  const refused = await callTool(alice, "state_list", {}, { id: 7 });
  assertEquals([refused.status, Number(refused.headers.get("retry-after")) > 0], [429, true]);
  const { id, error: { data } } = await refused.json();
  assertEquals([id, data.code, data.retry_after_ms > 90_000], [7, "rate_limited", true]);
  await readCall(await callTool(bob, "state_list", {}));
});

Deno.test("serveHttp: a user has so many calls at once, and each one that ends makes room", async () => {
  await using site = await openSite({ concurrency: 1 });
  const [alice, bob] = [await site.caller("alice"), await site.caller("bob")];
  // A body that has not come to its end keeps its call under way.
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const slow = post(site.url, alice.token, readable);
  const writer = writable.getWriter();
  await writer.write(new TextEncoder().encode('{"jsonrpc":"2.0",'));
  let refused = await callTool(alice, "state_list", {});
  while (refused.status === 200) {
    await refused.body?.cancel();
    refused = await callTool(alice, "state_list", {});
  }
  assertEquals([refused.status, (await refused.json()).error.data.code], [429, "rate_limited"]);
  await readCall(await callTool(bob, "state_list", {}));
  await writer.write(new TextEncoder().encode('"id":1,"method":"ping"}'));
  await writer.close();
  await status(slow);
  await readCall(await callTool(alice, "state_list", {}));
});

Deno.test("serveHttp: too many wrong tokens from one address are not looked up, and who was let in stays in", async () => {
  const store = await HandleStore.fromUrl("sqlite:///:memory:");
  await using site = await openSite({ identity: tokenIdentity(store, { perSecond: 0.01, burst: 2 }) });
  const { token } = await addToken(store, { user: "alice", scopes: SCOPES });
  const alice = { url: site.url, token };
  await readCall(await callTool(alice, "state_list", {}));
  const wrong = { url: site.url, token: `${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}` };
  const unlike = { url: site.url, token: "not-one-of-ours" };
  assertEquals(await status(callTool(unlike, "state_list", {})), 401);
  for (let miss = 0; miss < 2; miss++) assertEquals(await status(callTool(wrong, "state_list", {})), 401);
  const refused = await callTool(wrong, "state_list", {});
  assertEquals([refused.status, (await refused.json()).error.data.code], [429, "rate_limited"]);
  await readCall(await callTool(alice, "state_list", {}));
  await store.close();
});

Deno.test("serveHttp: at debug each call is a line, without a state, a handle or a token", async () => {
  await using site = await openSite();
  const alice = await site.caller("alice");
  const { handle } = await readCall(await callTool(alice, "state_save", { kind: "trip", state: { to: "canary" } }));
  await readCall(await callTool(alice, "state_load", { handle }));
  const calls = site.log.lines.filter(({ event }) => event === "call");
  assertEquals(calls.map(({ level, tool }) => [level, tool]), [["debug", "state_save"], ["debug", "state_load"]]);
  const text = JSON.stringify(site.log.lines);
  for (const secret of ["canary", String(handle), String(alice.token)]) assert(!text.includes(secret));
});
