import { assert, assertEquals, assertRejects } from "@std/assert";
import { checkStore } from "../../src/admin/doctor.ts";
import { exportStore } from "../../src/admin/export.ts";
import { importLines } from "../../src/admin/import.ts";
import { migrate } from "../../src/admin/migrate.ts";
import { HandleExpired, HandleNotFound } from "../../src/document/errors.ts";
import { setKey } from "../../src/document/ops.ts";
import type { Maintenance } from "../../src/backends/maintenance.ts";
import { AdminSite, alice, asLines, bob, exported, fill, forward, readings, timeless } from "./site.ts";

Deno.test("export: then import gives a store that reads alike, its past included", async () => {
  await using from = new AdminSite();
  await using to = new AdminSite();
  const { trip, cart, log, notes, deleted, expired } = await fill(from);
  const lines = await exported(await from.maintenance());
  const report = await importLines(asLines(lines), await to.maintenance());
  assertEquals(report, { adopted: 4, existing: 0, ended: 0, tombstones: 2, refused: [], isComplete: true });

  const [before, after] = [await from.store(), await to.store()];
  for (const [handle, user] of [[trip, "alice"], [log, "alice"], [cart, "bob"], [notes, "bob"]]) {
    assertEquals(await readings(after, handle, user), await readings(before, handle, user), handle);
  }
  for (const user of ["alice", "bob"]) {
    assertEquals((await after.list(user)).handles, (await before.list(user)).handles, "the order stays");
    assertEquals(
      (await after.list(user, { includeExpired: true })).expired,
      (await before.list(user, { includeExpired: true })).expired,
    );
  }
  const [old, now] = await Promise.all(
    [before, after].map((store) => assertRejects(() => store.get(expired, alice), HandleExpired)),
  );
  assertEquals(now.toPayload(), old.toPayload());
  await assertRejects(() => after.get(deleted, alice), HandleNotFound);
  assertEquals(to.rows("SELECT name, live FROM mcpstate_user ORDER BY name"), [{ name: "alice", live: 2 }, {
    name: "bob",
    live: 2,
  }]);
  assertEquals(timeless(await exported(await to.maintenance())), timeless(lines), "and exports the very same");
  assertEquals(await Array.fromAsync(checkStore(await to.maintenance())), []);
});

Deno.test("export: then import keeps times to the millisecond, titles, write ids and who wrote what", async () => {
  await using from = new AdminSite();
  await using to = new AdminSite();
  await fill(from);
  await importLines(asLines(await exported(await from.maintenance())), await to.maintenance());
  const heads =
    "SELECT user, id, status, kind, title, version, write_id, created_at, updated_at, writer, turn, first_turn, " +
    "ttl_days, expires_at, bytes, oldest FROM mcpstate_document WHERE status = 'live' ORDER BY user, id";
  assertEquals(to.rows(heads), from.rows(heads));
  const entries =
    "SELECT user, id, e.version, e.write_id, at, e.turn, e.writer, body FROM mcpstate_entry e JOIN mcpstate_document USING (doc) " +
    "WHERE e.version >= oldest ORDER BY user, id, e.version";
  assertEquals(to.rows(entries), from.rows(entries));
});

Deno.test("import: of a journal lays keyframes where they are due", async () => {
  await using from = new AdminSite();
  await using to = new AdminSite();
  const { notes } = await fill(from);
  from.run("DELETE FROM mcpstate_keyframe WHERE doc = (SELECT doc FROM mcpstate_document WHERE id = ?)", notes);
  await importLines(asLines(await exported(await from.maintenance(), "bob")), await to.maintenance());
  assert(to.number("SELECT count(*) FROM mcpstate_keyframe") > 1);
  const backend = await to.backend();
  for (let version = 1; version <= 41; version++) {
    const answer = await backend.read({ ...bob, id: notes }, { as: "version", version });
    assert(answer.outcome === "found" && answer.target !== "held" && answer.onto !== "held");
    const base = answer.onto === "nothing" ? 0 : answer.onto.body.length;
    const read = answer.entries.reduce((sum, { body }) => sum + body.length, base);
    const { bytes } = await (await to.store()).get(notes, { ...bob, version });
    assert(read <= 2.5 * bytes + 64 * 1024, `version ${version} of ${bytes} bytes is read from ${read}`);
  }
  const store = await to.store();
  const { version } = await store.get(notes, bob);
  assertEquals((await store.patch(notes, [setKey("", "n", 1)], bob)).version, version + 1);
  assertEquals(await Array.fromAsync(checkStore(await to.maintenance())), []);
});

