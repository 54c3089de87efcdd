/**
 * From operations that say what to do to a JSON Patch (RFC 6902) that says what changed in one state.
 *
 * @module
 */

import { PatchError, type PatchReason, PathNotFound, shownPath } from "./errors.ts";
import { equal, isArray, isObject, jsonBytes, type JsonObject, type JsonValue, ownValue, typeName } from "./json.ts";
import { applyJsonPatch, Draft, type JsonPatch, type JsonPatchOperation, type Sized } from "./json_patch.ts";
import type { PatchOperation } from "./ops.ts";
import { childAt, firstToken, parsePath, type Path, pointerToken, resolvePath, toPointer } from "./path.ts";

/** The most items that one `remove` takes out one by one; beyond, the array is written anew. */
const MAX_SINGLE_REMOVALS = 256;

/** What a list of operations comes to. */
export interface Compiled {
  /** The change as a JSON Patch; empty if nothing changes. */
  readonly patch: JsonPatch;
  /** The state after it; the very one before it if nothing changes. */
  readonly after: Sized;
}

/**
 * Applies operations in order, all or none. The cost follows the change and the containers it is in, not the state.
 *
 * @param ops As `parseOps` gave them: their values are taken over, not copied.
 * @throws {PatchError} for the first operation that does not fit, with its `index`.
 * @throws {InvalidInput} for a path that cannot be parsed.
 */
export function compileOps(before: Sized, ops: readonly PatchOperation[]): Compiled {
  const draft = new Draft(before);
  const patch: JsonPatchOperation[] = [];
  for (let index = 0; index < ops.length; index++) {
    const steps = new Compiler(draft, ops[index], index).compile();
    draft.apply(steps);
    for (const step of steps) patch.push(step);
  }
  if (patch.length === 0) return { patch, after: before };
  const after = draft.finish();
  if (patch.length === 1) return { patch, after };
  const undone = undoneKeys(before, after, patch);
  if (undone.size === 0) return { patch, after };
  const kept = patch.filter(({ path }) => !undone.has(firstToken(path)));
  return { patch: kept, after: kept.length === 0 ? before : applyJsonPatch(before, kept) };
}

/** The top-level keys that several operations touched and left as they were: no change, and not to be counted as one. */
function undoneKeys(before: Sized, after: Sized, patch: JsonPatch): ReadonlySet<string | undefined> {
  const times = new Map<string | undefined, number>();
  for (const { path } of patch) {
    const key = firstToken(path);
    times.set(key, (times.get(key) ?? 0) + 1);
  }
  const undone = new Set<string | undefined>();
  for (const [key, count] of times) {
    if (count === 1 || key === undefined) continue;
    const [was, is] = [ownValue(before.state, key), ownValue(after.state, key)];
    if (was === undefined || is === undefined ? was === is : equal(was, is)) undone.add(key);
  }
  return undone;
}

class Compiler {
  readonly #path: Path;

  constructor(readonly draft: Draft, readonly op: PatchOperation, readonly index: number) {
    this.#path = parsePath(op.path ?? "", "ops");
  }

