/**
 * A large value as a model should first see it: what there is and where, in a few lines.
 *
 * @module
 */

import { isArray, isObject, type JsonValue } from "./json.ts";
import { pointerToken } from "./path.ts";

const STRING_SHOWN = 40;
const KEYS_SHOWN = 5;
const KEY_SHOWN = 40;
const TOKEN_SHOWN = 80;
const ITEMS_SHOWN = 3;
const NESTING_SHOWN = 8;
/** Beyond this many, what was left out is not counted, so that the time taken has a bound. */
const MAX_LEFT_OUT = 100_000;

/** What a text costs of a budget of characters: 1 for an ASCII character, 2 for any other UTF-16 unit. */
export function textCost(text: string): number {
  let cost = text.length;
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) cost++;
  return cost;
}

/**
 * A value in a few words: `dict(3 keys: a, b, c)`, `list[2] of 9.9`, `str(812 chars)`; short scalars as JSON.
 *
 * A string of up to 40 UTF-16 units is short. Of an object the first five keys are named, of an array the first item.
 */
export function shapeOf(value: JsonValue): string {
  return shape(value, NESTING_SHOWN);
}

function shape(value: JsonValue, nesting: number): string {
  if (typeof value === "string") {
    return value.length <= STRING_SHOWN ? JSON.stringify(value) : `str(${value.length} chars)`;
  }
  if (isArray(value)) {
    if (value.length === 0) return "list(empty)";
    return `list[${value.length}] of ${nesting === 0 ? "…" : shape(value[0], nesting - 1)}`;
  }
  if (!isObject(value)) return JSON.stringify(value);
  const keys = Object.keys(value);
  if (keys.length === 0) return "dict(empty)";
  const named = keys.slice(0, KEYS_SHOWN).map(keyText);
  if (keys.length > KEYS_SHOWN) named.push("…");
  return `dict(${keys.length} ${keys.length === 1 ? "key" : "keys"}: ${named.join(", ")})`;
}

/** A key as it is, or as JSON where it would blur the list that it stands in. */
function keyText(key: string): string {
  const text = shorten(key, KEY_SHOWN);
  return text === "" || /["(),\p{Cc}]|^\s|\s$/u.test(text) ? JSON.stringify(text) : text;
}

function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = text.slice(0, limit - 1);
  return `${head.isWellFormed() ? head : head.slice(0, -1)}…`;
}

interface Branch {
  readonly pointer: string;
  readonly value: JsonValue;
}

/**
 * A value line by line, each key with its shape: the whole first, then what is in it, then what is in that, while there
 * is room. The last line says how much was left out. Of an array, the first three items are looked into.
 *
 * Lines read `pointer: shape`. A pointer is shortened (`…`) where a key is longer than 80 characters, and written as a
 * JSON string where it holds control characters. The time taken is bounded.
 *
 * @param maxChars the budget, as {@link textCost} counts; never exceeded.
 */
export function outline(value: JsonValue, maxChars: number): string {
  const lines = [shapeOf(value)];
  let room = maxChars - textCost(lines[0]);
  const reserve = textCost(leftOut(MAX_LEFT_OUT + 1)) + 1;
  if (room < reserve) return cut(lines[0], maxChars);
  const queue: Branch[] = [{ pointer: "", value }];
  let full = false;
  // The queue grows by what was printed, so it is bounded by the budget.
  for (let i = 0; i < queue.length && !full; i++) {
    for (const branch of branchesOf(queue[i])) {
      const line = `${pointerText(branch.pointer)}: ${shapeOf(branch.value)}`;
      const cost = textCost(line) + 1;
      full = room - cost < reserve;
      if (full) break;
      room -= cost;
      lines.push(line);
      if (typeof branch.value === "object" && branch.value !== null) queue.push(branch);
    }
  }
  const shown = lines.length - 1;
  const left = countBelow(value, shown + MAX_LEFT_OUT) - shown;
  if (left > 0) lines.push(leftOut(left));
  return lines.join("\n");
}

function leftOut(count: number): string {
  return `… ${count > MAX_LEFT_OUT ? `over ${MAX_LEFT_OUT}` : count} more keys and items left out`;
}

function* branchesOf({ pointer, value }: Branch): Generator<Branch> {
  if (isArray(value)) {
    for (let i = 0; i < Math.min(value.length, ITEMS_SHOWN); i++) yield { pointer: `${pointer}/${i}`, value: value[i] };
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      yield { pointer: `${pointer}/${pointerToken(shorten(key, TOKEN_SHOWN))}`, value: value[key] };
    }
  }
}

function pointerText(pointer: string): string {
  return /\p{Cc}/u.test(pointer) ? JSON.stringify(pointer) : pointer;
}

/** How many keys and items there are in a value, at all depths; stops once it is beyond a limit. */
function countBelow(value: JsonValue, limit: number): number {
  let count = 0;
  const stack = [value];
  for (let next = stack.pop(); next !== undefined && count <= limit; next = stack.pop()) {
    const children = isArray(next) ? next : isObject(next) ? Object.values(next) : [];
    count += children.length;
    for (const child of children) if (typeof child === "object" && child !== null) stack.push(child);
  }
  return count;
}

function cut(text: string, maxChars: number): string {
  let room = maxChars;
  let end = 0;
  while (end < text.length && (room -= text.charCodeAt(end) > 0x7f ? 2 : 1) >= 0) end++;
  const head = text.slice(0, end);
  return head.isWellFormed() ? head : head.slice(0, -1);
}
