/**
 * Writes that a program works out from what stands there: keys of a document set anew, and the document made if need be.
 *
 * @module
 */

import { admitState } from "../document/admit.ts";
import { diff } from "../document/diff.ts";
import { HandleExpired, HandleNotFound } from "../document/errors.ts";
import { type JsonObject, type JsonValue, ownValue } from "../document/json.ts";
import { applyJsonPatch } from "../document/json_patch.ts";
import type { WriteOptions } from "./options.ts";
import type { Planner } from "./plans.ts";

/** Top-level keys with their new values; `undefined` removes a key. */
export type KeyUpdate = { readonly [key: string]: unknown };

/** Where a change is going to land. */
export interface UpdatePlace {
  /** The version that it makes. */
  readonly version: number;
  /** The turn that it is filed under; 0 if none was ever named. */
  readonly turn: number;
}

/**
 * Works out a change from the state (deep-frozen; empty where there is no document yet). It may be asked several times, each
 * time on a newer state, so it must not do anything else. A `StateError` that it throws refuses the write.
 */
export type KeyChange = (state: JsonObject, place: UpdatePlace) => KeyUpdate;

/** Options of `update`. */
export interface UpdateOptions extends WriteOptions {
  /** Make the document if there is none (any more), of this kind; one of another kind is refused. Default: a document that is not there is an error. */
  readonly create?: string;
  /** A new time to live from now, in days; `null` for ever. Default: as it was. */
  readonly ttlDays?: number | null;
  /** What the request id stands for, since a function cannot be compared. Default: nothing but the document. */
  readonly args?: JsonValue;
}

/** A plan that sets some keys anew. Its cost follows what is set, not the document. */
export function planUpdate(change: KeyChange, turn: number | undefined): Planner {
  return ({ folded, head }) => {
    const place = { version: folded.version + 1, turn: Math.max(head.turn, turn ?? 0) };
    const { set, removed } = admitUpdate(change(folded.state, place));
    const before = [...Object.keys(set), ...removed].flatMap((key) => {
      const old = ownValue(folded.state, key);
      return old === undefined ? [] : [[key, old] as const];
    });
    const patch = diff(Object.fromEntries(before), set);
    return patch.length === 0
      ? { outcome: "unchanged" }
      : { outcome: "write", patch, after: applyJsonPatch(folded, patch) };
  };
}

/** The state of a document that a change makes, not let in yet. */
export function firstState(change: KeyChange, turn: number | undefined): KeyUpdate {
  return withoutRemoved(change({}, { version: 1, turn: turn ?? 0 }));
}

/**
 * Writes to a document, or makes it. One that `isKnown` is written to first, any other made first: what is there is then
 * answered to the attempt. Both again if somebody was faster.
 */
export async function writeOrMake<T>(
  isKnown: boolean,
  write: () => Promise<T>,
  make: () => Promise<T | undefined>,
): Promise<T> {
  for (let attempt = 1;; attempt++) {
    const made = isKnown ? undefined : await make();
    if (made !== undefined) return made;
    try {
      return await write();
    } catch (error) {
      // One that ended makes room for the next of its name.
      const isGone = error instanceof HandleNotFound || error instanceof HandleExpired;
      if (!isGone || attempt >= ATTEMPTS) throw error;
      isKnown = false;
    }
  }
}

const ATTEMPTS = 4;

/** The keys that are set, let in as part of a state, and those that are removed. */
function admitUpdate(update: KeyUpdate): { readonly set: JsonObject; readonly removed: readonly string[] } {
  const removed = Object.keys(update).filter((key) => update[key] === undefined);
  return { set: admitState(withoutRemoved(update)).value, removed };
}

function withoutRemoved(update: KeyUpdate): KeyUpdate {
  return Object.fromEntries(Object.entries(update).filter(([, value]) => value !== undefined));
}
