import { assert, assertEquals } from "@std/assert";
import type { Backend } from "../../src/backends/backend.ts";
import { append } from "../../src/document/ops.ts";
import { HandleStore } from "../../src/store/store.ts";
import { alice } from "../admin/site.ts";
import type { Kept, MaintenanceCase } from "./maintenance.ts";
import { forward } from "./target.ts";

const KIBIBYTE = 1024;

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Bytes of the bodies of all entries and keyframes of a document that are kept. */
async function keptBytes(kept: Kept, id: string): Promise<number> {
  const maintenance = await kept.maintenance();
  let bytes = 0;
  for (const kind of ["entries", "keyframes"] as const) {
    for await (const row of maintenance[kind]({ ...alice, id })) {
      assert("body" in row, `${kind}: one is damaged`);
      bytes += bytesOf(row.body);
    }
  }
  return bytes;
}

/** Asserts that reading each of these versions, with nothing in a cache, takes bytes for its size. */
async function assertCheapReads(backend: Backend, handle: string, versions: Iterable<number>): Promise<void> {
  let read = 0;
  const counting: Backend["read"] = async (key, want, held) => {
    const answer = await backend.read(key, want, held);
    if (answer.outcome === "found") {
      read = typeof answer.onto === "string" ? 0 : bytesOf(answer.onto.body);
      for (const { body } of answer.entries) read += bytesOf(body);
    }
    return answer;
  };
  const cold = new HandleStore({ ...forward(backend), read: counting }, { cacheBytes: 0 });
  for (const version of versions) {
    const view = await cold.get(handle, { ...alice, version });
    assertEquals(view.version, version);
    const most = 2.5 * view.bytes + 64 * KIBIBYTE;
    assert(read <= most, `version ${version} of ${view.bytes} bytes was read from ${read}`);
  }
}

function* range(from: number, to: number, step = 1): Generator<number> {
  for (let version = from; version < to; version += step) yield version;
  yield to;
}

export function boundsCases(contract: MaintenanceCase): void {
  contract("bounds: a state that is written anew each time is kept once for each version", async (kept) => {
    const backend = await kept.backend();
    const store = new HandleStore(backend);
    const notes = (version: number) => ({ notes: `${version}`.padEnd(100 * KIBIBYTE, "n") });
    const handle = await store.mint("research", notes(1), alice);
    let written = (await store.get(handle, alice)).bytes;
    for (let version = 2; version <= 30; version++) {
      written += (await store.save(handle, notes(version), { ...alice, expectVersion: version - 1 })).bytes;
    }
    const held = await keptBytes(kept, handle);
    assert(held <= 1.02 * written, `${held} for ${written} written`);
    await assertCheapReads(backend, handle, range(1, 30));
  });

  for (const [retention, factor] of [[{ versions: Infinity }, 4], [{}, 3]] as const) {
    const named = factor === 4 ? "unlimited retention" : "the default retention";

    contract(
      `bounds: 5,000 appends are kept in ${factor} times the state under ${named}, and each version is cheap to read`,
      async (kept) => {
        const backend = await kept.backend();
        const store = new HandleStore(backend, { retention });
        const handle = await store.mint("research", { sources: [] }, alice);
        const add = (i: number) => store.patch(handle, [append("sources", `${i}`.padStart(200, "s"))], alice);
        // One after another, and by many at once, as they come on a server: what waits goes together.
        for (let i = 0; i < 250; i++) await add(i);
        for (let i = 250; i < 5_000; i += 50) await Promise.all(Array.from({ length: 50 }, (_, j) => add(i + j)));
        const { bytes, version, oldestVersion } = await store.get(handle, alice);
        assertEquals([version, bytes > 1_000_000], [5_001, true]);
        const held = await keptBytes(kept, handle);
        assert(held <= factor * bytes, `${held} for ${bytes}`);
        await assertCheapReads(backend, handle, range(oldestVersion, version, 97));
      },
    );

    contract(
      `bounds: a state that shrinks from 1 MiB to 1 KB stays small under ${named}, and each version is cheap to read`,
      async (kept) => {
        const backend = await kept.backend();
        const store = new HandleStore(backend, { retention });
        const large = KIBIBYTE * KIBIBYTE;
        const handle = await store.mint("research", { notes: "n".repeat(large - 12) }, alice);
        let small = 0;
        for (let version = 2; version <= 1_002; version++) {
          const notes = `${version}`.repeat(1_000).slice(0, 1_000);
          const saved = await store.save(handle, { notes }, { ...alice, expectVersion: version - 1 });
          small += saved.bytes + 50;
        }
        const { version, oldestVersion } = await store.get(handle, alice);
        assertEquals([version, oldestVersion], [1_002, factor === 4 ? 1 : 3]);
        // Retained without limit, the large version stays; by default it goes with the thousand that follow it.
        const held = await keptBytes(kept, handle);
        const written = factor === 4 ? large + small : small;
        assert(held <= factor * written, `${held} for ${written} written`);
        await assertCheapReads(backend, handle, range(oldestVersion, version, 7));
      },
    );
  }
}