Deno.test("export: of one user holds nobody else", async () => {
  await using site = new AdminSite();
  await fill(site);
  const lines = await exported(await site.maintenance(), "bob");
  assertEquals(lines.filter((line) => line.includes("alice")), []);
  assertEquals(JSON.parse(lines[lines.length - 1]), { type: "end", documents: 2, tombstones: 0, unreadable: 0 });
  assertEquals((await exported(await site.maintenance(), "carol")).length, 2);
});

Deno.test("export: of a document with a pruned past begins with a keyframe, and keeps its entries as they are", async () => {
  await using site = new AdminSite();
  const { log } = await fill(site);
  const lines = (await exported(await site.maintenance(), "alice")).map((line) => JSON.parse(line));
  const start = lines.findIndex(({ id }) => id === log);
  const [head, keyframe, first] = lines.slice(start);
  const { kind, title, turn, first_turn, oldest, version } = head;
  assertEquals({ kind, title, turn, first_turn, oldest, version }, {
    kind: "log",
    title: "A log",
    turn: 20,
    first_turn: 2,
    oldest: 16,
    version: 20,
  });
  assertEquals([keyframe.type, keyframe.version, keyframe.write_id], ["keyframe", first.version, first.write_id]);
  assert(keyframe.version <= 16);
  assertEquals(first.type, "entry");
  const bodies = site.rows(
    "SELECT body FROM mcpstate_entry JOIN mcpstate_document USING (doc) WHERE id = ? ORDER BY mcpstate_entry.version",
    log,
  );
  const texts = (await exported(await site.maintenance(), "alice")).filter((line) =>
    line.startsWith('{"type":"entry"')
  );
  for (const { body } of bodies.slice(-5)) assert(texts.some((line) => line.endsWith(`,"body":${body}}`)));
});

Deno.test("export: tells of what it cannot read, and goes on", async () => {
  await using from = new AdminSite();
  await using to = new AdminSite();
  const { trip, cart, log, notes } = await fill(from);
  from.run("UPDATE mcpstate_document SET status = 'odd' WHERE id = ?", trip);
  from.run(
    "DELETE FROM mcpstate_entry WHERE version = 19 AND doc = (SELECT doc FROM mcpstate_document WHERE id = ?)",
    log,
  );
  from.run(
    "UPDATE mcpstate_entry SET body = '[{' WHERE version = 2 AND doc = (SELECT doc FROM mcpstate_document WHERE id = ?)",
    cart,
  );
  const lines = await exported(await from.maintenance());
  const report = await importLines(asLines(lines), await to.maintenance());
  assertEquals([report.adopted, report.isComplete], [1, true]);
  const reasons = new Map(report.refused.map(({ id, reason }) => [id, reason]));
  assertEquals(reasons.get(trip), "It could not be exported: Its record is damaged (status).");
  assertEquals(reasons.get(log), "It could not be exported: Its entry 19 is missing.");
  assert(reasons.get(cart)?.startsWith("It could not be exported: Its journal is damaged: "));
  assertEquals((await (await to.store()).get(notes, bob)).version, 41);
});

Deno.test("export: of what is written, pruned or deleted while it is read comes out whole or not at all", async () => {
  await using from = new AdminSite();
  await using to = new AdminSite();
  const store = await from.store({ retention: { versions: 4 } });
  const [busy, steady, deleted, quiet] = await Promise.all(
    ["busy", "steady", "deleted", "quiet"].map((kind) => store.mint(kind, { pad: "p".repeat(9_000) }, alice)),
  );
  // Large replacements, so that keyframes are laid and older entries go.
  const write = async (handle: string, count: number) => {
    for (let i = 0; i < count; i++) await store.patch(handle, [setKey("", "pad", `${i}`.repeat(9_000))], alice);
  };
  for (const handle of [busy, steady, deleted, quiet]) await write(handle, 10);
  const source = await from.maintenance();
  let disturbances = 0;
  const disturbed: Maintenance = {
    ...forward(source),
    async *documents(user) {
      for await (const record of source.documents(user)) yield* [record, record]; // it moved, and came again
    },
    async *entries(key) {
      if (key.id === busy && disturbances++ < 3) await write(busy, 12);
      if (key.id === deleted) await store.revoke(deleted, alice).catch(() => {});
      if (key.id === steady) await write(steady, 1);
      yield* source.entries(key);
    },
  };
  const report = await importLines(exportStore(disturbed), await to.maintenance());
  assertEquals(report, { adopted: 3, existing: 0, ended: 0, tombstones: 1, refused: [], isComplete: true });
  const read = await to.store();
  assertEquals((await read.get(busy, alice)).version, 47);
  assertEquals((await read.get(steady, alice)).version, 11);
  await assertRejects(() => read.get(deleted, alice), HandleNotFound);
  assertEquals(await Array.fromAsync(checkStore(await to.maintenance())), []);
});

