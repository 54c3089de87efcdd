/**
 * How often each top-level key of a document was written: folded with the journal, so that asking costs nothing.
 *
 * @module
 */

import { equal, isObject, type JsonObject, type JsonValue, ownValue } from "./json.ts";
import type { JsonPatch } from "./json_patch.ts";
import { firstToken } from "./path.ts";

/** The past of one top-level key, up to some version. */
export interface KeyWrites {
  /** In how many versions the key changed. */
  readonly versions: number;
  /** In how many turns it was written. 0 where turns were never named. */
  readonly turns: number;
  /** The version and turn that first wrote it. */
  readonly first: { readonly version: number; readonly turn: number };
  /** The version and turn that last changed it, and who did. */
  readonly last: { readonly version: number; readonly turn: number; readonly writer: string };
  /** The turns that wrote it, ascending: at most the newest {@link TURNS_LISTED}. */
  readonly recentTurns: readonly number[];
  /** The value before the last one: the turn that wrote it, and the version and turn that replaced or removed it. */
  readonly previous?: { readonly turn: number; readonly until: { readonly version: number; readonly turn: number } };
  /** What stood before the last turn that changed it, where no journal tells: the turn that wrote it, and that in which it went. */
  readonly before?: { readonly turn: number; readonly until: number };
  /** Whether the last change removed the key. */
  readonly isRemoved?: true;
}

/** How many turns {@link KeyWrites.recentTurns} lists at most. */
export const TURNS_LISTED = 16;
/** How many keys that are no longer in the state are remembered, the most recently changed first. */
export const GONE_KEYS_KEPT = 256;

/** The past of every key, removed ones included. */
export type KeyHistory = ReadonlyMap<string, KeyWrites>;

/** Which version, in which turn, by whom. */
export interface WriteStamp {
  readonly version: number;
  readonly turn: number;
  readonly writer: string;
}

/** The history after a write that changed these keys and left this state. */
export function countWrites(
  before: KeyHistory,
  keys: Iterable<string>,
  stamp: WriteStamp,
  state: JsonObject,
): KeyHistory {
  const counter = new KeyCounter(before);
  counter.count(keys, stamp, state, () => Object.keys(state).length);
  return counter.finish();
}

/** Counts writes one after the other, in place, so that a long fold copies the history once. */
export class KeyCounter {
  readonly #history: Map<string, KeyWrites>;

  constructor(before: KeyHistory) {
    this.#history = new Map(before);
  }

  /** Counts a write that changed these keys and left a state of so many keys. */
  count(keys: Iterable<string>, stamp: WriteStamp, state: JsonValue, size: () => number): void {
    for (const key of keys) {
      const counted = countWrite(this.#history.get(key), stamp);
      this.#history.set(key, isThere(state, key) ? counted : { ...counted, isRemoved: true });
    }
    // After every write, not at the end: a key's past must not depend on where the fold began.
    if (this.#history.size > GONE_KEYS_KEPT && this.#history.size > size() + GONE_KEYS_KEPT) this.#forget(state);
  }

  /** The history; the counter is then of no more use. */
  finish(): KeyHistory {
    return this.#history;
  }

  /** Forgets the keys that were removed longest ago. */
  #forget(state: JsonValue): void {
    const gone = [...this.#history].filter(([key]) => !isThere(state, key));
    gone.sort(([a, { last: x }], [b, { last: y }]) => y.version - x.version || (a < b ? -1 : 1));
    for (const [key] of gone.slice(GONE_KEYS_KEPT / 2)) this.#history.delete(key);
  }
}

function isThere(state: JsonValue, key: string): boolean {
  return isObject(state) && Object.hasOwn(state, key);
}

function countWrite(before: KeyWrites | undefined, { version, turn, writer }: WriteStamp): KeyWrites {
  const last = { version, turn, writer };
  if (before === undefined) {
    return {
      versions: 1,
      turns: turn > 0 ? 1 : 0,
      first: { version, turn },
      last,
      recentTurns: turn > 0 ? [turn] : [],
    };
  }
  const newTurn = turn > before.last.turn;
  // What was removed ended then, not when the key came back.
  const previous = before.isRemoved ? before.previous : { turn: before.last.turn, until: { version, turn } };
  return {
    versions: before.versions + 1,
    turns: before.turns + (newTurn ? 1 : 0),
    first: before.first,
    last,
    recentTurns: newTurn ? [...before.recentTurns, turn].slice(-TURNS_LISTED) : before.recentTurns,
    ...(previous === undefined ? {} : { previous }),
  };
}

/** The top-level keys that a patch changes in a state. */
export function patchedKeys(before: JsonValue, patch: JsonPatch): Iterable<string> {
  const keys = new Set<string>();
  for (const operation of patch) {
    const key = firstToken(operation.path);
    if (key !== undefined) keys.add(key);
    else for (const each of replacedKeys(before, operation.op === "remove" ? {} : operation.value)) keys.add(each);
  }
  return keys;
}

/** The top-level keys whose values differ between two states. */
export function replacedKeys(before: JsonValue, after: JsonValue): Set<string> {
  const [a, b] = [isObject(before) ? before : {}, isObject(after) ? after : {}];
  const changed = new Set<string>();
  for (const key of Object.keys(a)) {
    const value = ownValue(b, key);
    if (value === undefined || !equal(a[key], value)) changed.add(key);
  }
  for (const key of Object.keys(b)) if (!Object.hasOwn(a, key)) changed.add(key);
  return changed;
}
