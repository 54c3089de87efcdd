/**
 * What reading a key of a thread costs early, in the middle and late: threads of any length.
 *
 * @module
 */

import { jsonBytes } from "../src/document/json.ts";
import { isEvicted } from "../src/history/entry.ts";
import { readThreadKey } from "../src/history/thread_reading.ts";
import { openThreads } from "../src/history/threads.ts";
import { HandleStore } from "../src/store/store.ts";
import type { Counting, Touched } from "./counting.ts";

const KEY = "gazet/get_aoi/geometry";
const AT_ONCE = 64;

/** One reading. */
export interface ThreadCost extends Touched {
  readonly turn: number;
  readonly ms: number;
  /** Bytes of the session that was read. */
  readonly sessionBytes: number;
}

/** What a tool has found in a turn: some 6 KB, all of it new. */
function geometry(turn: number): number[][] {
  return Array.from({ length: 300 }, (_, i) => [(turn * 7919 + i * 104_729) % 360_000 / 1000, (turn + i) % 180 / 2]);
}

/** Makes a thread of so many turns under unlimited retention, and reads a key at turn 3, in the middle and at the last but one. */
export async function threadCosts(engine: Counting, turns: number): Promise<ThreadCost[]> {
  const id = `thread of ${turns}`;
  const user = "alice";
  const writer = openThreads(new HandleStore(engine.backend, { retention: { versions: Infinity } }), { user });
  const publish = (turn: number) => writer.publish(id, { [KEY]: { value: geometry(turn), tool: "get_aoi" } }, { turn });
  // Alone, since those that find no thread would race to make it, and turns never go back.
  await publish(1);
  for (let first = 2; first <= turns; first += AT_ONCE) {
    const size = Math.min(AT_ONCE, turns + 1 - first);
    await Promise.all(Array.from({ length: size }, (_, i) => publish(first + i)));
  }
  const costs: ThreadCost[] = [];
  for (const turn of [3, Math.ceil(turns / 2), turns - 1]) {
    // A process that has not seen the thread: nothing comes from a cache.
    const reader = openThreads(new HandleStore(engine.backend), { user });
    await reader.snapshots(id);
    await engine.take();
    const began = performance.now();
    const session = await (await reader.snapshots(id)).at(turn);
    const ms = performance.now() - began;
    const touched = await engine.take();
    const entry = session[KEY];
    if (isEvicted(entry) || JSON.stringify(entry.value) !== JSON.stringify(geometry(turn))) {
      throw new Error(`turn ${turn} of ${turns} reads as another`);
    }
    costs.push({ turn, ms, ...touched, sessionBytes: jsonBytes(JSON.parse(JSON.stringify(session))) });
  }
  const reading = await writer.read(id, { turn: 3 });
  if (reading.outcome !== "here" || readThreadKey(reading, KEY).outcome !== "value") throw new Error("no reading");
  return costs;
}