Deno.test("export: is one line per entry, whatever the bodies look like", async () => {
  await using from = new AdminSite();
  await using to = new AdminSite();
  const { trip, log } = await fill(from);
  const of = "doc = (SELECT doc FROM mcpstate_document WHERE id = ?)";
  from.run(`UPDATE mcpstate_entry SET body = replace(body, ':', ':' || char(13) || char(10)) WHERE ${of}`, trip);
  const first = from.number(`SELECT max(version) FROM mcpstate_keyframe WHERE version <= 16 AND ${of}`, log);
  from.run(`UPDATE mcpstate_entry SET body = '[{' WHERE version = ${first} AND ${of}`, log);
  const lines = await exported(await from.maintenance(), "alice");
  assertEquals(lines.filter((line) => /[\r\n]/.test(line)), []);
  const { adopted, refused } = await importLines(asLines(lines), await to.maintenance());
  assertEquals([adopted, refused.map(({ id }) => id)], [1, [log]]);
  assertEquals((await (await to.store()).get(trip, alice)).state, (await (await from.store()).get(trip, alice)).state);
});

Deno.test("migrate: copies a store, and again only what has come since", async () => {
  await using from = new AdminSite();
  await using to = new AdminSite();
  await fill(from);
  const [source, target] = [await from.maintenance(), await to.maintenance()];
  const first = await migrate(source, target, { user: "alice" });
  assertEquals([first.adopted, first.tombstones, first.isComplete], [2, 2, true]);
  const handle = await (await from.store()).mint("trip", { city: "Odense" }, bob);
  const second = await migrate(source, target);
  assertEquals(second, { adopted: 3, existing: 2, ended: 2, tombstones: 0, refused: [], isComplete: true });
  assertEquals((await (await to.store()).get(handle, bob)).state, { city: "Odense" });
});

Deno.test("import: does not bring back what was deleted where it goes", async () => {
  await using from = new AdminSite();
  await using to = new AdminSite();
  const { trip } = await fill(from);
  const lines = await exported(await from.maintenance(), "alice");
  await importLines(asLines(lines), await to.maintenance());
  await (await to.store()).revoke(trip, alice);
  const report = await importLines(asLines(lines), await to.maintenance());
  assertEquals([report.adopted, report.existing, report.ended], [0, 1, 3]);
  await assertRejects(async () => (await to.store()).get(trip, alice), HandleNotFound);
});

Deno.test("import: is told to watchers, and what came in goes on under retention, expiry and quota", async () => {
  await using from = new AdminSite();
  await using to = new AdminSite();
  const { log, trip } = await fill(from);
  const store = await to.store({ retention: { versions: 5 }, maxHandlesPerUser: 3 });
  await store.mint("cart", {}, alice);
  const watch = store.watch("alice", { handle: trip })[Symbol.asyncIterator]();
  const first = watch.next();
  await importLines(asLines(await exported(await from.maintenance(), "alice")), await to.maintenance());
  const events = [await first, await watch.next(), await watch.next(), await watch.next()].map(({ value }) => value);
  await watch.return?.();
  assertEquals(events.map(({ type, version, writer }) => [type, version, writer]), [
    ["change", 1, "laptop"],
    ["change", 2, "phone"],
    ["change", 3, "laptop"],
    ["change", 4, "laptop"],
  ]);
  await assertRejects(() => store.mint("cart", {}, alice), Error, "3 handles are held and 3 are allowed");
  for (let version = 20; version < 30; version++) {
    await store.save(log, { n: version + 1 }, { ...alice, expectVersion: version });
  }
  assertEquals((await store.get(log, alice)).oldestVersion, 26);
  const before = await (await from.store()).get(trip, alice);
  assertEquals((await store.get(trip, alice)).expiresAt, before.expiresAt);
  assertEquals((await store.list("alice")).handles[0].handle, log, "it was written last");
  assertEquals(await Array.fromAsync(checkStore(await to.maintenance())), []);
});
