import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Backend } from "../../src/backends/backend.ts";
import { delKey, increment, setKey } from "../../src/document/ops.ts";
import { HandleStore } from "../../src/store/store.ts";
import { forward } from "../contract/target.ts";
import { Site } from "./raw.ts";

const alice = { user: "alice" };
const KIBIBYTE = 1024;

/** Bytes of all entries and keyframes in the file. */
function keptBytes(site: Site): number {
  return site.number("SELECT sum(length(CAST(body AS BLOB))) FROM mcpstate_entry") +
    site.number("SELECT coalesce(sum(length(CAST(body AS BLOB))), 0) FROM mcpstate_keyframe");
}

/** A store without a cache, and the bytes of the bodies that its last read was answered. */
async function measured(site: Site): Promise<{ store: HandleStore; readBytes: () => number }> {
  const backend = await site.backend();
  let bytes = 0;
  const read: Backend["read"] = async (key, want, held) => {
    const answer = await backend.read(key, want, held);
    if (answer.outcome === "found") {
      bytes = typeof answer.onto === "string" ? 0 : answer.onto.body.length;
      for (const { body } of answer.entries) bytes += new TextEncoder().encode(body).length;
    }
    return answer;
  };
  return { store: new HandleStore({ ...forward(backend), read }, { cacheBytes: 0 }), readBytes: () => bytes };
}

/** Asserts that reading each of these versions is cheap for its size, and answers how large they are. */
async function assertCheapReads(site: Site, handle: string, versions: Iterable<number>): Promise<void> {
  const { store, readBytes } = await measured(site);
  for (const version of versions) {
    const { bytes, version: read } = await store.get(handle, { ...alice, version });
    assertEquals(read, version);
    const most = 2.5 * bytes + 64 * KIBIBYTE;
    assert(readBytes() <= most, `version ${version} of ${bytes} bytes was read from ${readBytes()}`);
  }
}

function* range(from: number, to: number): Generator<number> {
  for (let version = from; version <= to; version++) yield version;
}

Deno.test("journal: of writes that go together keeps every version between them cheap to read", async () => {
  await using site = new Site();
  const store = await site.store();
  const handle = await store.mint("research", { notes: "n".repeat(900_000), n: 0 }, alice);
  await Promise.all([
    store.save(handle, { n: 1 }, { ...alice, expectVersion: 1 }),
    ...Array.from({ length: 50 }, () => store.patch(handle, [increment("n", 1)], alice)),
    ...Array.from({ length: 60 }, (_, i) => store.patch(handle, [setKey("", "blob", `${i}`.repeat(5_000))], alice)),
  ]);
  const { version } = await store.get(handle, alice);
  assertEquals(version, 112);
  await assertCheapReads(site, handle, range(1, version));
});

Deno.test("journal: whatever is written, reads and bytes stay within their bounds", async () => {
  const key = fc.constantFrom("a", "b", "c", "d");
  const size = fc.oneof(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 60_000 }));
  const step = fc.oneof(
    fc.record({ do: fc.constant("set" as const), key, size }),
    fc.record({ do: fc.constant("drop" as const), key }),
    fc.record({ do: fc.constant("save" as const), size }),
    fc.record({ do: fc.constant("restore" as const), back: fc.integer({ min: 1, max: 10 }) }),
    fc.record({ do: fc.constant("burst" as const), key, size: fc.integer({ min: 0, max: 9_000 }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
      await using site = new Site();
      const store = await site.store({ retention: { versions: Infinity } });
      const handle = await store.mint("research", {}, alice);
      let written = 0;
      let version = 1;
      for (const each of steps) {
        if (each.do === "set") {
          await store.patch(handle, [setKey("", each.key, fill(each.size, version))], alice);
        } else if (each.do === "drop") await store.patch(handle, [delKey("", each.key)], alice);
        else if (each.do === "save") {
          await store.save(handle, { all: fill(each.size, version) }, { ...alice, expectVersion: version });
        } else if (each.do === "restore") {
          await store.restore(handle, Math.max(1, version - each.back), { ...alice, expectVersion: version });
        } else {
          await Promise.all(
            Array.from(
              { length: 30 },
              (_, i) => store.patch(handle, [setKey("", each.key, fill(each.size, i))], alice),
            ),
          );
        }
        ({ version } = await store.get(handle, alice));
      }
      written = site.number("SELECT sum(length(CAST(body AS BLOB)) + 100) FROM mcpstate_entry");
      const kept = keptBytes(site);
      assert(kept <= 4 * written + 64 * KIBIBYTE, `${kept} for ${written} written`);
      await assertCheapReads(site, handle, range(1, version));
    }),
    { numRuns: 15 },
  );
});

function fill(size: number, seed: number): string {
  return `${seed}`.padEnd(size, "æ");
}
