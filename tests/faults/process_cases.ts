/**
 * What several processes on one store must keep, whatever its engine: all that is acknowledged lands, once and in order,
 * also where they are killed.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { openBackend } from "../../src/backends/open.ts";
import type { Snapshot } from "../../src/document/snapshot.ts";
import { HandleStore } from "../../src/store/store.ts";
import { find } from "../contract/drafts.ts";
import { startProcess, together } from "./processes.ts";

/** Where the data of a store lives while a test runs; disposing it removes the data. */
export interface ProcessSite extends AsyncDisposable {
  readonly url: string;
  /** Ends whatever keeps the data as a crash would, and starts it again; nothing where it is a file. */
  crash(): Promise<void>;
  /** Asserts that the engine's own records fit together. */
  check(): Promise<void>;
}

const alice = { user: "alice" };
const ROUNDS = 10;
const AT_ONCE = 5;

/** Runs the cases on one engine; each test gets a site of its own. */
export function processCases(name: string, makeSite: () => Promise<ProcessSite>): void {
  Deno.test(`${name}: patches from eight processes, twenty each, all land once and without gaps`, async () => {
    await using site = await makeSite();
    const handle = await mintCart(site);
    const answers = (await append(site, handle, 8, 20)).flat();
    assertEquals(answers.filter(({ failed }) => failed !== undefined), []);
    const items = await readItems(site, handle);
    assertEquals([items.length, new Set(items).size], [160, 160]);
    for (const { item = "", version = 0 } of answers) assertEquals(items[version - 2], item);
    for (let writer = 0; writer < 8; writer++) {
      const own = items.filter((item) => item.startsWith(`${writer}-`));
      assertEquals(own, Array.from({ length: 20 }, (_, i) => `${writer}-${i}`));
    }
    await site.check();
  });

  Deno.test(`${name}: patches from eight processes, two hundred each, land or answer that the store was busy`, async () => {
    await using site = await makeSite();
    const handle = await mintCart(site);
    const answers = (await append(site, handle, 8, 200)).flat();
    assertEquals(answers.length, 1_600);
    const landed = answers.filter(({ failed }) => failed === undefined);
    for (const { failed, busy } of answers) assert(failed === undefined || failed === "backend_error" && busy === true);
    assert(landed.length > 800, "most land");
    assertEquals((await readItems(site, handle)).toSorted(), landed.map(({ item = "" }) => item).sort());
    await site.check();
  });

  Deno.test(`${name}: patches of eight writers in each of four processes lose nothing, and each writer's keep their order`, async () => {
    await using site = await makeSite();
    const handle = await mintCart(site);
    const answers = (await append(site, handle, 4, 25, 8)).flat();
    assertEquals(answers.length, 800);
    const landed = answers.filter(({ failed }) => failed === undefined);
    for (const { failed, busy } of answers) assert(failed === undefined || failed === "backend_error" && busy === true);
    assert(landed.length > 400, "most land");
    const items = await readItems(site, handle);
    assertEquals(items.length, landed.length);
    for (const { item = "", version = 0 } of landed) assertEquals(items[version - 2], item);
    for (const writer of new Set(landed.map(({ item = "" }) => item.split("-")[0]))) {
      const own = (all: readonly string[]) => all.filter((item) => item.startsWith(`${writer}-`));
      assertEquals(own(items), own(landed.map(({ item = "" }) => item)));
    }
    await site.check();
  });

  Deno.test(`${name}: a request is answered again after a crash, by whoever is asked, several at once`, async () => {
    await using site = await makeSite();
    const cart = { items: [] };
    const calls = async (stores: readonly HandleStore[]) => {
      const mints = await Promise.all(
        stores.map((store) => store.create("cart", cart, { ...alice, requestId: "mint" })),
      );
      const [{ handle }] = mints;
      const operation = { op: "append", path: "items", value: "milk" } as const;
      const patches = await Promise.all(
        stores.map((store) => store.patch(handle, [operation], { ...alice, requestId: "patch" })),
      );
      return [...mints, ...patches];
    };
    const answers: Snapshot[] = [];
    for (const count of [1, 3]) {
      await using opened = new AsyncDisposableStack();
      const backends = await Promise.all(Array.from({ length: count }, () => openBackend(site.url)));
      answers.push(...await calls(backends.map((backend) => opened.use(new HandleStore(backend)))));
      if (count === 1) await site.crash();
    }
    const brief = answers.map(({ handle, version, state, replayed = false }) => ({ handle, version, state, replayed }));
    const [minted, patched] = brief;
    assertEquals([minted.version, minted.replayed, patched.version, patched.replayed], [1, false, 2, false]);
    assertEquals(patched.state, { items: ["milk"] });
    const again = (first: typeof minted) => Array(3).fill({ ...first, replayed: true });
    assertEquals(brief.slice(2), [...again(minted), ...again(patched)]);
    assertEquals(await readItems(site, minted.handle), ["milk"]);
    await site.check();
  });

  Deno.test(`${name}: kill -9 in the middle of writing, fifty times, loses nothing that was acknowledged`, async () => {
    await using site = await makeSite();
    const rounds: { handle: string; acknowledged: Map<string, number> }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const handle = await mintCart(site);
      const acknowledged = new Map<string, number>();
      const writers = Array.from({ length: AT_ONCE }, (_, i) => `${i}`);
      await Promise.all(writers.map((writer) => writeUntilKilled(site, handle, writer, acknowledged)));
      assert(acknowledged.size >= 3 * AT_ONCE);
      rounds.push({ handle, acknowledged });
    }
    await site.crash();
    await using store = new HandleStore(await openBackend(site.url));
    for (const { handle, acknowledged } of rounds) {
      const items = await readItems(site, handle);
      assertEquals(new Set(items).size, items.length);
      for (const [item, version] of acknowledged) {
        assertEquals(items[version - 2], item);
        if (version % 7 > 0) continue;
        const then = await store.get(handle, { ...alice, version });
        assertEquals(then.state, { items: items.slice(0, version - 1) });
      }
      const { version } = await store.patch(handle, [{ op: "append", path: "items", value: "goes on" }], alice);
      assertEquals(version, items.length + 2);
    }
    await store.close();
    await site.check();
  });
}