  compile(): JsonPatch {
    const { op } = this;
    const target = this.#find();
    switch (op.op) {
      case "append":
        return target === undefined ? this.#make([op.value]) : this.#append(this.#array(target), op.value);
      case "add_to_set":
        if (target === undefined) return this.#make([op.value]);
        if (this.#array(target).some((item) => equal(item, op.value))) return [];
        return this.#append(this.#array(target), op.value);
      case "remove":
        return target === undefined ? this.#make([]) : this.#remove(this.#array(target), op.value);
      case "set_key":
        if (target === undefined) return this.#make({ [op.key]: op.value });
        return this.#set(this.#object(target), op.key, op.value);
      case "merge": {
        if (target === undefined) return this.#make(op.mapping);
        const object = this.#object(target);
        return Object.keys(op.mapping).flatMap((key) => this.#set(object, key, op.mapping[key]));
      }
      case "del_key":
        if (target === undefined) return this.#make({});
        return Object.hasOwn(this.#object(target), op.key) ? [{ op: "remove", path: this.#at(op.key) }] : [];
      case "increment":
        return this.#increment(target, op.by);
    }
  }

  /** What is at the path; `undefined` if that is to be made. */
  #find(): JsonValue | undefined {
    const state = this.draft.peek();
    try {
      return resolvePath(state, this.#path);
    } catch (error) {
      if (!(error instanceof PathNotFound)) throw error;
      const { parent, missing } = this.#gap(state);
      if (this.op.create && isObject(parent)) return undefined;
      if (this.op.create && !isArray(parent)) {
        const above = shownPath(toPointer(this.#path.slice(0, missing)));
        this.#fail("expected_object", `nothing can be made at ${shownPath(error.failedAt)}: ${above} is ${a(parent)}.`);
      }
      const advice = isArray(parent)
        ? "Items are added with append."
        : isObject(parent)
        ? `Give "create": true to make it, or load the state to see its shape.`
        : "Load the state to see its shape.";
      return this.#fail("path_not_found", `${error.message} ${advice}`);
    }
  }

  /** Where the path leaves the state: the last value on it, and the first token that leads nowhere. */
  #gap(state: JsonValue): { readonly parent: JsonValue; readonly missing: number } {
    let parent = state;
    for (const [missing, token] of this.#path.entries()) {
      const child = childAt(parent, token);
      if (child === undefined) return { parent, missing };
      parent = child;
    }
    return { parent, missing: this.#path.length };
  }

  /** Adds what is missing at the path, inside of the objects that are missing above it. */
  #make(value: JsonValue): JsonPatch {
    const { missing } = this.#gap(this.draft.peek());
    const made = this.#path.slice(missing + 1).reduceRight<JsonValue>((inner, token) => ({ [token]: inner }), value);
    return [{ op: "add", path: toPointer(this.#path.slice(0, missing + 1)), value: made }];
  }

  #set(object: JsonObject, key: string, value: JsonValue): JsonPatch {
    const present = ownValue(object, key);
    if (present === undefined) return [{ op: "add", path: this.#at(key), value }];
    return equal(present, value) ? [] : [{ op: "replace", path: this.#at(key), value }];
  }

  /** By its index and not as "-", so that the pointer names the item to a reader. */
  #append(array: readonly JsonValue[], value: JsonValue): JsonPatch {
    return [{ op: "add", path: this.#at(String(array.length)), value }];
  }

  #remove(array: readonly JsonValue[], value: JsonValue): JsonPatch {
    const found = new Set<number>();
    for (const [i, item] of array.entries()) if (equal(item, value)) found.add(i);
    if (found.size === 0) return [];
    const singly = [...found].slice(-MAX_SINGLE_REMOVALS).reverse() // from the end, so that no index shifts
      .map((i) => ({ op: "remove", path: this.#at(String(i)) } as const));
    if (found.size === 1) return singly;
    const anew = (items: readonly JsonValue[]) =>
      [{ op: "replace", path: toPointer(this.#path), value: items.filter((_, i) => !found.has(i)) }] as const;
    if (found.size === singly.length && jsonBytes(singly) <= jsonBytes(anew(array))) return singly;
    // What goes into a patch must not change any more, and the items kept may be copies that the draft still edits.
    return anew(this.#array(resolvePath(this.draft.finish().state, this.#path)));
  }

  #increment(target: JsonValue | undefined, by: number): JsonPatch {
    if (target !== undefined && typeof target !== "number") {
      return this.#fail("expected_number", `${this.#here()} is ${a(target)}, but increment needs a number.`);
    }
    const sum = (target ?? 0) + by;
    if (!Number.isFinite(sum) || (Number.isInteger(sum) && !Number.isSafeInteger(sum))) {
      const why = Number.isFinite(sum) ? "an integer beyond 2^53, which would be rounded" : "not a finite number";
      this.#fail("not_finite", `${this.#here()} would become ${why}. Choose a smaller "by", or set the number anew.`);
    }
    if (target === undefined) return this.#make(sum);
    return sum === target ? [] : [{ op: "replace", path: toPointer(this.#path), value: sum }];
  }

  #array(target: JsonValue): readonly JsonValue[] {
    if (isArray(target)) return target;
    const advice = isObject(target) ? "Use set_key to set a key in it, or give the path of an array." : "";
    return this.#fail("expected_array", `${this.#here()} is ${a(target)}, but ${this.op.op} needs an array. ${advice}`);
  }

  #object(target: JsonValue): JsonObject {
    if (isObject(target)) return target;
    const advice = !isArray(target)
      ? ""
      : target.some(isObject)
      ? `Give the path of an item that is an object, such as ${
        shownPath(this.#at(String(target.findIndex(isObject))))
      }.`
      : "Items of an array are not set by a key: append and remove them, or save the state as a whole.";
    return this.#fail(
      "expected_object",
      `${this.#here()} is ${a(target)}, but ${this.op.op} needs an object. ${advice}`,
    );
  }

  #at(token: string): string {
    return `${toPointer(this.#path)}/${pointerToken(token)}`;
  }

  #here(): string {
    return this.#path.length === 0 ? "the root" : shownPath(toPointer(this.#path));
  }

  #fail(reason: PatchReason, what: string): never {
    const message = `ops[${this.index}] (${this.op.op}): ${what.trim()} None of the operations was applied.`;
    throw new PatchError(this.op.op, this.op.path ?? "", reason, message, this.index);
  }
}

/** The type of a value with its article. */
function a(value: JsonValue): string {
  const name = typeName(value);
  return name === "null" ? name : `${/^[ao]/.test(name) ? "an" : "a"} ${name}`;
}
