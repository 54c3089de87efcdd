/**
 * Puts right what the doctor finds, as far as nothing can be lost by it: no entry is ever changed or removed.
 *
 * @module
 */

import type { Maintenance, Remedy } from "../backends/maintenance.ts";
import { type CheckOptions, checkStore, type Finding } from "./doctor.ts";

/** What to put right, and whom to tell. */
export interface RepairOptions extends CheckOptions {
  /** Told of each remedy once it was applied. */
  readonly onRepaired?: (finding: Finding) => void;
}

/** What came of a repair. */
export interface RepairReport {
  /** All that was wrong. */
  readonly found: readonly Finding[];
  /** What is wrong still, by another look at all of it. */
  readonly left: readonly Finding[];
}

/**
 * Looks the store over, applies the remedy of each finding that has one, and looks again. The store may be used meanwhile.
 *
 * @throws {BackendError} if the engine fails. What was put right before stays so.
 */
export async function repairStore(source: Maintenance, options: RepairOptions = {}): Promise<RepairReport> {
  const found = await Array.fromAsync(checkStore(source, options));
  const applied = new Set<Remedy>();
  for (const finding of found) {
    options.signal?.throwIfAborted();
    const { remedy } = finding;
    if (remedy === undefined || applied.has(remedy)) continue;
    applied.add(remedy);
    await remedy.apply();
    options.onRepaired?.(finding);
  }
  if (applied.size === 0) return { found, left: found };
  return { found, left: await Array.fromAsync(checkStore(source, options)) };
}
