import { assert, assertEquals, assertNotEquals, assertStringIncludes } from "@std/assert";
import { setKey } from "../../src/document/ops.ts";
import type { SessionUpdate } from "../../src/history/entry.ts";
import { openThreads } from "../../src/history/threads.ts";
import { parseThreadRoute } from "../../src/server/http/threads.ts";
import { callTool, type Reach, readCall } from "./http_client.ts";
import { openSite } from "./http_site.ts";

const KEY = "gazet/get_aoi/bbox";
const THREAD = "conversation 7/αβ";

function bbox(value: string): SessionUpdate {
  return { [KEY]: { value, tool: "get_aoi" } };
}

/** Copenhagen in turn 1, Aarhus in turn 3, nothing more up to turn 7. */
async function openPlaces() {
  const site = await openSite();
  const threads = openThreads(site.store, { user: "alice" });
  await threads.publish(THREAD, bbox("Copenhagen"), { turn: 1 });
  await threads.publish(THREAD, bbox("Aarhus"), { turn: 3 });
  await threads.publish(THREAD, { "a.b": { value: { n: 1 }, tool: "count" } }, { turn: 4 });
  await threads.advance(THREAD, 7);
  return Object.assign(site, { threads });
}

async function ask({ url, token }: Reach, path: string, headers: Record<string, string> = {}, method = "GET") {
  const answer = await fetch(new URL(path, url), { method, headers: { authorization: `Bearer ${token}`, ...headers } });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, json: text === "" ? undefined : JSON.parse(text) };
}

const AT = `/threads/${encodeURIComponent(THREAD)}`;

Deno.test("parseThreadRoute: takes any handle and any key, and no other path", () => {
  const state = { what: "state" } as const;
  assertEquals(parseThreadRoute("/threads/trip_a/state"), { handle: "trip_a", of: state });
  assertEquals(parseThreadRoute("/threads/trip_a/state/"), { handle: "trip_a", of: { ...state, key: "" } });
  for (const key of ["a/b/c", "a%2Fb/c", "a%2Fb%2Fc"]) {
    assertEquals(parseThreadRoute(`/threads/a%2Fb%20c/state/${key}`), {
      handle: "a/b c",
      of: { ...state, key: "a/b/c" },
    });
  }
  assertEquals(parseThreadRoute("/threads/trip_a/turns"), { handle: "trip_a", of: { what: "turns" } });
  const none = ["/threads", "/threads/", "/threads//state", "/threads/a", "/threads/a/turns/1", "/threads/%/state"];
  for (const path of [...none, "/threads/a/states", "/mcp", "/threads/a/state/%E0"]) {
    assertEquals(parseThreadRoute(path), undefined, path);
  }
});

Deno.test("threads: a key now, as of a turn and as of a version", async () => {
  await using site = await openPlaces();
  const alice = await site.caller("alice");
  const now = { key: KEY, tool: "get_aoi", seq: 2, turn: 3, version: 2, value: "Aarhus" };
  assertEquals((await ask(alice, `${AT}/state/${KEY}`)).json, now);
  assertEquals((await ask(alice, `${AT}/state/${encodeURIComponent(KEY)}`)).json, now);
  for (const point of ["turn=5", "turn=3", "version=2"]) {
    assertEquals((await ask(alice, `${AT}/state/${KEY}?${point}`)).json, now, point);
  }
  const then = { ...now, seq: 1, turn: 1, version: 1, value: "Copenhagen" };
  for (const point of ["turn=1", "turn=2", "version=1"]) {
    assertEquals((await ask(alice, `${AT}/state/${KEY}?${point}`)).json, then, point);
  }
  const other = { key: "a.b", tool: "count", seq: 3, turn: 4, version: 3, value: { n: 1 } };
  assertEquals((await ask(alice, `${AT}/state`)).json, { turn: 4, version: 3, state: [now, other], evicted: [] });
  assertEquals((await ask(alice, `${AT}/state?turn=2`)).json, { turn: 2, version: 1, state: [then], evicted: [] });
  assertEquals((await ask(alice, `${AT}/turns`)).json, { handle: THREAD, total: 7, retained: [{ from: 1, to: 7 }] });
});

