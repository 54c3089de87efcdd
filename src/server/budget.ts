/**
 * Keeps answers within what a model's context can take: whole if it fits, else an outline; long texts are cut.
 *
 * @module
 */

import { jsonBytes, type JsonValue } from "../document/json.ts";
import { outline, textCost } from "../document/outline.ts";

/** What an outline costs at most, however much room there is. */
const OUTLINE_CHARS = 4_000;

/** What a value costs as JSON text. */
export function jsonCost(value: unknown): number {
  return textCost(JSON.stringify(value) ?? "");
}

/** Whether the JSON text of a value costs no more than `room`. Takes no longer for a large value than for a small one. */
export function fits(value: JsonValue, room: number, bytes: number = jsonBytes(value)): boolean {
  // A character costs two thirds of its UTF-8 bytes at least.
  return bytes * 2 / 3 <= room && jsonCost(value) <= room;
}

/** The outline of a value, so short that its JSON text costs no more than `room`. */
export function outlineWithin(value: JsonValue, room: number): string {
  const limit = Math.min(room, OUTLINE_CHARS);
  let chars = limit;
  for (;;) {
    const text = outline(value, chars);
    const cost = jsonCost(text);
    if (cost <= limit || chars <= 0) return text;
    chars = Math.min(chars - 1, Math.floor(chars * limit / cost)); // quotes and line breaks cost more as JSON
  }
}

/** A text of up to `limit` characters; the middle of a longer one is left out, since both ends tell it apart. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = text.slice(0, Math.ceil(limit / 2) - 1);
  const tail = text.slice(text.length - Math.floor(limit / 2));
  return `${withoutHalf(head)}…${withoutHalf(tail)}`;
}

/** Without the half of a surrogate pair that a cut has left at either end. */
function withoutHalf(text: string): string {
  return text.replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, "");
}

/** Facts of an error, with every text, list and object in it made short. */
export function cutFacts(value: unknown, chars: number, nesting = 4): unknown {
  if (typeof value === "string") return cutText(value, chars);
  if (typeof value !== "object" || value === null) return value;
  if (nesting === 0) return "…";
  if (Array.isArray(value)) return value.slice(0, 20).map((item) => cutFacts(item, chars, nesting - 1));
  const entries = Object.entries(value).slice(0, 20);
  return Object.fromEntries(entries.map(([key, item]) => [cutText(key, 80), cutFacts(item, chars, nesting - 1)]));
}
