/**
 * Applies JSON Patches (RFC 6902) to a frozen state, sharing what they do not touch and keeping the byte size as they go.
 *
 * @module
 */

import { freeze, isArray, isObject, jsonBytes, type JsonObject, type JsonValue, stringBytes } from "./json.ts";
import { parsePath, type Path, toIndex } from "./path.ts";

/** The three operations of RFC 6902 that a journal uses. Paths are JSON Pointers (RFC 6901). */
export type JsonPatchOperation =
  | { readonly op: "add"; readonly path: string; readonly value: JsonValue }
  | { readonly op: "replace"; readonly path: string; readonly value: JsonValue }
  | { readonly op: "remove"; readonly path: string };

/** A JSON Patch (RFC 6902): operations applied in order. */
export type JsonPatch = readonly JsonPatchOperation[];

/** A state and its size. */
export interface Sized {
  /** The state, deep-frozen. */
  readonly state: JsonObject;
  /** UTF-8 bytes of the compact JSON of `state`. */
  readonly bytes: number;
}

/**
 * The state after a patch. Untouched parts are the same objects as before; the cost follows the patch.
 *
 * @throws {TypeError} if the patch does not fit the state. Patches are compiled or were checked before they get here.
 */
export function applyJsonPatch(before: Sized, patch: JsonPatch): Sized {
  const draft = new Draft(before);
  draft.apply(patch);
  return draft.finish();
}

/** The same by a patch that leads to a state of a size that is known: nothing is measured. */
export function applyMeasured(before: Sized, patch: JsonPatch, bytes: number): Sized {
  const draft = new Draft(before, () => 0);
  draft.apply(patch);
  return { ...draft.finish(), bytes };
}

/**
 * A state on its way through many patches. Each container is copied at most once, however many patches touch it, so
 * folding a thousand appends costs a thousand items and not a thousand lists.
 */
export class Draft {
  #state: JsonValue;
  #bytes: number;
  /** Copies made here, with their sizes: nobody else holds them, so they may change until {@link Draft.finish}. */
  readonly #owned = new Map<object, number>();

  readonly #measure: (value: JsonValue) => number;

  constructor(before: Sized, measure: (value: JsonValue) => number = jsonBytes) {
    this.#state = before.state;
    this.#bytes = before.bytes;
    this.#measure = measure;
  }

  /** Applies one patch. @throws {TypeError} if it does not fit; the draft is then of no more use. */
  apply(patch: JsonPatch): void {
    for (const operation of patch) {
      const path = parsePath(operation.path);
      if (path.length > 0) this.#edit(operation, path);
      else if (operation.op === "remove") throw misfit(operation);
      else this.replace(operation.value);
    }
  }

  /** Puts another state in the place of this one. */
  replace(state: JsonValue): void {
    this.#state = freeze(state);
    this.#bytes = this.#measure(state);
  }

  /** The state as it stands, to compare and not to keep. */
  peek(): JsonValue {
    return this.#state;
  }

  /** How many keys the state has now. */
  get size(): number {
    const state = this.#state;
    if (!isObject(state)) return 0;
    return this.#owned.get(state) ?? Object.keys(state).length;
  }

