/**
 * How fair writing to one document is: four processes with eight writers each, beside one writer alone, on SQLite and on
 * Redis. Prints the rates, and when the slowest writer had its share done beside the median one. An argument is how many
 * patches each writer makes.
 *
 * @module
 */

import { HandleStore } from "../mod.ts";
import { startProcess } from "../tests/faults/processes.ts";
import { startRedis } from "../tests/redis_server.ts";

const user = "alice";
const PROCESSES = 4;
const WRITERS = 8;
const SHARE = Number(Deno.args[0] ?? 100);
const PATCHES = PROCESSES * WRITERS * SHARE;
const ROUNDS = 3;

/** Lets so many processes write to a new document at once. Answers when each writer was done, in milliseconds, ascending. */
export async function race(url: string, processes: number, writers: number, share: number): Promise<number[]> {
  await using store = await HandleStore.fromUrl(url);
  const handle = await store.mint("bench", { items: [] }, { user });
  await using all = new AsyncDisposableStack();
  const started = await Promise.all(Array.from({ length: processes }, async (_, i) => {
    return all.use(await startProcess(url, ["append", handle, `${i}`, `${share}`, "0", `${writers}`]));
  }));
  await Promise.all(started.map((process) => process.next()));
  const begun = performance.now();
  const done = new Map<string, number>();
  await Promise.all(started.map(async (process) => {
    await process.go();
    for (let answer = await process.next(); answer !== undefined; answer = await process.next()) {
      if (answer.failed !== undefined) throw new Error(answer.message);
      done.set(String(answer.item).split("-")[0], performance.now() - begun);
    }
  }));
  const { version } = await store.get(handle, { user });
  const patches = processes * writers * share;
  if (version !== patches + 1) throw new Error(`there are ${version - 1} of ${patches} patches`);
  return [...done.values()].toSorted((a, b) => a - b);
}

async function measure(name: string, url: string): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const alone = await race(url, 1, 1, PATCHES); // as many, so that the document grows as large
    const all = await race(url, PROCESSES, WRITERS, SHARE);
    const [median, slowest] = [all[Math.floor(all.length / 2)], all[all.length - 1]];
    const [one, together] = [alone[0], slowest].map((ms) => PATCHES / ms * 1000);
    console.log(
      `${name}: alone ${one.toFixed(0)}/s, ${PROCESSES} × ${WRITERS} ${together.toFixed(0)}/s, ratio ` +
        `${(together / one).toFixed(2)} (≥ 0.7); done after ${all[0].toFixed(0)} … ${median.toFixed(0)} … ` +
        `${slowest.toFixed(0)} ms, slowest by median ${(slowest / median).toFixed(2)} (≤ 2)`,
    );
  }
}

if (import.meta.main) {
  const directory = await Deno.makeTempDir();
  await measure("sqlite", `sqlite:///${directory}/state.db`);
  await Deno.remove(directory, { recursive: true });
  await using server = await startRedis("--appendonly", "yes");
  await measure("redis", server.url);
}
