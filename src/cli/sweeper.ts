/**
 * Removes what has expired while the server does other things.
 *
 * @module
 */

import type { HandleStore } from "../store/store.ts";

/** Late enough that the first answers come first. */
const FIRST_MS = 1_000;
const EVERY_MS = 60 * 60 * 1_000;

/** Sweeps soon and then hourly. Keeps no process alive. Answers how to stop. */
export function sweepInBackground(store: Pick<HandleStore, "sweepAll">): () => void {
  let timer: ReturnType<typeof setTimeout>;
  let isStopped = false;
  const later = (delayMs: number) => {
    timer = setTimeout(sweep, delayMs);
    timer.unref();
  };
  const sweep = async () => {
    try {
      await store.sweepAll();
    } catch (error) {
      // It is tried again; what has expired is not served in any case.
      if (!isStopped) console.error(`mcpstate: sweeping failed: ${error instanceof Error ? error.message : error}`);
    }
    if (!isStopped) later(EVERY_MS);
  };
  later(FIRST_MS);
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
