/**
 * A server over HTTP, sent any bodies, headers, routes and bytes: an answer that says what is wrong, and the next one is fine.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { MODERN_META } from "../server/http_client.ts";
import { openSite, type Site } from "../server/http_site.ts";
import { hostileJson, hostileText, spoilt } from "./hostile.ts";
import { always } from "./rule.ts";

/** The answer of one request, whole. No answer may say that the server has failed. */
async function ask(url: URL, init: RequestInit): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(20_000) });
  const text = await response.text();
  assert(response.status < 500, `${response.status}: ${text.slice(0, 200)}`);
  return { status: response.status, text };
}

/** Nothing was logged as an error, and the server is well. */
async function checkHealth({ url, log }: Site): Promise<void> {
  const { status } = await ask(new URL("/health", url), {});
  assertEquals(status, 200);
  assertEquals(log.lines.filter(({ level }) => level === "error"), []);
}

const call = {
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "state_list", arguments: { limit: 1 }, _meta: MODERN_META },
};
const headers = (token: string | undefined) => ({
  authorization: `Bearer ${token}`,
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "tools/call",
  "mcp-name": "state_list",
});

Deno.test("HTTP: any body is answered, and the next call too", async () => {
  await using site = await openSite();
  const { url, token } = await site.caller("alice");
  const bodies = fc.oneof(
    spoilt(fc.constant(call)).map((value) => JSON.stringify(value) ?? ""),
    spoilt(fc.constant({ ...call, method: "initialize", params: { protocolVersion: "2025-11-25" } }))
      .map((value) => JSON.stringify(value) ?? ""),
    fc.array(spoilt(fc.constant(call)), { maxLength: 4 }).map((value) => JSON.stringify(value)),
    hostileJson.map((value) => JSON.stringify(value)),
    hostileText,
    fc.uint8Array({ maxLength: 40 }),
    fc.constantFrom("[".repeat(100_000), '{"a":'.repeat(50_000), '{"jsonrpc":"2.0","id":1e400,"method":"ping"}'),
  );
  await always(bodies, async (body) => {
    await ask(url, { method: "POST", headers: headers(token), body: body as BodyInit });
  }, 250);
  const { status, text } = await ask(url, { method: "POST", headers: headers(token), body: JSON.stringify(call) });
  assertEquals(status, 200, text);
  await checkHealth(site);
});

Deno.test("HTTP: any headers are answered, and a token that is none lets nobody in", async () => {
  await using site = await openSite();
  const { url, token } = await site.caller("alice");
  const value = hostileText.map((text) => text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, "").trim().slice(0, 4_000));
  const names = fc.constantFrom(
    "authorization",
    "content-type",
    "accept",
    "origin",
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
    "mcp-session-id",
    "last-event-id",
    "if-none-match",
    "x-forwarded-for",
  );
  await always(fc.dictionary(names, value, { maxKeys: 3 }), async (changed) => {
    const sent = { ...headers(token), ...changed };
    const { status } = await ask(url, { method: "POST", headers: sent, body: JSON.stringify(call) });
    if (changed.authorization !== undefined) assert(status === 401 || status === 403, `${status}`);
  }, 200);
  await checkHealth(site);
});

Deno.test("HTTP: any route and query of a thread is answered", async () => {
  await using site = await openSite();
  const { url, token } = await site.caller("alice");
  const handle = await site.store.mint("cart", { "a/b": 1 }, { user: "alice", turn: 1 });
  const part = fc.oneof(
    hostileText,
    fc.constantFrom("threads", "state", "turns", handle, "%", "%2e%2e", "%ff", "a%2Fb"),
  );
  const encoded = fc.oneof(part.map((text) => text.replaceAll(/[\\?#\s]/g, "")), part.map((text) => encode(text)));
  const query = fc.array(fc.tuple(fc.constantFrom("turn", "version", "x", "__proto__"), hostileText), { maxLength: 3 });
  await always(fc.tuple(fc.array(encoded, { maxLength: 3 }), query), async ([parts, query]) => {
    const search = new URLSearchParams(query.map(([name, text]) => [name, text.slice(0, 1_000)]));
    for (const path of [`/${parts.join("/")}`, `/threads/${handle}/${parts.join("/")}`, `/threads/${handle}/state`]) {
      const address = URL.parse(`${path.slice(0, 6_000)}?${search}`, url);
      if (address === null || address.host !== url.host) continue;
      await ask(address, { headers: { authorization: `Bearer ${token}` } });
    }
  }, 150);
  await checkHealth(site);
});

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

Deno.test("HTTP: bytes that are no request end their connection, and no other", async () => {
  await using site = await openSite();
  const { url, token } = await site.caller("alice");
  const body = JSON.stringify(call);
  const good = [
    "POST /mcp HTTP/1.1",
    `Host: ${url.host}`,
    ...Object.entries(headers(token)).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${body.length}`,
  ];
  const line = fc.oneof(
    hostileText.map((text) => text.slice(0, 2_000)),
    fc.constantFrom(
      "Content-Length: -1",
      "Content-Length: 99999999999999999999",
      "Content-Length: 5",
      "Transfer-Encoding: chunked",
      "Transfer-Encoding: banana",
      "Host: evil.example",
      "GET /../../etc/passwd HTTP/1.1",
      "Expect: 100-continue",
      ": no name",
      "\0",
    ),
  );
  await always(fc.tuple(fc.nat(good.length), fc.boolean(), line), async ([at, replaces, text]) => {
    const lines = [...good];
    lines.splice(at, replaces ? 1 : 0, text);
    using connection = await Deno.connect({ hostname: "127.0.0.1", port: Number(url.port) });
    const bytes = new TextEncoder().encode(`${lines.join("\r\n").toWellFormed()}\r\n\r\n${body}`);
    try {
      for (let sent = 0; sent < bytes.length;) sent += await connection.write(bytes.subarray(sent));
      await connection.closeWrite();
      const answer = new TextDecoder().decode(await readAll(connection));
      const status = /^HTTP\/1\.[01] (\d{3})/.exec(answer)?.[1];
      assert(answer === "" || Number(status) < 500 || status === "501" || status === "505", answer.slice(0, 200));
    } catch (error) {
      if (!(error instanceof Deno.errors.ConnectionReset || error instanceof Deno.errors.BrokenPipe)) throw error;
    }
  }, 150);
  await checkHealth(site);
});

async function readAll(connection: Deno.TcpConn): Promise<Uint8Array> {
  const chunks: number[] = [];
  const buffer = new Uint8Array(16 * 1024);
  for (let size = await connection.read(buffer); size !== null; size = await connection.read(buffer)) {
    chunks.push(...buffer.subarray(0, size));
  }
  return new Uint8Array(chunks);
}
