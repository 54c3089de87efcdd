/**
 * What a reading can come to: keys, a value, an outline, matches, or one of the ways in which a key is not there.
 *
 * @module
 */

import type { JsonValue } from "../document/json.ts";
import type { Where } from "./labels.ts";

/** A key in a listing. */
export interface ListedKey {
  /** The key. */
  readonly key: string;
  /** Its value in a few words: `list[4] of 9.9`; or `evicted`, or `not written yet`. */
  readonly shape: string;
  /** That it held other values before, and how to read them. */
  readonly note?: string;
}

/** The keys of a state. */
export interface KeyListing {
  /** Which answer this is. */
  readonly outcome: "keys";
  /** The point that was read. */
  readonly where: Where;
  /** As many as there was room for. */
  readonly keys: readonly ListedKey[];
  /** How many were left out. */
  readonly omitted: number;
}

/** What the answers about one value have in common. */
export interface OfValue {
  /** The point that was read. */
  readonly where: Where;
  /** The key, if one was named. */
  readonly key?: string;
  /** A JSON Pointer (RFC 6901) within the key's value, or within the state. Empty for all of it. */
  readonly path: string;
  /** That the key held other values before, and how to read them. */
  readonly note?: string;
}

/** A value that is short enough to be told whole. */
export interface WholeValue extends OfValue {
  /** Which answer this is. */
  readonly outcome: "value";
  /** The value; markers stand for `data:` URIs. */
  readonly value: JsonValue;
}

/** A longer one. */
export interface OutlinedValue extends OfValue {
  /** Which answer this is. */
  readonly outcome: "outline";
  /** Line by line, `pointer: shape`. */
  readonly outline: string;
  /** How many characters of JSON the whole would be. */
  readonly chars: number;
  /** Whether it is one text, of which no path reaches a part. */
  readonly isText?: true;
}

/** Where a pattern is found. */
export interface MatchedLines extends OfValue {
  /** Which answer this is. */
  readonly outcome: "matches";
  /** The pattern as it was sent. */
  readonly pattern: string;
  /** Whether it is no regular expression and was taken as plain text. */
  readonly isLiteral: boolean;
  /** At most 50 lines `pointer = value`. */
  readonly lines: readonly string[];
  /** How many lines match. */
  readonly total: number;
  /** How many lines were searched. */
  readonly searched: number;
  /** How many were not, since the pattern is too costly for so much text. */
  readonly unsearched: number;
}

/** The key did not exist yet at that point. */
export interface NotWrittenYet {
  /** Which answer this is. */
  readonly outcome: "not_written_yet";
  /** The point that was read. */
  readonly where: Where;
  /** The key. */
  readonly key: string;
  /** What wrote it first, as far as that is known; absent if nothing is known to have. */
  readonly first?: { readonly version?: number; readonly turn?: number };
}

/** The key had been removed by then. */
export interface RemovedKey {
  /** Which answer this is. */
  readonly outcome: "removed";
  /** The point that was read. */
  readonly where: Where;
  /** The key. */
  readonly key: string;
  /** What removed it. */
  readonly by: { readonly version: number; readonly turn?: number; readonly writer: string };
  /** How to read what it held, and whether it came back. */
  readonly note?: string;
}

/** The key was written, and its value dropped for want of room. */
export interface EvictedKey {
  /** Which answer this is. */
  readonly outcome: "evicted";
  /** The point that was read. */
  readonly where: Where;
  /** The key. */
  readonly key: string;
  /** Who wrote it last. */
  readonly writer: string;
  /** How to read what it held. */
  readonly note?: string;
}

/** There is no such key, and none is known of. */
export interface UnknownKey {
  /** Which answer this is. */
  readonly outcome: "unknown_key";
  /** The point that was read. */
  readonly where: Where;
  /** What was asked for. */
  readonly key: string;
  /** Some of the keys that there are. */
  readonly available: readonly string[];
  /** The path that was probably meant. */
  readonly didYouMean?: string;
}

/** The key is there, and the path leads nowhere in it. */
export interface UnknownPath {
  /** Which answer this is. */
  readonly outcome: "unknown_path";
  /** The point that was read. */
  readonly where: Where;
  /** The key, if one was named. */
  readonly key?: string;
  /** What was asked for, as a JSON Pointer. */
  readonly path: string;
  /** The first part of it that leads nowhere. */
  readonly failedAt: string;
  /** Some of what is there instead. */
  readonly available: readonly string[];
}

/** The ways in which something is not there. */
export type Absence = NotWrittenYet | RemovedKey | EvictedKey | UnknownKey | UnknownPath;

/** What reading one point of a past comes to. */
export type StateReading = KeyListing | WholeValue | OutlinedValue | MatchedLines | Absence;
