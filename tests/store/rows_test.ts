import { assertEquals, assertRejects } from "@std/assert";
import { BackendError, HandleExpired, QuotaExceeded, StaleWrite, StateError } from "../../src/document/errors.ts";
import { append, increment } from "../../src/document/ops.ts";
import { seconds, until } from "../contract/drafts.ts";
import { Site } from "./raw.ts";

const alice = { user: "alice" };

/** How many rows each table holds. */
function counts(site: Site): Record<string, number> {
  const tables = site.rows(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'mcpstate_%' ORDER BY name",
  );
  return Object.fromEntries(tables.map(({ name }) => [String(name), site.number(`SELECT count(*) FROM ${name}`)]));
}

Deno.test("save: that loses leaves no row of any table and takes no sequence number", async () => {
  await using site = new Site();
  const stores = await Promise.all(Array.from({ length: 4 }, () => site.store()));
  const handle = await stores[0].mint("trip", { city: "Copenhagen" }, { ...alice, turn: 1 });
  const before = counts(site);
  const results = await Promise.allSettled(
    Array.from({ length: 8 }, (_, i) =>
      stores[i % 4].save(handle, { city: `city ${i}` }, {
        ...alice,
        expectVersion: 1,
        requestId: `save ${i}`,
        turn: i + 2,
        ttlDays: i + 1,
      })),
  );
  assertEquals(results.filter(({ status }) => status === "fulfilled").length, 1);
  assertEquals(counts(site), {
    ...before,
    mcpstate_entry: before.mcpstate_entry + 1,
    mcpstate_request: before.mcpstate_request + 1,
    mcpstate_turn: before.mcpstate_turn + 1,
  });
  assertEquals(site.rows("SELECT name, seq, live FROM mcpstate_user"), [{ name: "alice", seq: 2, live: 1 }]);
});

Deno.test("patch: that is refused leaves no row of any table", async () => {
  await using site = new Site();
  const store = await site.store({ maxStateBytes: 100, maxHandlesPerUser: 1 });
  const handle = await store.mint("cart", { items: [] }, alice);
  const before = [counts(site), site.rows("SELECT * FROM mcpstate_document"), site.rows("SELECT * FROM mcpstate_user")];
  const refused = [
    () => store.patch(handle, [append("missing", 1)], { ...alice, requestId: "a" }),
    () => store.patch(handle, [append("items", "i".repeat(100))], { ...alice, requestId: "b" }),
    () => store.mint("cart", {}, { ...alice, requestId: "c" }),
    () => store.mint("cart", {}, { user: "bob", requestId: "d", turn: 0 }),
    () => store.patch("cart_aaaaaaaa", [append("items", 1)], { ...alice, requestId: "e" }),
    () => store.get("cart_aaaaaaaa", { user: "carol" }),
    () => store.patch("cart_aaaaaaaa", [append("items", 1)], { user: "carol", requestId: "f" }),
  ];
  for (const call of refused) await assertRejects(call, StateError);
  assertEquals(await store.list("carol"), { handles: [], expired: [] });
  const after = [counts(site), site.rows("SELECT * FROM mcpstate_document"), site.rows("SELECT * FROM mcpstate_user")];
  assertEquals(after, before);
});

Deno.test("write: that fails half way leaves no row of it, and the next one is whole", async () => {
  await using site = new Site();
  const store = await site.store();
  const handle = await store.mint("cart", { items: [] }, { ...alice, turn: 1, requestId: "mint" });
  const tables = ["document", "entry", "turn", "request", "user"];
  const rows = () => tables.map((table) => site.rows(`SELECT * FROM mcpstate_${table}`));
  const before = rows();
  const places = ["INSERT ON mcpstate_request", "UPDATE ON mcpstate_document", "INSERT ON mcpstate_turn"];
  for (const place of places) {
    site.run(`CREATE TRIGGER mcpstate_stop BEFORE ${place} BEGIN SELECT raise(FAIL, 'stop'); END`);
    const patch = () => store.patch(handle, [append("items", "milk")], { ...alice, turn: 2, requestId: "patch" });
    await assertRejects(patch, BackendError);
    assertEquals(rows(), before, place);
    if (!place.startsWith("UPDATE")) {
      await assertRejects(() => store.mint("cart", {}, { ...alice, turn: 1, requestId: "more" }), BackendError);
    }
    assertEquals(rows(), before, place);
    site.run("DROP TRIGGER mcpstate_stop");
  }
  assertEquals((await store.patch(handle, [append("items", "milk")], { ...alice, requestId: "patch" })).version, 2);
});

