/**
 * Short, bounded words for keys, names, ranges and points in time.
 *
 * @module
 */

import { textCost } from "../document/outline.ts";
import { type Path, toPointer } from "../document/path.ts";
import type { TurnRange } from "./port.ts";

const KEY_SHOWN = 200;
const NAME_SHOWN = 40;
const RANGES_SHOWN = 10;

/** The point that a reading is of. */
export type Where =
  /** Now. */
  | { readonly as: "current" }
  /** As of a version. */
  | { readonly as: "version"; readonly version: number }
  /** As a turn ended, or, if that is not known to have ended, what it has come to so far. */
  | { readonly as: "turn"; readonly turn: number; readonly soFar?: boolean };

/** Words for a point in the past: `version 1`, `the end of turn 2`, `turn 3 so far`. */
export function whereText(where: Where): string {
  switch (where.as) {
    case "current":
      return "now";
    case "version":
      return `version ${where.version}`;
    case "turn":
      return where.soFar === true ? `turn ${where.turn} so far` : `the end of turn ${where.turn}`;
  }
}

/** A text of at most `maxCost`, as `textCost` counts; `…` ends one that was longer. */
export function cutTo(text: string, maxCost: number): string {
  if (text.length * 2 <= maxCost || text.length <= 2 * maxCost && textCost(text) <= maxCost) return text;
  let room = maxCost - 2;
  let end = 0;
  while (end < text.length && (room -= text.charCodeAt(end) > 0x7f ? 2 : 1) >= 0) end++;
  return `${withoutHalves(text.slice(0, end))}…`;
}

/** Without the half of a surrogate pair that a cut has left at either end. */
export function withoutHalves(text: string): string {
  return text.replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, "");
}

/** A key as it stands in a list: literally, or as a JSON string where it would blur the line. */
export function keyText(key: string): string {
  const text = cutTo(key, KEY_SHOWN);
  return text === "" || text === "*" || /^["\s]|\s$|[\p{Cc}\u2028\u2029]|: /u.test(text) ? JSON.stringify(text) : text;
}

/** A key, a path or a pattern as it stands in a sentence. */
export function quoted(text: string): string {
  return JSON.stringify(cutTo(text, KEY_SHOWN));
}

/** The name of a writer or a tool. */
export function nameText(name: string): string {
  const text = cutTo(name, NAME_SHOWN);
  return text === "" || /[\p{Cc};,"]/u.test(text) ? JSON.stringify(text) : text;
}

/** A path as a JSON Pointer (RFC 6901) on one line. */
export function pointerText(path: Path): string {
  const pointer = toPointer(path);
  return /[\p{Cc}\u2028\u2029]/u.test(pointer) ? JSON.stringify(pointer) : pointer;
}

/** `1 key`, `2 keys`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** Ranges in words: `1 to 3, 5`. */
export function rangesText(ranges: readonly TurnRange[]): string {
  const texts = ranges.slice(-RANGES_SHOWN).map(({ from, to }) => from === to ? String(from) : `${from} to ${to}`);
  if (ranges.length > RANGES_SHOWN) texts.unshift("…");
  return texts.join(", ");
}
