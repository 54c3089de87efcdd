/**
 * The store on Deno KV beside bare checked steps of the same keys.
 *
 * @module
 */

import { HandleStore } from "../mod.ts";
import { openKvBackend } from "../src/backends/kv.ts";
import { compare, type Comparison, print } from "./side_by_side.ts";

const user = "alice";
const KIB = 1024;
const CHUNK = 60 * KIB;

function text(bytes: number, seed = 0): string {
  let random = seed + 1;
  return Array.from({ length: bytes }, () => String.fromCharCode(97 + (random = random * 48271 % 0x7fffffff) % 26))
    .join("");
}

if (import.meta.main) {
  const directory = Deno.makeTempDirSync();
  await using store = new HandleStore(await openKvBackend({ path: `${directory}/store.kv` }), {
    maxStateBytes: 4 * KIB * KIB,
  });
  using kv = await Deno.openKv(`${directory}/raw.kv`);
  const results: Comparison[] = [];

  // What a write of the store writes: the head, its place in the list, the user's counters and the entry.
  const write = async (version: number, body: string, chunks: readonly string[] = []) => {
    const [head, counters] = await kv.getMany([["document", user, "bench"], ["user", user]]);
    const record = {
      version,
      writeId: "abcdefghijklmnop",
      updatedAt: Date.now(),
      writer: "unknown",
      bytes: body.length,
    };
    for (const [i, chunk] of chunks.entries()) await kv.set(["chunk", version, i], chunk);
    const { ok } = await kv.atomic().check(head, counters)
      .set(["document", user, "bench"], record)
      .set(["list", user, version], record)
      .delete(["list", user, version - 1])
      .set(["user", user], { seq: version, live: 1 })
      .set(["journal", "bench", "entry", version], { ...record, body })
      .commit();
    if (!ok) throw new Error("the raw step lost a race");
  };

  const states = Array.from({ length: 64 }, (_, i) => ({ note: text(KIB, i), turn: i }));
  const small = await store.mint("bench", states[0], { user });
  let version = 1;
  results.push(
    await compare(
      "save of 1 KB | a checked step of the same keys",
      {
        run: async (i) => version = (await store.save(small, states[i % 64], { user, expectVersion: version })).version,
      },
      { run: (i) => write(i + 2, JSON.stringify([{ op: "replace", path: "/note", value: states[i % 64].note }])) },
      { runs: 600, target: 1.5 },
    ),
  );

  const large = Array.from({ length: 4 }, (_, i) => ({ note: text(1000 * KIB, i) }));
  const handle = await store.mint("bench", large[0], { user });
  let next = 1;
  results.push(
    await compare("save of 1 MiB | the same chunks and a checked step", {
      run: async (i) => next = (await store.save(handle, large[(i + 1) % 4], { user, expectVersion: next })).version,
    }, {
      run: (i) => {
        const body = JSON.stringify([{ op: "replace", path: "/note", value: large[(i + 1) % 4].note }]);
        const chunks = Array.from(
          { length: Math.ceil(body.length / CHUNK) },
          (_, n) => body.slice(n * CHUNK, (n + 1) * CHUNK),
        );
        return write(10_000 + i, "", chunks);
      },
    }, { runs: 40, block: 2, target: 1.3 }),
  );
  print(results);
  Deno.removeSync(directory, { recursive: true });
}
