/**
 * The store on Deno KV beside bare checked steps of the same keys.
 *
 * @module
 */

import { HandleStore } from "../mod.ts";
import { openKvBackend } from "../src/backends/kv.ts";
import { openRawKv } from "./raw_kv.ts";
import { compare, type Comparison, print } from "./side_by_side.ts";
import { text } from "./texts.ts";

const user = "alice";
const KIB = 1024;

/** Times everything. */
export async function timeKv(): Promise<Comparison[]> {
  const directory = await Deno.makeTempDir();
  await using store = new HandleStore(await openKvBackend({ path: `${directory}/store.kv` }), {
    maxStateBytes: 4 * KIB * KIB,
  });
  using raw = await openRawKv(`${directory}/raw.kv`);
  const results: Comparison[] = [];

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
        run: (i) => raw.write(JSON.stringify([{ op: "replace", path: "/note", value: states[i % 64].note }])),
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
      run: (i) => raw.write(JSON.stringify([{ op: "replace", path: "/note", value: large[(i + 1) % 4].note }])),
    }, { runs: 40, block: 2, target: 1.3 }),
  );
  await Deno.remove(directory, { recursive: true });
  return results;
}

if (import.meta.main) print(await timeKv());
