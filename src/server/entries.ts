/**
 * Entries of a journal in wire form, as many and as much of each as there is room for.
 *
 * @module
 */

import type { JsonPatch } from "../document/json_patch.ts";
import type { Change } from "../document/snapshot.ts";
import { cutText, jsonCost } from "./budget.ts";

/** One entry in wire form. */
export type WireEntry = {
  readonly version: number;
  readonly writer: string;
  readonly at: string;
  readonly turn: number | null;
  /** JSON Pointers (RFC 6901). */
  readonly paths: readonly string[];
  /** How many more paths there are. */
  readonly paths_omitted?: number;
  /** A JSON Patch (RFC 6902); `null` where there was no room for it. */
  readonly patch: JsonPatch | null;
};

const PATHS_SHOWN = 20;
const PATH_CHARS = 200;

/** As many entries are told with their patches, as far as there is room. */
const FEW = 20;
/** What more entries than that cost with patches: who catches up with many wants to know where to look. */
const MANY_CHARS = 7_000;

/**
 * What of some changes (oldest first) fits: first their paths, of as many as there is room for, then patches, the
 * smallest first. What does not fit is left out at the far end from `keep`.
 */
export function fitEntries(changes: readonly Change[], room: number, keep: "oldest" | "newest"): readonly WireEntry[] {
  const kept: { change: Change; entry: WireEntry; cost: number }[] = [];
  let left = room;
  for (const change of keep === "oldest" ? changes : [...changes].reverse()) {
    const entry = toPathsOnly(change);
    const cost = jsonCost(entry) + 1;
    if (cost > left) break;
    left -= cost;
    kept.push({ change, entry, cost });
  }
  if (kept.length > FEW) left = Math.min(left, MANY_CHARS - (room - left));
  const whole = kept.map((slot) => {
    const entry = toWhole(slot.change);
    return { slot, entry, extra: jsonCost(entry) + 1 - slot.cost };
  });
  for (const { slot, entry, extra } of whole.sort((a, b) => a.extra - b.extra)) {
    if (extra > left) break;
    left -= extra;
    slot.entry = entry;
  }
  const entries = kept.map(({ entry }) => entry);
  return keep === "oldest" ? entries : entries.reverse();
}

function toWhole({ version, writer, at, turn, paths, patch }: Change): WireEntry {
  return { version, writer, at, turn: turn || null, paths, patch };
}

function toPathsOnly({ version, writer, at, turn, paths }: Change): WireEntry {
  return { version, writer, at, turn: turn || null, ...fitPaths(paths, PATHS_SHOWN), patch: null };
}

/** Some pointers, each short, and how many more there are. */
export function fitPaths(
  paths: readonly string[],
  shown: number,
): { readonly paths: readonly string[]; readonly paths_omitted?: number } {
  const some = paths.slice(0, shown).map((path) => cutText(path, PATH_CHARS));
  return paths.length > shown ? { paths: some, paths_omitted: paths.length - shown } : { paths: some };
}
