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
  const counts = `${all.versions} versions${turnsText(all)}, last by ${nameText(all.last.writer)}`;
  const parts = [`${historyText(all)}, ${counts}`];
  if (here !== undefined && here.versions < all.versions) parts.push(`this is ${here.versions} of ${all.versions}`);
  if (here !== undefined && here.versions > 1) parts.push(...earlierText(here, view.readable, "the earlier"));
  return parts.join("; ");
}

function historyText({ isRemoved, previous, last }: KeyWrites): string {
  if (isRemoved) return "removed later";
  return previous !== undefined && previous.until.version < last.version ? "removed and added again" : "rewritten";
}

/** How to read what a key held before its last change: `turn=1 reads …`, or that this is gone, or nothing. */
export function earlierText(writes: KeyWrites, readable: Readable = {}, what: string): string[] {
  const { previous, turns, last, before } = writes;
  if (previous !== undefined) {
    const call = earlierCall(previous, readable);
    if (call !== undefined) return [`${call} reads ${what}`];
  } else if (before !== undefined) {
    // Not known is how often the last of these turns changed it: what stood before that turn may not be the one before.
    const turn = readableTurn(before.turn, before.until, readable);
    if (turn !== undefined) return [`turn=${turn} reads what it held before turn ${last.turn}`];
  } else if (turns === 1 && readable.versions === undefined) {
    return [`${what} was overwritten within turn ${last.turn}`];
  }
  return readable.turns?.length || readable.versions !== undefined ? [`${what} is no longer retained`] : [];
}

function earlierCall({ turn, until }: NonNullable<KeyWrites["previous"]>, readable: Readable): string | undefined {
  const readableIn = readableTurn(turn, until.turn, readable);
  if (readableIn !== undefined) return `turn=${readableIn}`;
  const version = until.version - 1;
  return readable.versions !== undefined && isWithin([readable.versions], version) ? `version=${version}` : undefined;
}

/** A turn that can be read and that ended with what was written in turn `from` and stood until turn `until`. */
export function readableTurn(from: number, until: number, { turns = [] }: Readable): number | undefined {
  return from < until ? [from, until - 1].find((turn) => isWithin(turns, turn)) : undefined;
}

/** ` (turns 1, 3)`, the newest ones. */
function turnsText({ turns, recentTurns }: KeyWrites): string {
  if (recentTurns.length === 0) return "";
  const shown = recentTurns.slice(-TURNS_SHOWN).join(", ");
  const more = turns > Math.min(recentTurns.length, TURNS_SHOWN) ? "…, " : "";
  return ` (${turns === 1 ? "turn" : "turns"} ${more}${shown})`;
}
