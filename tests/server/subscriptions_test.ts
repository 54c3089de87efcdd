import {
  type ResourceUpdatedNotification,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { setKey } from "../../src/document/ops.ts";
import { toUri } from "../../src/server/resources.ts";
import { addToken } from "../../src/server/identity/tokens.ts";
import { SCOPES } from "../../src/server/scopes.ts";
import { toServerEvents } from "../../src/server/subscriptions.ts";
import { until } from "../contract/drafts.ts";
import { connectLegacy, connectModern, emptyHome, succeed } from "./client.ts";
import { BARE_CALLS, connectHttpLegacy, MODERN_META } from "./http_client.ts";
import { openSite, type Site } from "./http_site.ts";
import { connectListener, heardBy, openStream } from "./listening.ts";
import { readText, ServerProcess } from "./process.ts";

const OPS = [{ op: "set_key", path: "", key: "city", value: "Aarhus" }];

async function patch({ store }: Site, handle: string, user: string, value: number) {
  await store.patch(handle, [setKey("", "n", value)], { user });
}

Deno.test("toServerEvents: tells what changed, what is gone, and after a gap everything that was asked for", () => {
  const about = { handle: "trip_a", cursor: "c", at: "2026-07-28T09:30:00.000Z" };
  const change = { ...about, type: "change", writer: "phone", turn: 0 } as const;
  const updated = { kind: "resource_updated", uri: toUri("trip_a") } as const;
  const listed = { kind: "resources_list_changed" } as const;
  assertEquals(toServerEvents({ ...change, version: 1 }, []), [listed]);
  assertEquals(toServerEvents({ ...change, version: 2 }, []), [updated]);
  for (const type of ["deleted", "expired"] as const) {
    assertEquals(toServerEvents({ ...about, type }, []), [updated, listed]);
  }
  const gap = { type: "gap", reason: "rewound", cursor: "c" } as const;
  assertEquals(toServerEvents({ ...gap, handle: "trip_a" }, []), [updated, listed]);
  assertEquals(toServerEvents(gap, ["x", "y"]), [
    { kind: "resource_updated", uri: "x" },
    { kind: "resource_updated", uri: "y" },
    listed,
  ]);
});

Deno.test("listen: hears of the named documents and of the list, and of nothing else", async () => {
  await using site = await openSite();
  const [trip, cart] = [
    await site.store.mint("trip", {}, { user: "alice" }),
    await site.store.mint("cart", {}, { user: "alice" }),
  ];
  await using alice = await connectListener(await site.caller("alice"));
  const subscription = await alice.client.listen({ resourceSubscriptions: [toUri(trip)], resourcesListChanged: true });
  await patch(site, cart, "alice", 1);
  await patch(site, trip, "alice", 1);
  await site.store.mint("log", {}, { user: "alice" });
  // What was written to a document right before its end is not told any more.
  await until(() => alice.heard.length >= 2, "the patch and the mint are heard");
  await site.store.revoke(trip, { user: "alice" });
  await until(() => alice.heard.length >= 4, "all of it is heard");
  assertEquals(alice.heard, [toUri(trip), "list", toUri(trip), "list"]);
  await subscription.close();
});

Deno.test("listen: to another's handle delivers nothing, and says no more than for one that never was", async () => {
  await using site = await openSite();
  const theirs = await site.store.mint("secret", {}, { user: "bob" });
  const own = await site.store.mint("trip", {}, { user: "alice" });
  await using alice = await connectListener(await site.caller("alice"));
  const never = `${theirs.slice(0, -4)}${theirs.endsWith("aaaa") ? "bbbb" : "aaaa"}`;
  const uris = [theirs, never, own].map(toUri);
  const subscription = await alice.client.listen({ resourceSubscriptions: uris, resourcesListChanged: true });
  assertEquals(subscription.honoredFilter, { resourceSubscriptions: [toUri(own)], resourcesListChanged: true });
  for (let n = 0; n < 5; n++) await patch(site, theirs, "bob", n);
  await site.store.mint("secret", {}, { user: "bob" });
  await site.store.revoke(theirs, { user: "bob" });
  // What is alice's own comes after all that, on the same stream.
  await patch(site, own, "alice", 1);
  await until(() => alice.heard.length > 0, "her own is heard");
  assertEquals(alice.heard, [toUri(own)]);
  await subscription.close();
});

Deno.test("listen: only another's is a stream that ends at once", async () => {
  await using site = await openSite();
  const theirs = await site.store.mint("secret", {}, { user: "bob" });
  await using alice = await connectListener(await site.caller("alice"));
  const subscription = await alice.client.listen({ resourceSubscriptions: [toUri(theirs)] });
  assertEquals(subscription.honoredFilter, {});
  assertEquals(await subscription.closed, "graceful");
});

Deno.test("listen: a user has so many streams and no more, and each one that ends makes room", async () => {
  await using site = await openSite({ streams: 2 });
  const handle = await site.store.mint("trip", {}, { user: "alice" });
  const bobs = await site.store.mint("trip", {}, { user: "bob" });
  const [alice, bob] = [await site.caller("alice"), await site.caller("bob")];
  const open = [await openStream(alice, [handle]), await openStream(alice, [handle])];
  const third = await openStream(alice, [handle]);
  assertEquals([third.status, (await third.json()).error.data.code], [429, "rate_limited"]);
  const his = await openStream(bob, [bobs]);
  assertEquals(his.status, 200);
  await open[0].body?.cancel();
  let again = await openStream(alice, [handle]);
  while (again.status === 429) {
    await again.body?.cancel();
    again = await openStream(alice, [handle]);
  }
  assertEquals(again.status, 200);
  for (const each of [open[1], his, again]) await each.body?.cancel();
});

Deno.test("listen: names at most so many resources", async () => {
  await using site = await openSite();
  const handles = Array.from({ length: 257 }, (_, i) => `trip_${i}`);
  const answer = await openStream(await site.caller("alice"), handles);
  assertEquals(answer.status, 400);
  await answer.body?.cancel();
});

Deno.test("listen: a stream ends when its token does", async () => {
  const ends = Date.now() + 1_500;
  await using site = await openSite({
    identity: { identify: () => Promise.resolve({ user: "alice", scopes: ["mcpstate:read"], expiresAt: ends }) },
  });
  const handle = await site.store.mint("trip", {}, { user: "alice" });
  const answer = await openStream({ url: site.url, token: "any" }, [handle]);
  assertEquals(answer.status, 200);
  const said = await answer.text(); // settles only with the end of the stream
  assert(said.includes("acknowledged"), said);
  assert(Date.now() >= ends);
});

Deno.test("listen: a stream ends when a token of the store does, and what is asked next is refused", async () => {
  await using site = await openSite();
  const { token } = await addToken(site.store, { user: "alice", scopes: SCOPES, ttlDays: 2 / 86_400 });
  const handle = await site.store.mint("trip", {}, { user: "alice" });
  const answer = await openStream({ url: site.url, token }, [handle]);
  assertEquals(answer.status, 200);
  assert((await answer.text()).includes("acknowledged"));
  for (const call of Object.values(BARE_CALLS)) {
    const { status, body } = await call({ url: site.url, token }, "state_load", { handle });
    await body?.cancel();
    assertEquals(status, 401);
  }
});

Deno.test("over HTTP an older client has no stream: nothing is promised, and nothing is delivered to it", async () => {
  await using site = await openSite();
  const theirs = await site.store.mint("secret", {}, { user: "bob" });
  const own = await site.store.mint("trip", {}, { user: "alice" });
  const caller = await site.caller("alice");
  await using alice = await connectHttpLegacy(caller);
  for (const handle of [own, theirs]) {
    await assertRejects(() => alice.client.subscribeResource({ uri: toUri(handle) }), Error);
  }
  const answer = await fetch(caller.url, {
    headers: { authorization: `Bearer ${caller.token}`, accept: "text/event-stream" },
  });
  await answer.body?.cancel();
  assertEquals([answer.status, answer.headers.get("allow")], [405, "POST"]);
});

Deno.test("listen: whoever reads nothing holds up nobody, and no more is kept for them than a little", async () => {
  await using site = await openSite();
  const handle = await site.store.mint("trip", {}, { user: "alice" });
  const caller = await site.caller("alice");
  const idle = await openStream(caller, [handle]);
  await using other = await connectListener(caller);
  const subscription = await other.client.listen({ resourceSubscriptions: [toUri(handle)] });
  for (let n = 0; n < 300; n++) await patch(site, handle, "alice", n);
  await until(() => other.heard.length === 300, "the other one hears them all");
  await idle.body?.cancel();
  await subscription.close();
});

Deno.test("listen over stdio: hears what another process writes", async () => {
  await using home = emptyHome();
  await using phone = await connectModern({ home: home.path });
  await using laptop = await connectModern({ home: home.path });
  const { handle } = await succeed(laptop, "state_save", { kind: "trip", state: {} });
  const heard = heardBy(phone.client);
  const subscription = await phone.client.listen({
    resourceSubscriptions: [toUri(handle)],
    resourcesListChanged: true,
  });
  await succeed(laptop, "state_patch", { handle, ops: OPS });
  await until(() => heard.length > 0, "the patch is heard");
  await succeed(laptop, "state_delete", { handle });
  await until(() => heard.length > 2, "the end is heard");
  assertEquals(heard, [toUri(handle), toUri(handle), "list"]);
  await subscription.close();
});

Deno.test("resources/subscribe over stdio: an older client hears what another process writes, until it unsubscribes", async () => {
  await using home = emptyHome();
  await using phone = await connectLegacy({ home: home.path });
  await using laptop = await connectLegacy({ home: home.path });
  const [{ handle }, other] = [
    await succeed(laptop, "state_save", { kind: "trip", state: {} }),
    await succeed(laptop, "state_save", { kind: "cart", state: {} }),
  ];
  const heard: string[] = [];
  phone.client.setNotificationHandler(
    ResourceUpdatedNotificationSchema,
    ({ params }: ResourceUpdatedNotification) => void heard.push(params.uri),
  );
  await phone.client.subscribeResource({ uri: toUri(handle) });
  await assertRejects(() => phone.client.subscribeResource({ uri: toUri("trip_aaaaaaaa") }), Error, "trip_aaaaaaaa");
  await succeed(laptop, "state_patch", { handle: other.handle, ops: OPS });
  await succeed(laptop, "state_patch", { handle, ops: OPS });
  await until(() => heard.length > 0, "the patch is heard");
  await phone.client.subscribeResource({ uri: toUri(other.handle) });
  await phone.client.unsubscribeResource({ uri: toUri(handle) });
  await succeed(laptop, "state_delete", { handle });
  await succeed(laptop, "state_delete", { handle: other.handle });
  await until(() => heard.length > 1, "the end of the other is heard");
  assertEquals(heard, [toUri(handle), toUri(other.handle)]);
});

for (const era of ["2025-11-25", "2026-07-28"] as const) {
  Deno.test(`over stdio: a server that watches for a client of ${era} exits with 0 when its input ends`, async () => {
    await using home = emptyHome();
    await using server = new ServerProcess({ home: home.path });
    const _meta = era === "2026-07-28" ? MODERN_META : {};
    if (era === "2025-11-25") await server.initialize();
    const call = { name: "state_save", arguments: { kind: "trip", state: {} }, _meta };
    const { handle } = readText(await server.request(1, "tools/call", call));
    const uri = toUri(String(handle));
    if (era === "2025-11-25") await server.request(2, "resources/subscribe", { uri });
    else {
      await server.send({
        jsonrpc: "2.0",
        id: 2,
        method: "subscriptions/listen",
        params: { _meta, notifications: { resourceSubscriptions: [uri] } },
      });
      await until(() => JSON.stringify(server.messages()).includes("acknowledged"), "it listens");
    }
    const ops = [{ op: "set_key", path: "", key: "city", value: "Aarhus" }];
    await server.request(3, "tools/call", { name: "state_patch", arguments: { handle, ops }, _meta });
    await until(() => JSON.stringify(server.messages()).includes("notifications/resources/updated"), "it is told");
    await server.end();
    const { code, stderr } = await server.finish();
    assertEquals([code, stderr], [0, ""]);
  });
}
