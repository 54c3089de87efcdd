import { assert, assertEquals } from "@std/assert";
import { Site } from "../store/raw.ts";
import { Process } from "./processes.ts";

const alice = { user: "alice" };
const ROUNDS = 10;
const AT_ONCE = 5;

Deno.test("kill -9: in the middle of writing, fifty times, loses nothing that was acknowledged", async () => {
  await using site = new Site();
  const rounds: { handle: string; acknowledged: Map<string, number> }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await using store = await site.store();
    const handle = await store.mint("cart", { items: [] }, alice);
    const acknowledged = new Map<string, number>();
    await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => writeUntilKilled(site, handle, `${i}`, acknowledged)));
    assert(acknowledged.size >= 3 * AT_ONCE);
    rounds.push({ handle, acknowledged });
  }
  const heads = site.rows("SELECT doc, version, write_id, turn, journal_offset FROM mcpstate_document ORDER BY doc");
  const newest = site.rows(
    "SELECT doc, max(version) AS version, write_id, turn, journal_offset FROM mcpstate_entry GROUP BY doc ORDER BY doc",
  );
  assertEquals(heads, newest);
  assertEquals(site.rows("PRAGMA integrity_check"), [{ integrity_check: "ok" }]);
  await using store = await site.store();
  for (const { handle, acknowledged } of rounds) {
    const { state, version: current } = await store.get(handle, alice);
    const items = state.items as string[];
    assertEquals([items.length, new Set(items).size], [current - 1, current - 1]);
    for (const [item, version] of acknowledged) {
      assertEquals(items[version - 2], item);
      if (version % 7 > 0) continue;
      const then = await store.get(handle, { ...alice, version });
      assertEquals(then.state, { items: items.slice(0, version - 1) });
    }
    const { version } = await store.patch(handle, [{ op: "append", path: "items", value: "goes on" }], alice);
    assertEquals(version, current + 1);
  }
});

/** Starts a process that writes without end, and kills it somewhere. Notes what it has acknowledged. */
async function writeUntilKilled(site: Site, handle: string, writer: string, acknowledged: Map<string, number>) {
  await using process = new Process(site.path, ["append", handle, writer, "1000000", "8000", "normal"]);
  assertEquals(await process.next(), { ready: true });
  await process.go();
  const acks = 3 + Math.floor(Math.random() * 20);
  for (let ack = 0; ack < acks; ack++) note(await process.next());
  process.kill();
  for (const answer of await process.rest()) note(answer);

  function note({ item, version, message }: { item?: string; version?: number; message?: string } = {}): void {
    assert(item !== undefined && version !== undefined, message);
    acknowledged.set(item, version);
  }
}
