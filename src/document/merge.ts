/**
 * Joins what two writers did to one state, where they did not do it to the same thing.
 *
 * @module
 */

import { Comparison } from "./comparison.ts";
import type { Conflict } from "./errors.ts";
import { isArray, isObject, type JsonArray, type JsonObject, type JsonValue, ownValue } from "./json.ts";
import { alignEdits } from "./list_edits.ts";
import { pointerToken } from "./path.ts";

/** What became of a merge: a state that holds both sides' edits, or every place where they clash. */
export type Merged =
  | { readonly outcome: "merged"; readonly state: JsonObject }
  | { readonly outcome: "conflict"; readonly conflicts: readonly Conflict[] };

/**
 * Merges three-way: `theirs` and `yours` both started from `base`. The states are frozen, and so is the result, which
 * shares their parts.
 *
 * Objects are joined key by key, lists item by item as long as no side removed items: where both sides inserted at one
 * point, both land, theirs first. An edit that both sides made counts once. A conflict's path is that of the smallest
 * value that clashes, or of what holds more than 50 such; below a list it speaks of the indexes in `theirs`.
 */
export function merge(base: JsonObject, theirs: JsonObject, yours: JsonObject): Merged {
  const join = new Join();
  const state = join.objects(base, theirs, yours, "");
  return join.conflicts.length > 0 ? { outcome: "conflict", conflicts: join.conflicts } : { outcome: "merged", state };
}

/** A value, or `undefined` where there is none. */
type Maybe = JsonValue | undefined;

/** Longer lists of clashes help nobody, and each repeats a path that may be long. */
const MAX_NAMED = 50;

class Join {
  readonly conflicts: Conflict[] = [];
  readonly #comparison = new Comparison();

  objects(base: JsonObject, theirs: JsonObject, yours: JsonObject, path: string): JsonObject {
    if (theirs === yours || base === yours) return theirs;
    if (base === theirs) return yours;
    const keys = Object.keys(theirs);
    for (const key of Object.keys(yours)) if (!Object.hasOwn(theirs, key)) keys.push(key);
    const entries: [string, JsonValue][] = [];
    let asTheirs = true;
    for (const key of keys) {
      const value = ownValue(theirs, key);
      const joined = this.#values(ownValue(base, key), value, ownValue(yours, key), path, key);
      asTheirs &&= joined === value;
      if (joined !== undefined) entries.push([key, joined]);
    }
    // fromEntries, since an assignment to a key named "__proto__" would not set a key.
    return asTheirs ? theirs : Object.freeze(Object.fromEntries(entries));
  }

  #values(base: Maybe, theirs: Maybe, yours: Maybe, parent: string, token: string): Maybe {
    if (theirs === yours || base === yours) return theirs;
    if (base === theirs) return yours;
    const path = `${parent}/${pointerToken(token)}`;
    const named = this.conflicts.length;
    const joined = this.#join(base, theirs, yours, path);
    if (this.conflicts.length - named <= MAX_NAMED) return joined;
    this.conflicts.length = named;
    return this.#clash(base, theirs, yours, path);
  }

  #join(base: Maybe, theirs: Maybe, yours: Maybe, path: string): Maybe {
    if (isObject(theirs) && isObject(yours) && (base === undefined || isObject(base))) {
      return this.objects(base ?? {}, theirs, yours, path);
    }
    if (isArray(base) && isArray(theirs) && isArray(yours)) return this.#arrays(base, theirs, yours, path);
    if (this.#same(theirs, yours) || this.#same(base, yours)) return theirs;
    if (this.#same(base, theirs)) return yours;
    return this.#clash(base, theirs, yours, path);
  }

  #arrays(base: JsonArray, theirs: JsonArray, yours: JsonArray, path: string): Maybe {
    if (this.#same(theirs, yours) || this.#same(base, yours)) return theirs;
    if (this.#same(base, theirs)) return yours;
    const left = alignEdits(base, theirs, this.#comparison);
    const right = alignEdits(base, yours, this.#comparison);
    if (left === undefined || right === undefined) return this.#clash(base, theirs, yours, path);
    const list: JsonValue[] = [];
    for (let i = 0; i <= base.length; i++) {
      const [before, after] = [left.insertedAt(i), right.insertedAt(i)];
      for (const item of before) list.push(item);
      if (!this.#same(before, after)) { for (const item of after) list.push(item); }
      if (i === base.length) break;
      const item = this.#values(base[i], left.item(i), right.item(i), path, String(left.index(i)));
      if (item !== undefined) list.push(item);
    }
    return Object.freeze(list);
  }

  #same(a: Maybe, b: Maybe): boolean {
    return a === b || (a !== undefined && b !== undefined && this.#comparison.equal(a, b));
  }

  #clash(base: Maybe, theirs: Maybe, yours: Maybe, path: string): Maybe {
    this.conflicts.push({
      path,
      ...(base !== undefined && { base }),
      ...(theirs !== undefined && { theirs }),
      ...(yours !== undefined && { yours }),
    });
    return theirs;
  }
}
