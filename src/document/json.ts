/**
 * JSON values as this library holds them: frozen, compared and measured as JSON.
 *
 * @module
 */

import { byteLength } from "./byte_length.ts";

/** Any JSON value (RFC 8259). Values handed out are deep-frozen. */
export type JsonValue = null | boolean | number | string | JsonArray | JsonObject;
/** A JSON array. */
export type JsonArray = readonly JsonValue[];
/** A JSON object. */
export type JsonObject = { readonly [key: string]: JsonValue };

/** Whether a JSON value is an object, neither array nor null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a JSON value is an array (`Array.isArray`, typed for frozen arrays). */
export function isArray(value: unknown): value is JsonArray {
  return Array.isArray(value);
}

/** The value of an own key, so that `constructor` and `toString` are absent unless they are data. */
export function ownValue(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** What to call a value in a message: `null`, `array`, `object`, `string`, `number`, `boolean`. */
export function typeName(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
}

/** JSON equality: the order of keys does not count, `1` and `true` differ. */
export function equal(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true;
  if (isArray(a)) {
    return isArray(b) && a.length === b.length && a.every((item, i) => equal(item, b[i]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key]));
}

/** Freezes a value that nobody else holds (parsed from a journal, say), in place. */
export function freeze<T extends JsonValue>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const child of isArray(value) ? value : Object.values(value)) freeze(child);
  return Object.freeze(value);
}

/** From this length on the engine writes and counts a string faster than it can be walked here. */
const LONG = 100;

/** UTF-8 bytes of the compact JSON text of a well-formed string, quotes and escapes included. */
export function stringBytes(text: string): number {
  if (text.length >= LONG) return byteLength(JSON.stringify(text));
  let bytes = text.length + 2;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x80) {
      if (code === 0x22 || code === 0x5c) bytes += 1;
      else if (code < 0x20) {
        // \b \t \n \f \r are two characters, every other control character is \u00XX.
        bytes += code === 8 || code === 9 || code === 10 || code === 12 || code === 13 ? 1 : 5;
      }
    } else if (code < 0x800) bytes += 1;
    else if (code >= 0xd800 && code <= 0xdbff) {
      bytes += 2;
      i++;
    } else bytes += 2;
  }
  return bytes;
}

/** UTF-8 bytes of the compact JSON text of a value. */
export function jsonBytes(value: JsonValue): number {
  switch (typeof value) {
    case "string":
      return stringBytes(value);
    case "number":
      return String(value).length;
    case "boolean":
      return value ? 4 : 5;
  }
  if (value === null) return 4;
  let bytes = 2;
  if (isArray(value)) {
    for (const item of value) bytes += jsonBytes(item) + 1;
    return value.length > 0 ? bytes - 1 : bytes;
  }
  const keys = Object.keys(value);
  for (const key of keys) bytes += stringBytes(key) + jsonBytes(value[key]) + 2;
  return keys.length > 0 ? bytes - 1 : bytes;
}

/** Compact JSON with sorted keys, the same text for equal values (after RFC 8785). */
export function canonicalJson(value: JsonValue): string {
  if (isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`);
  return `{${members.join(",")}}`;
}
