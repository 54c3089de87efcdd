/**
 * A state with what is known of its past: all that a reading is made of.
 *
 * @module
 */

import type { Range } from "../document/errors.ts";
import type { JsonObject } from "../document/json.ts";
import type { KeyHistory } from "../document/key_writes.ts";
import type { Where } from "./labels.ts";
import type { TurnRange } from "./port.ts";

/** A state as of some point. */
export interface StateView {
  /** The state. */
  readonly state: JsonObject;
  /** How often each key was written up to here. */
  readonly keys: KeyHistory;
  /** Which point this is. */
  readonly where: Where;
  /** The same as {@link StateView.keys}, up to now. Default: nothing was written since. */
  readonly keysNow?: KeyHistory;
  /** Which other points can be read. Default: none. */
  readonly readable?: Readable;
  /** Keys whose values were dropped for want of room. */
  readonly evicted?: ReadonlyMap<string, EvictedKey>;
  /** Keys that are written here sooner or later. */
  readonly expected?: readonly string[];
}

/** A key whose value was dropped. */
export interface EvictedKey {
  /** The turn that wrote it last; 0 if none was named. */
  readonly turn: number;
  /** The turn in which it was dropped: this and later ones ended without it. */
  readonly until: number;
  /** Who wrote it last. */
  readonly writer: string;
}

/** Which points of a past can be read by a call. */
export interface Readable {
  /** The versions, where they can be named. */
  readonly versions?: Range;
  /** The turns, where they are kept. */
  readonly turns?: readonly TurnRange[];
}

/** Which part of a state is wanted, and how. */
export interface StateRequest {
  /** A literal key; it may hold `/` and `.`. Absent or `*`: all of them. */
  readonly key?: string;
  /** A case-insensitive regular expression over lines `pointer = value`, such as `/city = "Aarhus"`. */
  readonly pattern?: string;
  /** A dotted path or a JSON Pointer within the key's value; without a key, within the state. */
  readonly path?: string;
  /** How much one value may cost, as `textCost` counts. Default {@link MAX_CHARS}. */
  readonly maxChars?: number;
}

/** How much a value may cost to be told whole. */
export const MAX_CHARS = 4_000;