Deno.test("threads: any document is read as one, its writers as the tools", async () => {
  await using site = await openSite();
  const handle = await site.store.mint("trip", { city: "Copenhagen", days: 2 }, {
    user: "alice",
    writer: "laptop",
    turn: 1,
  });
  await site.store.patch(handle, [setKey("", "city", "Aarhus")], { user: "alice", writer: "phone", turn: 2 });
  const alice = await site.caller("alice");
  assertEquals((await ask(alice, `/threads/${handle}/state`)).json.state, [
    { key: "city", tool: "phone", seq: 2, turn: 2, version: 2, value: "Aarhus" },
    { key: "days", tool: "laptop", seq: 1, turn: 1, version: 1, value: 2 },
  ]);
  assertEquals((await ask(alice, `/threads/${handle}/state/city?turn=1`)).json.value, "Copenhagen");
});

Deno.test("threads: never is 404, no longer retained is 410 with what is", async () => {
  await using site = await openSite();
  const alice = await site.caller("alice");
  const thread = "log";
  const threads = openThreads(site.store, { user: "alice", maxBytes: 2_500 });
  for (let turn = 2; turn <= 3; turn++) await threads.publish(thread, bbox(`place ${turn}`), { turn });
  const status = async (path: string) => (await ask(alice, `/threads/${thread}/${path}`)).status;
  const statuses = ["turn=0", "turn=-1", "turn=9", "version=0", "version=99", "turn=1000000"]
    .map((point) => status(`state/${KEY}?${point}`));
  assertEquals(await Promise.all(statuses), [404, 404, 404, 404, 404, 404]);
  const turn9 = await ask(alice, `/threads/${thread}/state/${KEY}?turn=9`);
  assertEquals(turn9.json, {
    ok: false,
    error: {
      code: "turn_not_found",
      message: "There is no turn 9: the turns so far are 1 to 3.",
      handle: thread,
      turn: 9,
      turns_so_far: 3,
    },
  });
  assertEquals((await ask(alice, `/threads/${thread}/state/${KEY}?turn=1`)).json.error.code, "path_not_found");
  assertEquals(await status("state/never"), 404);
  assertEquals(await status("state?turn=1.5"), 400);
  assertEquals(await status("state?turn="), 400);
  assertEquals(await status("state?turn=1&version=1"), 400);
  assertEquals((await ask(alice, "/threads/never/state")).json.error.code, "handle_not_found");
  assertEquals((await ask(alice, "/threads/never/turns")).status, 404);

  // Evicted, and so no longer retained, but not forgotten.
  for (const name of ["x", "y", "z"]) {
    await threads.publish(thread, { [name]: { value: name.repeat(1_000), tool: "t" } });
  }
  const evicted = await ask(alice, `/threads/${thread}/state/x`);
  assertEquals([evicted.status, evicted.json.error.code, evicted.json.error.tool], [410, "evicted", "t"]);
  assertEquals((await ask(alice, `/threads/${thread}/state`)).json.evicted.includes("x"), true);

  await site.store.revoke(thread, { user: "alice" });
  assertEquals(await status("state"), 404);
});

Deno.test("threads: a pruned turn or version is 410 and says what is retained", async () => {
  await using site = await openSite({ retention: { versions: 3 } });
  const alice = await site.caller("alice");
  const threads = openThreads(site.store, { user: "alice" });
  for (let turn = 1; turn <= 9; turn++) await threads.publish("log", bbox(`place ${turn}`), { turn });
  const turn = await ask(alice, `/threads/log/state/${KEY}?turn=3`);
  assertEquals([turn.status, turn.headers.get("cache-control")], [410, "no-store"]);
  assertEquals(turn.json.error, {
    code: "turn_pruned",
    message: "Turn 3 is no longer retained. Turns that can be read: 7 to 9.",
    handle: "log",
    turn: 3,
    retained: [{ from: 7, to: 9 }],
  });
  const version = await ask(alice, `/threads/log/state?version=3`);
  assertEquals([version.status, version.json.error.code, version.json.error.retained], [410, "version_pruned", {
    from: 7,
    to: 9,
  }]);
  assertEquals((await ask(alice, "/threads/log/turns")).json.retained, [{ from: 7, to: 9 }]);
  assertEquals((await ask(alice, `/threads/log/state/${KEY}?turn=7`)).json.value, "place 7");
});