  /** Freezes what was copied and hands it out. */
  finish(): Sized {
    if (!isObject(this.#state)) throw new TypeError("a patch left a state that is not an object");
    for (const copy of this.#owned.keys()) Object.freeze(copy);
    this.#owned.clear();
    return { state: this.#state, bytes: this.#bytes };
  }

  #edit(operation: JsonPatchOperation, path: Path): void {
    const depth = path.length - 1;
    const last = path[depth];
    let node = this.#state = this.#own(this.#state, operation);
    for (let level = 0; level < depth; level++) {
      const parent: Container = node;
      const token = path[level];
      const child = childOf(parent, token);
      if (child === undefined) throw misfit(operation);
      if (level === depth - 1 && this.#append(parent, token, child, last, operation)) return;
      node = this.#own(child, operation);
      setChild(parent, token, node);
    }
    if (Array.isArray(node)) {
      this.#bytes += editArray(node, last, operation, this.#measure);
      return;
    }
    // Counted, not looked up: to ask a large object that keeps changing whether it is empty takes a walk each time.
    const size = this.#owned.get(node) ?? 0;
    const growth = operation.op === "remove" ? -1 : Object.hasOwn(node, last) ? 0 : 1;
    this.#bytes += editObject(node, size, last, operation, this.#measure);
    this.#owned.set(node, size + growth);
  }

  /**
   * The first append to a shared array copies it with the item in place. Not by a spread, nor by a push to a copy: both
   * leave room for half as many items again, and beyond 128 KiB V8 gives every array pages of its own.
   */
  #append(parent: Container, token: string, array: JsonValue, last: string, operation: JsonPatchOperation): boolean {
    if (operation.op !== "add" || !isArray(array) || this.#owned.has(array)) return false;
    if (last !== "-" && last !== String(array.length)) return false;
    const copy = array.concat([freeze(operation.value)]);
    this.#owned.set(copy, copy.length);
    setChild(parent, token, copy);
    this.#bytes += this.#measure(operation.value) + (array.length > 0 ? 1 : 0);
    return true;
  }

  #own(node: JsonValue, operation: JsonPatchOperation): Container {
    if (!isArray(node) && !isObject(node)) throw misfit(operation);
    if (this.#owned.has(node)) return node as Container;
    const copy: Container = isArray(node) ? node.concat() : { ...node };
    this.#owned.set(copy, Array.isArray(copy) ? copy.length : Object.keys(copy).length);
    return copy;
  }
}

function childOf(parent: Container, token: string): JsonValue | undefined {
  if (!Array.isArray(parent)) return Object.hasOwn(parent, token) ? parent[token] : undefined;
  const index = toIndex(token, parent.length);
  return index === undefined ? undefined : parent[index];
}

function setChild(parent: Container, token: string, child: Container): void {
  if (Array.isArray(parent)) parent[Number(token)] = child;
  else parent[token] = child;
}

type Container = JsonValue[] | { [key: string]: JsonValue };

/** Edits an array in place and answers by how many bytes it grew. */
function editArray(
  node: JsonValue[],
  token: string,
  operation: JsonPatchOperation,
  measure: (value: JsonValue) => number,
): number {
  const comma = node.length > (operation.op === "add" ? 0 : 1) ? 1 : 0;
  if (operation.op === "add") {
    const index = token === "-" ? node.length : toIndex(token, node.length + 1);
    if (index === undefined) throw misfit(operation);
    if (index === node.length) node.push(freeze(operation.value));
    else node.splice(index, 0, freeze(operation.value));
    return measure(operation.value) + comma;
  }
  const index = toIndex(token, node.length);
  if (index === undefined) throw misfit(operation);
  const removed = measure(node[index]);
  if (operation.op === "remove") {
    node.splice(index, 1);
    return -removed - comma;
  }
  node[index] = freeze(operation.value);
  return measure(operation.value) - removed;
}

/** Edits an object of `size` keys in place and answers by how many bytes it grew. */
function editObject(
  node: { [key: string]: JsonValue },
  size: number,
  key: string,
  operation: JsonPatchOperation,
  measure: (value: JsonValue) => number,
): number {
  const present = Object.hasOwn(node, key);
  if (operation.op === "add" && !present) {
    const comma = size > 0 ? 1 : 0;
    node[key] = freeze(operation.value);
    return stringBytes(key) + 1 + measure(operation.value) + comma;
  }
  if (!present) throw misfit(operation);
  const removed = measure(node[key]);
  if (operation.op === "remove") {
    delete node[key];
    return -(stringBytes(key) + 1 + removed + (size > 1 ? 1 : 0));
  }
  node[key] = freeze(operation.value);
  return measure(operation.value) - removed;
}

function misfit({ op, path }: JsonPatchOperation): TypeError {
  return new TypeError(`the operation ${op} at ${JSON.stringify(path)} does not fit the state`);
}
