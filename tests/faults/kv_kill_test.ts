import { assert, assertEquals } from "@std/assert";
import { find, HEAD, mint, TRIP } from "../contract/drafts.ts";
import { assertSound, KvSite, ofKind } from "./kv_site.ts";
import { startProcess } from "./processes.ts";

const alice = { user: "alice" };
/** So large that it is staged in three commits before the fourth makes it visible. */
const BYTES = 3 * 1024 * 1024;
const COMMITS = 4;

Deno.test("kv: kill -9 between and in the commits of a large write leaves the old version or the new one, whole", async () => {
  await using site = new KvSite();
  let notes = "{}";
  {
    await using backend = await site.backend();
    await mint(backend, TRIP, { body: notes });
  }
  let version = 1;
  let staged = 0;
  for (let round = 0; round < 2 * COMMITS; round++) {
    const fill = String.fromCharCode(97 + round);
    const commit = 1 + round % COMMITS;
    const when = round < COMMITS ? "during" : "after";
    await using process = await startProcess(site.url, ["die", TRIP.id, fill, `${BYTES}`, `${commit}`, when], {
      flags: ["--allow-run"],
    });
    assertEquals(await process.rest(), []);
    staged += ofKind(await site.records(), "staged").size;

    await using backend = await site.backend();
    const { head, entries } = await find(backend, TRIP, HEAD, { version: 0, writeId: "" });
    assert(head.version === version || commit === COMMITS && head.version === version + 1);
    if (commit === COMMITS && when === "after") assertEquals(head.version, version + 1);
    if (head.version > version) notes = `{"notes":"${fill.repeat(BYTES)}"}`;
    version = head.version;
    assertEquals([entries.length, entries.at(-1)?.body === notes], [version, true]);
    await site.sweepLater();
    assertSound(await site.records());
  }
  assert(staged > 0, "some were killed with chunks that nobody used");
});

Deno.test("kv: kill -9 in the middle of saving, many times, loses nothing that was acknowledged", async () => {
  await using site = new KvSite();
  const store = await site.store();
  const handle = await store.mint("notes", { notes: "" }, alice);
  const acknowledged = new Map<number, string>();
  for (let round = 0; round < 12; round++) {
    await using process = await startProcess(site.url, ["save", handle]);
    assertEquals(await process.next(), { ready: true });
    await process.go();
    const note = ({ item, version }: { item?: string; version?: number } = {}) => {
      assert(item !== undefined && version !== undefined);
      acknowledged.set(version, item);
    };
    note(await process.next());
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 60));
    process.kill();
    for (const answer of await process.rest()) note(answer);
  }
  for (const [version, fill] of acknowledged) {
    const { state } = await store.get(handle, { ...alice, version });
    assertEquals(state.notes === fill.repeat(1_000_000), true, `version ${version}`);
  }
  const { version } = await store.get(handle, alice);
  assert(version >= Math.max(...acknowledged.keys()));
  assertEquals(
    (await store.save(handle, { notes: "goes on" }, { ...alice, expectVersion: version })).version,
    version + 1,
  );
  await site.sweepLater();
  assertSound(await site.records());
});
