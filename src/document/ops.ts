/**
 * Edits that need no version check, because every writer's edit lands: their wire form, and how to build it.
 *
 * @module
 */

import type { JsonObject, JsonValue } from "./json.ts";

/**
 * One edit, in wire form. A path is dotted (`profile.tags.0`) or a JSON Pointer (RFC 6901, `/profile/tags/0`); `""` is
 * the root. With `create`, objects that are missing on the way are made, and what is missing at the end of it becomes
 * `[]`, `0` or `{}`; nothing is ever made inside an array.
 */
export type PatchOperation =
  /** Adds a value at the end of the array at `path`. */
  | { readonly op: "append"; readonly path: string; readonly value: JsonValue; readonly create?: true }
  /** Sets `key` in the object at `path`. */
  | {
    readonly op: "set_key";
    readonly path: string;
    readonly key: string;
    readonly value: JsonValue;
    readonly create?: true;
  }
  /** Takes `key` out of the object at `path`, if it is there. */
  | { readonly op: "del_key"; readonly path: string; readonly key: string; readonly create?: true }
  /** Sets every key of `mapping` in the object at `path`, by default the root. Shallow; `null` is stored as `null`. */
  | { readonly op: "merge"; readonly mapping: JsonObject; readonly path?: string; readonly create?: true }
  /** Adds `by` to the number at `path`. */
  | { readonly op: "increment"; readonly path: string; readonly by: number; readonly create?: true }
  /** Adds a value at the end of the array at `path`, unless an equal one (as JSON) is in it. */
  | { readonly op: "add_to_set"; readonly path: string; readonly value: JsonValue; readonly create?: true }
  /** Takes every item that equals `value` (as JSON) out of the array at `path`. */
  | { readonly op: "remove"; readonly path: string; readonly value: JsonValue; readonly create?: true };

/** The name of an operation, as in its `op`. */
export type PatchOperationName = PatchOperation["op"];

/** What every builder takes. */
export interface PatchOptions {
  /** Whether to make what is missing at the path, and on the way to it. Off by default. */
  readonly create?: boolean;
}

/** Adds a value at the end of the array at `path`. */
export function append(path: string, value: JsonValue, options?: PatchOptions): PatchOperation {
  return { op: "append", path, value, ...creating(options) };
}

/** Sets a key in the object at `path` (`""` is the root). */
export function setKey(path: string, key: string, value: JsonValue, options?: PatchOptions): PatchOperation {
  return { op: "set_key", path, key, value, ...creating(options) };
}

/** Takes a key out of the object at `path`; does nothing if it is not there. */
export function delKey(path: string, key: string, options?: PatchOptions): PatchOperation {
  return { op: "del_key", path, key, ...creating(options) };
}

/** Sets every key of `mapping` in the object at `path`, by default the root. Shallow; `null` is stored as `null`. */
export function mergeInto(mapping: JsonObject, path = "", options?: PatchOptions): PatchOperation {
  return { op: "merge", mapping, path, ...creating(options) };
}

/** Adds `by`, which may be negative, to the number at `path`. */
export function increment(path: string, by: number, options?: PatchOptions): PatchOperation {
  return { op: "increment", path, by, ...creating(options) };
}

/** Adds a value at the end of the array at `path`, unless an equal one (as JSON) is in it. */
export function addToSet(path: string, value: JsonValue, options?: PatchOptions): PatchOperation {
  return { op: "add_to_set", path, value, ...creating(options) };
}

/** Takes every item that equals `value` (as JSON) out of the array at `path`. */
export function removeValue(path: string, value: JsonValue, options?: PatchOptions): PatchOperation {
  return { op: "remove", path, value, ...creating(options) };
}

function creating(options: PatchOptions = {}): { readonly create?: true } {
  return options.create ? { create: true } : {};
}