async function mintCart(site: ProcessSite): Promise<string> {
  await using store = new HandleStore(await openBackend(site.url));
  return await store.mint("cart", { items: [] }, alice);
}

/** Appends from several processes at once, each as one writer with its number as a name, or as several. */
function append(site: ProcessSite, handle: string, processes: number, count: number, writers = 1) {
  const commands = Array.from(
    { length: processes },
    (_, i) => ["append", handle, `${i}`, `${count}`, "0", `${writers}`],
  );
  return together(site.url, commands);
}

/** The items as they are, after asserting that there is one version for each, without gaps, and that the head is the newest. */
async function readItems(site: ProcessSite, handle: string): Promise<string[]> {
  const backend = await openBackend(site.url);
  await using store = new HandleStore(backend);
  const { state, version } = await store.get(handle, alice);
  const items = state.items as string[];
  assertEquals(version, items.length + 1);
  const { head, target } = await find(backend, { user: "alice", id: handle });
  assert(target !== undefined && target !== "held");
  assertEquals([target.version, target.writeId, head.version], [head.version, head.writeId, version]);
  const { changes } = await store.changes(handle, { ...alice, since: head.oldest, limit: 1_000 });
  const follow = Array.from({ length: Math.min(version - head.oldest, 1_000) }, (_, i) => head.oldest + 1 + i);
  assertEquals(changes.map((change) => change.version), follow);
  return items;
}

/** Starts a process that writes without end, and kills it somewhere. Notes what it has acknowledged. */
async function writeUntilKilled(site: ProcessSite, handle: string, writer: string, acknowledged: Map<string, number>) {
  await using process = await startProcess(site.url, ["append", handle, writer, "1000000", "8000"]);
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
