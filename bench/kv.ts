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
/** So many go into one commit, which may hold 800 KiB. */
const CHUNKS = 13;

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
  const journal = crypto.randomUUID();
  const write = async (version: number, bytes: number, body: string | undefined) => {
    const [document, counters] = await kv.getMany([["document", user, "bench_abcdefgh"], ["user", user]]);
    const now = Date.now();
    const stamp = { version, writeId: "abcdefghijklmnop", at: now, turn: 0, writer: "unknown", seq: version };
    const head = {
      id: "bench_abcdefgh",
      kind: "bench",
      version,
      writeId: stamp.writeId,
      createdAt: now,
      updatedAt: now,
      writer: stamp.writer,
      turn: 0,
      firstTurn: 0,
      bytes,
      oldest: 1,
      offset: 40_000,
      base: { version: 1, bytes, offset: 1_000 },
      seq: version,
      createdSeq: 1,
    };
    const { ok } = await kv.atomic().check(document, counters)
      .set(["document", user, head.id], { journal, head })
      .set(["list", user, version], { journal, head })
      .delete(["list", user, version - 1])
      .set(["user", user], { name: user, seq: version, live: 1, forgotten: 0 })
      .set(["journal", journal, "entry", version], { ...stamp, offset: 40_000, body })
      .commit();
    if (!ok) throw new Error("the raw step lost a race");
  };
  const writeChunks = async (version: number, body: string) => {
    for (let from = 0; from < body.length; from += CHUNKS * CHUNK) {
      const atomic = kv.atomic();
      for (let at = from; at < Math.min(body.length, from + CHUNKS * CHUNK); at += CHUNK) {
        atomic.set(["chunk", version, at], body.slice(at, at + CHUNK));
      }
      await atomic.commit();
    }
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
      {
        run: (i) => write(i + 2, KIB, JSON.stringify([{ op: "replace", path: "/note", value: states[i % 64].note }])),
      },
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
      run: async (i) => {
        const body = JSON.stringify([{ op: "replace", path: "/note", value: large[(i + 1) % 4].note }]);
        await writeChunks(10_000 + i, body);
        await write(10_000 + i, body.length, undefined);
      },
    }, { runs: 40, block: 2, target: 1.3 }),
  );
  print(results);
  Deno.removeSync(directory, { recursive: true });
}