Deno.test("threads: what has ended is kept for ever by the caller alone, what may change is asked about again", async () => {
  await using site = await openPlaces();
  const alice = await site.caller("alice");
  const FINAL = "private, max-age=31536000, immutable";
  for (const point of ["?turn=1", "?turn=6", "?version=1", "?version=3"]) {
    const { headers } = await ask(alice, `${AT}/state${point}`);
    assertEquals([headers.get("cache-control"), headers.get("vary")], [FINAL, "authorization"], point);
    assert(headers.get("etag"));
  }
  for (const path of ["/state", "/state?turn=7", `/state/${KEY}`, "/turns"]) {
    const first = await ask(alice, AT + path);
    assertEquals(first.headers.get("cache-control"), "private, no-cache", path);
    const etag = first.headers.get("etag") ?? "";
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`]) {
      const again = await ask(alice, AT + path, { "if-none-match": known });
      assertEquals([again.status, again.text, again.headers.get("etag")], [304, "", etag], path);
    }
  }
  const before = await ask(alice, `${AT}/state/${KEY}`);
  await site.threads.publish(THREAD, bbox("Odense"));
  const after = await ask(alice, `${AT}/state/${KEY}`, { "if-none-match": before.headers.get("etag") ?? "" });
  assertEquals([after.status, after.json.value], [200, "Odense"]);
  assertNotEquals(after.headers.get("etag"), before.headers.get("etag"));
  const head = await ask(alice, `${AT}/state?turn=1`, {}, "HEAD");
  assertEquals([head.status, head.text, head.headers.get("cache-control")], [200, "", FINAL]);
});

Deno.test("threads: are the caller's own, read with the scope to read, and only read", async () => {
  await using site = await openPlaces();
  const [bob, writer] = [await site.caller("bob"), await site.caller("alice", { scopes: ["mcpstate:write"] })];
  for (
    const path of [`/state`, `/state/${KEY}`, `/state?turn=1`, `/state/${KEY}?version=1`, `/turns`, "/state?turn=99"]
  ) {
    const [theirs, never] = [await ask(bob, AT + path), await ask(bob, `/threads/never${path}`)];
    assertEquals(theirs.status, 404);
    assertEquals(theirs.text.replaceAll(THREAD, "IT"), never.text.replaceAll("never", "IT"), path);
  }
  const refused = await ask(writer, `${AT}/state`);
  assertEquals(refused.status, 403);
  assertStringIncludes(refused.headers.get("www-authenticate") ?? "", "mcpstate:read");
  assertEquals((await ask({ url: site.url, token: "none" }, `${AT}/state`)).status, 401);
  const posted = await ask(await site.caller("alice"), `${AT}/state`, {}, "POST");
  assertEquals([posted.status, posted.headers.get("allow")], [405, "GET, HEAD"]);
  await using slow = await openSite({ rate: { perSecond: 0.001, burst: 2 } });
  const alice = await slow.caller("alice");
  const statuses = [];
  for (let i = 0; i < 3; i++) statuses.push((await ask(alice, "/threads/a/turns")).status);
  assertEquals(statuses, [404, 404, 429]);
});

Deno.test("threads: where callers are anonymous, whoever has the handle reads", async () => {
  await using site = await openSite({ identity: "anonymous" });
  const { handle } = await readCall(await callTool({ url: site.url }, "state_save", { kind: "trip", state: { n: 1 } }));
  const read = await ask({ url: site.url }, `/threads/${handle}/state/n`);
  assertEquals([read.status, read.json.value, read.json.version], [200, 1, 1]);
  assertEquals((await ask({ url: site.url }, `/threads/${String(handle).slice(0, -1)}/state/n`)).status, 404);
});
