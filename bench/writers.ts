/**
 * How the rate of patches to one document grows with the number of its writers, eight in a process.
 *
 * @module
 */

import type { Engine } from "./engines.ts";
import { race } from "./fairness.ts";
import type { Growth } from "./growth.ts";

const PATCHES = 1_600;

/** Over 1 to 32 writers. The raw side is the bare driver with one writer, one write after the other. Microseconds a patch. */
export async function byWriters(engine: Engine): Promise<Growth[]> {
  const item = JSON.stringify([{ op: "add", path: "/items/-", value: "writer-123" }]);
  const begun = performance.now();
  for (let i = 0; i < PATCHES; i++) await engine.raw.write(item);
  const raw = (performance.now() - begun) * 1000 / PATCHES;
  const points: { x: number; ours: number; raw: number }[] = [];
  for (const [processes, writers] of [[1, 1], [1, 8], [2, 8], [4, 8]]) {
    const x = processes * writers;
    const done = await race(engine.url, processes, writers, PATCHES / x);
    points.push({ x, ours: done[done.length - 1] * 1000 / PATCHES, raw });
  }
  return [{ engine: engine.name, operation: "patch of one document, time for each", points }];
}
