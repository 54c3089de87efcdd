/**
 * No answer is longer than it may be, whatever the state, and a large state can still be worked on.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { textCost } from "../../src/document/outline.ts";
import { type Connection, connectLegacy, emptyHome, fail, succeed } from "./client.ts";
import { CLIENTS } from "./http_client.ts";
import { openSite } from "./http_site.ts";
import { openServer } from "./stores.ts";

const BUDGET = 32_000;

const STATES = {
  "many papers": {
    papers: Array.from({ length: 4_000 }, (_, i) => ({ title: `Paper ${i}`, doi: `10.1000/${i}`, tags: ["a", "b"] })),
  },
  "one long text": { report: "The harbour bath at Islands Brygge. ".repeat(20_000) },
  "Chinese text": { 报告: "哥本哈根是丹麦的首都和最大城市。".repeat(10_000), 城市: { 名: "奥胡斯" } },
  "emoji and control characters": { log: "🚲\u0001\u0002".repeat(60_000) },
  "many keys": Object.fromEntries(Array.from({ length: 1_500 }, (_, i) => [`key ${i} 键`, `value ${i} of many`])),
  "a few very long keys": Object.fromEntries(Array.from({ length: 9 }, (_, i) => ["k/~".repeat(30_000) + i, [i]])),
  "deep": nested(98),
};

function nested(levels: number): Record<string, unknown> {
  return levels === 0 ? { end: "x".repeat(50_000) } : { [`level${levels}`]: nested(levels - 1), pad: "y".repeat(300) };
}

/** Every answer that passes through is measured. */
function measured(client: Connection, budget = BUDGET): Connection {
  return {
    ...client,
    async raw(name, args, meta) {
      const result = await client.raw(name, args, meta);
      const cost = textCost(result.content[0].text ?? "");
      assert(cost <= budget, `${name} answered ${cost} characters`);
      return result;
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

for (const [name, state] of Object.entries(STATES)) {
  Deno.test(`answers stay within their budget: ${name}`, async () => {
    await using server = await openServer();
    const client = measured(server.client);
    const { handle } = await succeed(client, "state_save", { kind: "report", state });
    const loaded = await succeed(client, "state_load", { handle });
    assertEquals(loaded.state, undefined);
    assert(loaded.outline.length > 0);
    assertStringIncludes(loaded.next, handle);
    for (const max_chars of [1_000, 5_000]) {
      await succeed(measured(server.client, max_chars), "state_load", { handle, max_chars });
    }
    await succeed(client, "state_patch", {
      handle,
      ops: Object.keys(state).slice(0, 400).map((key) => ({ op: "set_key", path: "", key, value: "x".repeat(500) })),
    });
    await fail(client, "state_save", { handle, expect_version: 1, state: { ...state, mine: 1 } });
    const mine = Object.fromEntries(Object.keys(state).map((key) => [key, `mine ${"y".repeat(600)}`]));
    const conflict = await fail(client, "state_save", { handle, expect_version: 1, state: mine, on_conflict: "merge" });
    assertEquals(conflict.code, "stale_write");
    assert(Array.isArray(conflict.conflicts) && conflict.conflicts.length > 0);
    await succeed(client, "state_restore", { handle, version: 1, expect_version: 2 });
    for (const since_version of [0, 1, 2]) await succeed(client, "state_changes", { handle, since_version });
    await succeed(client, "state_changes", { handle });
    for (const path of ["nowhere", `/${"n".repeat(100_000)}`, "键.".repeat(50_000) + "键"]) {
      assertEquals((await fail(client, "state_load", { handle, path })).code, "path_not_found");
    }
  });
}

Deno.test("errors stay within their budget, whatever they repeat", async () => {
  await using server = await openServer({ maxAnswerChars: 12_000 });
  const client = measured(server.client, 12_000);
  const { handle } = await succeed(client, "state_save", { kind: "cart", state: { items: [] } });
  for (const long of ["x".repeat(1_000_000), "键".repeat(300_000), '\u0001\\"'.repeat(300_000)]) {
    await fail(client, "state_load", { handle: long });
    await fail(client, "state_load", { handle: long.slice(0, 300) });
    await fail(client, "state_load", { handle, at: long });
    await fail(client, "state_load", { handle, path: `/${long}` });
    await fail(client, "state_list", { kind: long });
    await fail(client, "state_list", { cursor: long });
    await fail(client, "state_list", { [long]: 1 });
    await fail(client, "state_save", { kind: "cart", state: { [long]: 2 ** 60 } });
    await fail(client, "state_save", { kind: "cart", state: long });
    await fail(client, "state_save", { kind: "cart", state: {}, request_id: long });
    await fail(client, "state_patch", { handle, ops: [{ op: long, path: long }] });
    await fail(client, "state_patch", { handle, ops: [{ op: "append", path: `/${long}`, value: 1 }] });
    await fail(client, "state_patch", { handle, ops: [{ op: "append", path: "items", value: 1, [long]: 1 }] });
  }
});

Deno.test("a page of a list is as long as there is room for", async () => {
  await using server = await openServer();
  const client = measured(server.client);
  const title = "Città e 城市 ".repeat(12);
  for (let i = 0; i < 120; i++) await server.store.mint("research", { i }, { user: "alice", title });
  const seen: string[] = [];
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const page = await succeed(client, "state_list", { limit: 100, ...(cursor === undefined ? {} : { cursor }) });
    assert(page.handles.length > 20);
    seen.push(...page.handles.map(({ handle }) => handle));
    cursor = page.next_cursor;
  }
  assertEquals([seen.length, new Set(seen).size], [120, 120]);
});

Deno.test("changes beyond the budget are paths only, then fewer, and the walk goes on", async () => {
  await using server = await openServer();
  const client = measured(server.client);
  const { handle } = await succeed(client, "state_save", { kind: "log", state: { entries: [] } });
  for (let i = 0; i < 300; i++) {
    const value = i % 10 === 0 ? "x".repeat(20_000) : `entry ${i}`;
    await server.store.patch(handle, [{ op: "set_key", path: "", key: `k${i}`, value }], { user: "alice" });
  }
  const seen: number[] = [];
  for (let since = 1, more = true; more;) {
    const page = await succeed(client, "state_changes", { handle, since_version: since, limit: 300 });
    for (const { patch, paths } of page.entries) assert(patch !== null || paths.length > 0);
    seen.push(...page.entries.map(({ version }) => version));
    since = seen[seen.length - 1];
    more = page.more;
  }
  assertEquals(seen, Array.from({ length: 300 }, (_, i) => i + 2));
  const last = await succeed(client, "state_changes", { handle });
  assertEquals(last.entries.map(({ version }) => version), Array.from({ length: 20 }, (_, i) => i + 282));
  assertEquals(last.entries.filter(({ patch }) => patch === null).length, 1);
});

Deno.test("a stale write tells the current state if it is short, else its outline", async () => {
  await using server = await openServer();
  const client = measured(server.client);
  const short = await succeed(client, "state_save", { kind: "cart", state: { items: ["tea"] } });
  await succeed(client, "state_patch", { handle: short.handle, ops: [{ op: "append", path: "items", value: "milk" }] });
  const stale = await fail(client, "state_save", { handle: short.handle, expect_version: 1, state: {} });
  assertEquals([stale.current.state, stale.current.outline], [{ items: ["tea", "milk"] }, undefined]);

  const long = await succeed(client, "state_save", { kind: "cart", state: { items: ["tea".repeat(2_000)] } });
  await succeed(client, "state_patch", { handle: long.handle, ops: [{ op: "append", path: "items", value: "milk" }] });
  const other = await fail(client, "state_save", { handle: long.handle, expect_version: 1, state: {} });
  assertEquals(other.current.state, undefined);
  assertMatch(other.current.outline, /items/);
});

async function editLarge(client: Connection): Promise<void> {
  const papers = Array.from({ length: 2_000 }, (_, i) => ({ title: `Paper ${i}`, abstract: "n".repeat(480) }));
  const { handle } = await succeed(client, "state_save", { kind: "research", state: { papers, status: { read: 0 } } });
  const small: Connection = {
    ...client,
    async raw(name, args) {
      const result = await client.raw(name, args);
      const bytes = new TextEncoder().encode(JSON.stringify([args, result.content])).length;
      assert(bytes < 2_000, `${name} took ${bytes} bytes`);
      return result;
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const { outline } = await succeed(small, "state_load", { handle, max_chars: 1_200 });
  assertStringIncludes(outline, "/papers: list[2000]");
  await succeed(small, "state_load", { handle, path: "/papers/1999", max_chars: 1_200 });
  await succeed(small, "state_patch", {
    handle,
    ops: [{ op: "set_key", path: "/papers/1999", key: "read", value: true }],
  });
  await succeed(small, "state_patch", { handle, ops: [{ op: "increment", path: "status.read", by: 1 }] });
  assertEquals((await succeed(small, "state_load", { handle, path: "/status" })).state, { read: 1 });
  await succeed(small, "state_changes", { handle, since_version: 1 });
}

Deno.test("a state of 1 MiB is edited at one path with calls under 2 kB", async () => {
  await using home = emptyHome();
  await using client = await connectLegacy({ home: home.path });
  await editLarge(client);
});

for (const [name, connect] of Object.entries(CLIENTS)) {
  Deno.test(`over HTTP answers stay within their budget, and 1 MiB is edited by small calls, with ${name}`, async () => {
    await using site = await openSite();
    await using client = await connect(await site.caller("alice"));
    await editLarge(client);
    const alice = measured(client);
    for (const state of Object.values(STATES)) {
      const { handle } = await succeed(alice, "state_save", { kind: "report", state });
      await succeed(alice, "state_load", { handle });
      await succeed(alice, "inspect_state", { handle });
      await succeed(alice, "inspect_state", { handle, pattern: "." });
      await succeed(alice, "state_changes", { handle, since_version: 0 });
      await fail(alice, "state_save", { handle, state: {} });
    }
  });
}
