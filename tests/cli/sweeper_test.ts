/**
 * Sweeping beside everything else.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { sweepInBackground } from "../../src/cli/sweeper.ts";

Deno.test("sweeping begins by itself, and a failure is said and ends nothing", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const said: unknown[] = [];
  const original = console.error;
  console.error = (...args) => {
    said.push(...args);
    resolve();
  };
  const keepAlive = setInterval(() => {}, 1_000); // the sweeper's own timer keeps no process alive
  const stop = sweepInBackground({ sweepAll: () => Promise.reject(new Error("disk full")) });
  try {
    await promise;
  } finally {
    console.error = original;
    clearInterval(keepAlive);
    stop();
  }
  assertEquals(said, ["mcpstate: sweeping failed: disk full"]);
});
