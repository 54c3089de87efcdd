/**
 * Callers whom nobody knows: the handle is the only secret, and a stranger finds nothing.
 *
 * @module
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { networkOf } from "../../../src/server/identity/anonymous.ts";
import { fail, succeed } from "../client.ts";
import { callTool, CLIENTS, readCall } from "../http_client.ts";
import { openSite } from "../http_site.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

for (const [name, connect] of Object.entries(CLIENTS)) {
  Deno.test(`anonymous: handles are long and always expire, with ${name}`, async () => {
    await using site = await openSite({ identity: "anonymous" });
    await using stranger = await connect(site);
    const { handle, expires_at } = await succeed(stranger, "state_save", { kind: "cart", state: { tea: 1 } });
    assertMatch(handle, /^cart_[a-z2-7]{26}$/);
    assert(Date.parse(String(expires_at)) <= Date.now() + 30 * DAY_MS);
    const save = { handle, state: { tea: 2 }, expect_version: 1 };
    assertEquals((await fail(stranger, "state_save", { ...save, ttl_days: 366 })).field, "ttl_days");
    assertEquals((await fail(stranger, "state_save", { kind: "cart", state: {}, ttl_days: 366 })).field, "ttl_days");
    assertEquals((await fail(stranger, "state_touch", { handle, persist: true })).field, "persist");
    assertEquals((await fail(stranger, "state_touch", { handle, ttl_days: 366 })).field, "ttl_days");
    assertEquals((await succeed(stranger, "state_save", save)).version, 2);
    assert((await succeed(stranger, "state_touch", { handle, ttl_days: 2 })).expires_at !== null);
  });

  Deno.test(`anonymous: whoever has the handle has the document, with its past, with ${name}`, async () => {
    await using site = await openSite({ identity: "anonymous" });
    await using phone = await connect(site);
    await using laptop = await connect(site);
    const { handle } = await succeed(phone, "state_save", { kind: "cart", state: { tea: 1 } });
    const ops = [{ op: "increment", path: "tea", by: 1 }];
    assertEquals((await succeed(laptop, "state_patch", { handle, ops, request_id: "once" })).version, 2);
    assertEquals((await succeed(laptop, "state_patch", { handle, ops, request_id: "once" })).replayed, true);
    assertEquals((await succeed(laptop, "state_load", { handle, version: 1 })).state, { tea: 1 });
    assertEquals((await succeed(laptop, "state_changes", { handle })).entries.length, 2);
    await succeed(laptop, "inspect_state", { handle });
    assertEquals((await succeed(laptop, "state_restore", { handle, version: 1, expect_version: 2 })).version, 3);
    await succeed(laptop, "state_delete", { handle });
    assertEquals((await fail(phone, "state_load", { handle })).code, "handle_not_found");
  });

  Deno.test(`anonymous: a stranger finds nothing by list, search, suggestion or request id, with ${name}`, async () => {
    await using site = await openSite({ identity: "anonymous" });
    await using stranger = await connect(site);
    const { handle } = await succeed(stranger, "state_save", { kind: "cart", title: "tea for two", state: {} });
    assertEquals(stranger.tools.map(({ name }) => name).filter((name) => /list/.test(name)), []);
    assert(!stranger.instructions?.includes("state_list"));
    const listed = await (await callTool(site, "state_list", { query: "tea" })).text();
    assert(!listed.includes(handle), listed);
    const near = handle.slice(0, -1) + (handle.endsWith("a") ? "b" : "a");
    const missing = await fail(stranger, "state_load", { handle: near });
    assertEquals([missing.code, missing.did_you_mean], ["handle_not_found", undefined]);
    assert(!missing.message.includes(handle));

    const ops = [{ op: "set_key", path: "", key: "tea", value: 1 }];
    await succeed(stranger, "state_patch", { handle, ops, request_id: "tea" });
    const other = await succeed(stranger, "state_save", { kind: "cart", state: {} });
    const patched = await succeed(stranger, "state_patch", { handle: other.handle, ops, request_id: "tea" });
    assertEquals([patched.handle, patched.replayed], [other.handle, undefined]);
    const minted = await fail(stranger, "state_save", { kind: "cart", state: {}, request_id: "tea" });
    assertEquals([minted.code, minted.field], ["invalid_input", "request_id"]);
  });
}

Deno.test("anonymous: mints are counted by address; what is there goes on being served", async () => {
  const mints = { perSecond: 0.001, burst: 2 };
  await using site = await openSite({ identity: "anonymous", mints, forwarded: true });
  const mint = async (from: string) => {
    const headers = { "x-forwarded-for": from };
    return await readCall(await callTool(site, "state_save", { kind: "cart", state: {} }, { headers }));
  };
  const { handle } = await mint("203.0.113.7");
  await mint("198.51.100.1, 203.0.113.7"); // what the caller itself claims does not count
  const { error } = await mint("203.0.113.7") as { error: { code: string; retry_after_ms: number } };
  assertEquals(error.code, "rate_limited");
  assert(error.retry_after_ms > 0);
  assertEquals((await mint("203.0.113.8")).version, 1);
  assertEquals((await readCall(await callTool(site, "state_load", { handle }))).version, 1);
});

Deno.test("networkOf: an IPv6 network of 64 bits is one caller", () => {
  assertEquals(networkOf("203.0.113.7"), "203.0.113.7");
  assertEquals(networkOf("::ffff:203.0.113.7"), "::ffff:203.0.113.7");
  assertEquals(networkOf("2001:db8:1:2:3:4:5:6"), networkOf("2001:db8:1:2::1"));
  assert(networkOf("2001:db8:1:2::1") !== networkOf("2001:db8:1:3::1"));
  assertEquals(networkOf("::1"), "0:0:0:0::/64");
});