Deno.test("sweep: of what expired leaves nothing of its state in any table", async () => {
  await using site = new Site();
  const store = await site.store();
  const secret = "Kongens Nytorv";
  const handle = await store.mint("trip", { secret, notes: ["n".repeat(40_000)] }, {
    ...alice,
    ttlDays: seconds(0.4),
    title: secret,
    writer: secret,
    requestId: "mint",
  });
  await store.save(handle, { secret }, { ...alice, expectVersion: 1, turn: 2, writer: secret });
  await store.mint("cart", {}, alice);
  assertEquals(site.number("SELECT count(*) FROM mcpstate_keyframe"), 1);
  await until(async () => {
    const error = await store.get(handle, alice).catch((error) => error);
    return error instanceof HandleExpired;
  }, "the handle expires");
  await store.sweep("alice");
  for (const { name } of site.rows("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'mcpstate_%'")) {
    if (name === "mcpstate_request") continue;
    const text = JSON.stringify(site.rows(`SELECT * FROM ${name}`));
    assertEquals(text.includes(secret), false, String(name));
  }
  assertEquals(site.number("SELECT count(*) FROM mcpstate_entry"), 1);
  assertEquals(site.rows("SELECT live FROM mcpstate_user"), [{ live: 1 }]);
});

Deno.test("purge: leaves no row of a user", async () => {
  await using site = new Site();
  const store = await site.store();
  for (let i = 0; i < 70; i++) {
    const handle = await store.mint("cart", { n: "n".repeat(20_000) }, { ...alice, turn: 1, requestId: `mint ${i}` });
    await store.save(handle, {}, { ...alice, expectVersion: 1 });
    if (i % 2) await store.revoke(handle, alice);
  }
  assertEquals(await store.purge("alice"), 35);
  const { mcpstate_meta, ...rest } = counts(site);
  assertEquals(mcpstate_meta, 1);
  assertEquals(Object.values(rest), [0, 0, 0, 0, 0, 0]);
});

Deno.test("purge: that is cut short leaves a count of documents that is right", async () => {
  await using site = new Site();
  const store = await site.store({ maxHandlesPerUser: 120 });
  for (let i = 0; i < 120; i++) await store.mint("cart", {}, alice);
  site.run(
    "CREATE TRIGGER mcpstate_stop BEFORE DELETE ON mcpstate_document WHEN old.doc = 90 BEGIN SELECT raise(ABORT, 'stop'); END",
  );
  await assertRejects(() => store.purge("alice"), BackendError);
  const left = site.number("SELECT count(*) FROM mcpstate_document");
  assertEquals([left, site.rows("SELECT live FROM mcpstate_user")], [70, [{ live: 70 }]]);
  for (let i = 0; i < 50; i++) await store.mint("cart", {}, alice);
  await assertRejects(() => store.mint("cart", {}, alice), QuotaExceeded);
  site.run("DROP TRIGGER mcpstate_stop");
  assertEquals(await store.purge("alice"), 120);
});

Deno.test("save: that loses a thousand times logs nothing", async () => {
  await using site = new Site();
  const store = await site.store();
  const handle = await store.mint("trip", {}, alice);
  await store.save(handle, { city: "Aarhus" }, { ...alice, expectVersion: 1 });
  const methods = ["debug", "info", "log", "warn", "error", "trace"] as const;
  const original = { ...console };
  const logged: unknown[] = [];
  try {
    for (const method of methods) console[method] = (...args: unknown[]) => logged.push(args);
    for (let i = 0; i < 1_000; i++) {
      await assertRejects(() => store.save(handle, {}, { ...alice, expectVersion: 1 }), StaleWrite);
    }
  } finally {
    Object.assign(console, original);
  }
  assertEquals(logged, []);
});

