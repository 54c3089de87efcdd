import { assert, assertEquals } from "@std/assert";
import { checkStore, type Finding } from "../../src/admin/doctor.ts";
import { append, delKey, setKey } from "../../src/document/ops.ts";
import { AdminSite, alice, fill, forward } from "./site.ts";

async function findings(site: AdminSite, user?: string): Promise<Finding[]> {
  return await Array.fromAsync(checkStore(await site.maintenance(), { user }));
}

/** A document of 31 versions over several keyframes, in turns, all kept. */
async function long(site: AdminSite): Promise<string> {
  const store = await site.store();
  const handle = await store.mint("log", { lines: [] }, { ...alice, turn: 1 });
  for (let i = 2; i <= 31; i++) {
    await store.patch(handle, [setKey("", `k${i % 4}`, `${i}`.repeat(3_000)), append("lines", i)], {
      ...alice,
      turn: i,
    });
  }
  return handle;
}

Deno.test("doctor: finds nothing in a healthy store, whatever was done in it", async () => {
  await using site = new AdminSite();
  await fill(site);
  await long(site);
  let store = await site.store();
  const keys = await store.mint("keys", { pad: "p".repeat(40_000) }, alice);
  // Keys that come and go beyond what is remembered of them, and changes that are taken back within one write.
  for (let i = 0; i < 400; i++) {
    if (i % 90 === 0) store = await site.store(); // what is forgotten must not depend on who folds
    await store.patch(keys, [setKey("", `key ${i}`, i), ...i > 3 ? [delKey("", `key ${i - 3}`)] : []], alice);
  }
  await store.patch(keys, [setKey("", "a", "x".repeat(50_000)), setKey("", "a", 1), delKey("", "pad")], alice);
  await store.patch(keys, [setKey("", "b", "x".repeat(50_000)), delKey("", "b"), setKey("", "a", 2)], alice);
  assert(site.number("SELECT count(*) FROM mcpstate_keyframe") > 8);
  assertEquals(await findings(site), []);
});

