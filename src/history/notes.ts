/**
 * What a model should know of a key beside its value: that it held others before, and the call that reads them.
 *
 * @module
 */

import type { KeyWrites } from "../document/key_writes.ts";
import { nameText } from "./labels.ts";
import { isWithin } from "./port.ts";
import type { Readable, StateView } from "./view.ts";

const TURNS_SHOWN = 8;

/**
 * The note on a key that was written in more than one version:
 * `rewritten, 2 versions (turns 1, 3), last by phone; turn=1 reads the earlier`.
 */
export function rewrittenNote(view: StateView, key: string): string | undefined {
  const here = view.keys.get(key);
  const all = view.keysNow?.get(key) ?? here;
  if (all === undefined || all.versions < 2) return undefined;
  const parts = [`rewritten, ${all.versions} versions${turnsText(all)}, last by ${nameText(all.last.writer)}`];
  if (here !== undefined && here.versions < all.versions) parts.push(`this is ${here.versions} of ${all.versions}`);
  if (here !== undefined && here.versions > 1) parts.push(...earlierText(here, view.readable, "the earlier"));
  return parts.join("; ");
}

/** How to read what a key held before its last change: `turn=1 reads …`, or that this is gone, or nothing. */
export function earlierText(writes: KeyWrites, readable: Readable = {}, what: string): string[] {
  const call = earlierCall(writes, readable);
  if (call !== undefined) return [`${call} reads ${what}`];
  return readable.turns?.length || readable.versions !== undefined ? [`${what} is no longer retained`] : [];
}

function earlierCall({ versions, turns, last, recentTurns }: KeyWrites, readable: Readable): string | undefined {
  if (turns > 1) {
    // What the turn before has written stood until the turn before the last change.
    const candidates = [recentTurns.at(-2) ?? last.turn - 1, last.turn - 1];
    const turn = candidates.find((each) => isWithin(readable.turns ?? [], each));
    if (turn !== undefined) return `turn=${turn}`;
  }
  const version = last.version - 1;
  const { from, to } = readable.versions ?? { from: 1, to: 0 };
  return versions > 1 && version >= from && version <= to ? `version=${version}` : undefined;
}

/** ` (turns 1, 3)`, the newest ones. */
function turnsText({ turns, recentTurns }: KeyWrites): string {
  if (recentTurns.length === 0) return "";
  const shown = recentTurns.slice(-TURNS_SHOWN).join(", ");
  const more = turns > Math.min(recentTurns.length, TURNS_SHOWN) ? "…, " : "";
  return ` (${turns === 1 ? "turn" : "turns"} ${more}${shown})`;
}