Deno.test("list: goes on past a record that cannot be read", async () => {
  await using site = new Site();
  const store = await site.store();
  const handles: string[] = [];
  for (let i = 0; i < 12; i++) handles.push(await store.mint("cart", { n: i }, alice));
  const damages = ["version = 'x'", "updated_at = 'x'", "kind = x'00'", "status = 'odd'", "expires_at = 'x'"];
  for (const [i, damage] of damages.entries()) {
    site.run(`UPDATE mcpstate_document SET ${damage} WHERE id = ?`, handles[2 * i + 1]);
  }
  const whole = handles.filter((_, i) => i % 2 === 0 || i > 10).reverse();
  assertEquals((await store.list("alice")).handles.map(({ handle }) => handle), whole);
  assertEquals((await store.list("alice", { includeExpired: true })).handles.length, 7);
  const paged: string[] = [];
  let cursor: string | undefined;
  do {
    const page: Awaited<ReturnType<typeof store.list>> = await store.list("alice", { limit: 2, cursor });
    paged.push(...page.handles.map(({ handle }) => handle));
    cursor = page.cursor;
  } while (cursor !== undefined);
  assertEquals(paged, whole);
  for (const handle of [1, 3, 5, 7, 9].map((i) => handles[i])) {
    await assertRejects(() => store.get(handle, alice), BackendError, "damaged");
  }
  assertEquals((await store.patch(handles[0], [increment("n", 5)], alice)).state, { n: 5 });
});

Deno.test("get: answers damage as damage, and reads around a damaged keyframe", async () => {
  await using site = new Site();
  const writer = await site.store();
  const handle = await writer.mint("trip", { notes: "n".repeat(40_000) }, alice);
  await writer.save(handle, { stops: [] }, { ...alice, expectVersion: 1 });
  for (let i = 0; i < 3; i++) await writer.patch(handle, [append("stops", i)], alice);
  assertEquals(site.rows("SELECT version FROM mcpstate_keyframe"), [{ version: 2 }]);
  for (const body of ["{", '{"format":99,"state":{}}', '{"format":1,"keys":{},"state":{"stops":[]}}', "[]", "null"]) {
    site.run("UPDATE mcpstate_keyframe SET body = ?", body);
    const reader = await site.store();
    assertEquals((await reader.get(handle, alice)).state, { stops: [0, 1, 2] }, body);
    assertEquals((await reader.get(handle, { ...alice, version: 3 })).state, { stops: [0] });
  }
  const extended = await (await site.store()).patch(handle, [append("stops", 3)], alice);
  assertEquals([extended.version, extended.state], [6, { stops: [0, 1, 2, 3] }]);
  site.run("UPDATE mcpstate_entry SET body = '[{' WHERE version = 4");
  const reader = await site.store();
  for (const options of [{}, { version: 4 }, { version: 5 }]) {
    await assertRejects(() => reader.get(handle, { ...alice, ...options }), BackendError, "damaged");
  }
  await assertRejects(() => reader.changes(handle, { ...alice, since: 2 }), BackendError, "damaged");
  await assertRejects(() => reader.patch(handle, [append("stops", 4)], alice), BackendError, "damaged");
  assertEquals((await reader.get(handle, { ...alice, version: 3 })).state, { stops: [0] });
  site.run("DELETE FROM mcpstate_entry WHERE version = 4");
  await assertRejects(() => reader.get(handle, alice), BackendError, "damaged");
  await assertRejects(() => reader.get(handle, { ...alice, version: 4 }), BackendError, "damaged");
  await assertRejects(() => reader.changes(handle, { ...alice, since: 2 }), BackendError, "damaged");
});

Deno.test("get: a pointer in the journal that cannot be parsed is damage, and nobody's wrong input", async () => {
  await using site = new Site();
  const store = await site.store();
  const handle = await store.mint("trip", { city: "Copenhagen" }, alice);
  await store.patch(handle, [append("cities", "Aarhus", { create: true })], alice);
  site.run(`UPDATE mcpstate_entry SET body = '[{"op":"remove","path":"/a~2"}]' WHERE version = 2`);
  const cold = await site.store();
  await assertRejects(() => cold.get(handle, alice), BackendError, "damaged");
});