Deno.test("doctor: names user, handle and what is wrong", async () => {
  const of = (table: string) => `UPDATE mcpstate_${table} SET`;
  const planted: readonly (readonly [sql: string, ...problems: RegExp[]])[] = [
    ["DELETE FROM mcpstate_entry WHERE version = 13", /^Entry 13 is missing\.$/, /^The index of turns names turn 13/],
    [
      "DELETE FROM mcpstate_entry WHERE version BETWEEN 7 AND 9",
      /^Entries 7 to 9 are missing\.$/,
      /turn 7/,
      /turn 8/,
      /turn 9/,
    ],
    [
      "DELETE FROM mcpstate_entry WHERE version = 31",
      /^The head is at version 31, and the journal ends with 30\.$/,
      /turn 31/,
    ],
    [`${of("document")} version = 32, write_id = 'w32'`, /^The head is at version 32, and the journal ends with 31\.$/],
    [
      `${
        of("document")
      } (version, write_id, updated_at) = (SELECT version, write_id, at FROM mcpstate_entry WHERE version = 30)`,
      /^The journal goes on with version 31, beyond the head at version 30\.$/,
      /for its sequence number/,
      /for its offset/,
      /for its bytes/,
    ],
    [`${of("document")} bytes = bytes + 1`, /^The head says \d+ for its bytes, and the journal \d+\.$/],
    [`${of("document")} write_id = 'another'`, /^The head says another for its write id, and the journal \w+\.$/],
    [`${of("document")} writer = 'eve'`, /^The head says eve for its writer, and the journal unknown\.$/],
    [`${of("document")} turn = 3`, /^The head is in turn 3, before its last entry's 31\.$/],
    [`${of("document")} first_turn = 0`, /^The head says turn 0 for the first, and is in turn 31\.$/],
    [`${of("document")} journal_offset = 1`, /^The head says 1 for its offset/],
    [`${of("document")} base_bytes = 1`, /^The head says 1 for its base's bytes/],
    [
      `${of("document")} base_version = 12`,
      /^Reading is said to start at version 12, and no keyframe/,
      /base's offset/,
      /base's bytes/,
    ],
    [`${of("document")} oldest = 32`, /^Versions from 32 are said to be kept, beyond the head\.$/],
    [`${of("document")} status = 'odd'`, /^The record of the document is damaged \(status\)\.$/, /0 live documents/],
    [`${of("document")} version = 'x'`, /^The record of the document is damaged \(version\)\.$/],
    [
      `${of("document")} status = 'deleted'`,
      /^It is deleted, and entries of it are still kept\.$/,
      /0 live documents/,
      /^No sweep will find it when it ends/,
    ],
    [`${of("entry")} body = '[{' WHERE version = 13`, /^The offset of entry 13/, /^Entry 13 does not fold: /],
    [
      `${of("entry")} body = '[]' WHERE version = 13`,
      /^The offset of entry 13/,
      /^Entry 14 does not fold: the operation add at "\/lines\/12" does not fit the state\.$/,
    ],
    [`${of("entry")} body = x'00' WHERE version = 13`, /^Entry 13 is damaged \(body\)\.$/],
    [`${of("entry")} at = 1 WHERE version = 13`, /^Entry 13 was written before the one before it\.$/],
    [
      `${of("entry")} turn = 2 WHERE version = 13`,
      /^Entry 13 is filed under turn 2, after turn 12\.$/,
      /^The keyframe of version 16 counts/,
      /^The keyframe of version 23 counts/,
      /^The keyframe of version 30 counts/,
      /^Turn 2 ended with version 13/,
      /^The index of turns names turn 13/,
    ],
    [`${of("entry")} seq = 1 WHERE version = 13`, /^Entry 13 has the sequence number 1, after 12\.$/],
    [
      `${of("entry")} journal_offset = journal_offset + 1 WHERE version = 13`,
      /^The offset of entry 13/,
      /^The offset of entry 14/,
    ],
    [
      `${of("keyframe")} bytes = bytes - 1 WHERE version = (SELECT min(version) FROM mcpstate_keyframe)`,
      /^The keyframe of version \d+ says that its state has \d+ bytes, and it has \d+\.$/,
    ],
    [
      `${of("keyframe")} write_id = 'w' WHERE version = (SELECT min(version) FROM mcpstate_keyframe)`,
      /^The keyframe of version \d+ has another write id than its entry\.$/,
    ],
    [
      `${
        of("keyframe")
      } body = replace(body, '"lines":[2', '"lines":[3')  WHERE version = (SELECT min(version) FROM mcpstate_keyframe)`,
      /^The keyframe of version \d+ holds another state than the journal gives\.$/,
    ],
    [
      `${
        of("keyframe")
      } body = replace(body, '"rows":[[', '"rows":[[9') WHERE version = (SELECT min(version) FROM mcpstate_keyframe)`,
      /^The keyframe of version \d+ counts the writes of its keys otherwise/,
    ],
    [
      `${of("keyframe")} body = '{' WHERE version = (SELECT min(version) FROM mcpstate_keyframe)`,
      /^The keyframe of version \d+ cannot be read\.$/,
    ],
    [
      `${of("keyframe")} body = x'7b' WHERE version = (SELECT min(version) FROM mcpstate_keyframe)`,
      /^The keyframe of version \d+ is damaged \(body\)\.$/,
    ],
    [
      `${of("keyframe")} version = 99 WHERE version = (SELECT min(version) FROM mcpstate_keyframe)`,
      /^The keyframe of version 99 is kept, and the entry of that version is not\.$/,
    ],
    [
      "DELETE FROM mcpstate_keyframe WHERE version = (SELECT max(version) FROM mcpstate_keyframe)",
      /^Reading is said to start at version \d+, and no keyframe is kept there\.$/,
    ],
    [`${of("user")} live = 7`, /^The user has 1 live documents and is counted to have 7\.$/],
    [`${of("user")} seq = 3`, /^The user's documents have sequence numbers up to 31, and only 3 were taken\.$/],
    ["DELETE FROM mcpstate_user", /^The user has documents and no counters\.$/],
    [`${of("turn")} version = 12 WHERE turn = 13`, /^Turn 13 ended with version 13, and the index of turns says 12\.$/],
    [
      "DELETE FROM mcpstate_turn WHERE turn = 13",
      /^Turn 13 ended with version 13, and the index of turns says nothing of it\.$/,
    ],
  ];
  await using healthy = new AdminSite();
  const handle = await long(healthy);
  await healthy.closeAll();
  for (const [sql, ...problems] of planted) {
    await using site = new AdminSite();
    await Deno.copyFile(healthy.path, site.path);
    site.run(sql);
    const found = await findings(site);
    assertEquals(found.length, problems.length, `${sql}: ${JSON.stringify(found)}`);
    for (const [i, { user, id, problem }] of found.entries()) {
      assert(problems[i].test(problem), `${sql}: ${problem}`);
      assertEquals([user, id], ["alice", /^The user/.test(problem) ? undefined : handle], sql);
    }
  }
});

Deno.test("doctor: finds a pruned past that cannot be read any more", async () => {
  await using site = new AdminSite();
  const { log } = await fill(site);
  const first = site.number(
    "SELECT min(version) FROM mcpstate_entry WHERE doc = (SELECT doc FROM mcpstate_document WHERE id = ?)",
    log,
  );
  site.run(
    "DELETE FROM mcpstate_keyframe WHERE version = ? AND doc = (SELECT doc FROM mcpstate_document WHERE id = ?)",
    first,
    log,
  );
  const found = await findings(site, "alice");
  assertEquals(found.map(({ problem }) => problem), [
    `The journal begins with version ${first}, and no keyframe is kept there: it cannot be read.`,
  ]);
  site.run("UPDATE mcpstate_document SET oldest = 2 WHERE id = ?", log);
  assertEquals(
    (await findings(site, "alice"))[0].problem,
    `Versions from 2 are said to be kept, and the journal begins with ${first}.`,
  );
});

Deno.test("doctor: finds rows of nobody, and goes on past every fault", async () => {
  await using site = new AdminSite();
  const { trip, cart, log } = await fill(site);
  site.run("UPDATE mcpstate_document SET kind = x'00' WHERE id = ?", trip);
  site.run("UPDATE mcpstate_document SET bytes = 1 WHERE id = ?", log);
  site.run("DELETE FROM mcpstate_document WHERE id = ?", cart);
  site.run("INSERT INTO mcpstate_user (name, seq, live) VALUES ('carol', 1, 2)");
  const found = (await findings(site)).map(({ user, id, problem }) => `${user} ${id} ${problem}`);
  assertEquals(
    found.map((each) => each.replace(/\d{4,}/, "N")).toSorted(),
    [
      `alice ${trip} The record of the document is damaged (kind).`,
      `alice ${log} The head says 1 for its bytes, and the journal N.`,
      "bob undefined The user has 1 live documents and is counted to have 2.",
      "carol undefined The user has no documents and is counted to have 2.",
      "undefined undefined The table mcpstate_entry has 4 rows that belong to no document.",
    ].toSorted(),
  );
  assertEquals((await findings(site, "bob")).length, 1);
});

Deno.test("doctor: takes no write that goes on meanwhile for a fault", async () => {
  await using site = new AdminSite();
  const store = await site.store({ retention: { versions: 4 } });
  const handle = await store.mint("log", { pad: "p".repeat(9_000) }, alice);
  const gone = await store.mint("log", {}, alice);
  const source = await site.maintenance();
  let rounds = 0;
  const disturbed = {
    ...forward(source),
    async *entries(key: Parameters<typeof source.entries>[0]) {
      if (key.id === gone) await store.revoke(gone, alice).catch(() => {});
      else if (rounds++ < 3) {
        for (let i = 0; i < 12; i++) await store.patch(handle, [setKey("", "pad", `${i}`.repeat(9_000))], alice);
      }
      yield* source.entries(key);
    },
  };
  assertEquals(await Array.fromAsync(checkStore(disturbed)), []);
  assertEquals(rounds, 4);
});
