/**
 * The one way into a state: checks a caller's value, copies it, freezes the copy and measures it, in a single walk.
 *
 * @module
 */

import { InvalidInput, shownPath } from "./errors.ts";
import { isObject, type JsonObject, type JsonValue, stringBytes } from "./json.ts";
import { type Path, toPointer } from "./path.ts";

/** How deep a state may nest: the root object is level 1. */
export const MAX_DEPTH = 100;
/** How large a state may be by default, as UTF-8 bytes of compact JSON. */
export const DEFAULT_MAX_STATE_BYTES = 1024 * 1024;

/** A value that was let in: frozen, owned by nobody else, measured. */
export interface Admitted<T extends JsonValue = JsonValue> {
  readonly value: T;
  /** UTF-8 bytes of its compact JSON. */
  readonly bytes: number;
}

/**
 * Lets a whole state in.
 *
 * @throws {InvalidInput} naming the path of the first value that JSON cannot hold exactly.
 */
export function admitState(value: unknown, field = "state"): Admitted<JsonObject> {
  const { value: state, bytes } = admit(value, field);
  if (!isObject(state)) throw new InvalidInput(field, `${field} must be a JSON object, such as {"items": []}.`);
  return { value: state, bytes };
}

/**
 * Lets a value in that will stand `depth` levels below the root of a state.
 *
 * Refused are NaN, infinities, `undefined`, functions, symbols, bigints, dates and other class instances, cycles, sparse
 * arrays, lone surrogates, a `__proto__` key, and integers beyond 2^53 that have been rounded already. −0 becomes 0.
 *
 * @throws {InvalidInput} naming the path of the first value at fault.
 */
export function admit(value: unknown, field: string, depth = 0): Admitted {
  const walk = new Walk(field);
  return { value: walk.value(value, depth), bytes: walk.bytes };
}

class Walk {
  bytes = 0;
  readonly #path: string[] = [];
  constructor(readonly field: string) {}

  value(value: unknown, depth: number): JsonValue {
    switch (typeof value) {
      case "string":
        return this.#text(value);
      case "number":
        return this.#number(value);
      case "boolean":
        this.bytes += value ? 4 : 5;
        return value;
      case "object":
        if (value === null) {
          this.bytes += 4;
          return null;
        }
        // A cycle runs into this limit too, so no record of what was visited is needed.
        if (depth >= MAX_DEPTH) this.#refuse(`is nested more than ${MAX_DEPTH} levels deep (or refers to itself)`);
        return Array.isArray(value) ? this.#array(value, depth + 1) : this.#object(value, depth + 1);
      default:
        return this.#refuse(`is ${value === undefined ? "undefined" : `a ${typeof value}`}, which JSON cannot hold`);
    }
  }

  #text(text: string): string {
    if (!text.isWellFormed()) this.#refuse("holds a lone surrogate, which is not text");
    this.bytes += stringBytes(text);
    return text;
  }

  #number(number: number): number {
    if (!Number.isFinite(number)) this.#refuse(`is ${number}, which JSON cannot hold`);
    if (Number.isInteger(number) && !Number.isSafeInteger(number) && Math.abs(number) < 1e21) {
      this.#refuse("is an integer beyond 2^53, which has been rounded already: send it as a string");
    }
    this.bytes += String(number).length; // String(-0) is "0", as in JSON
    return number === 0 ? 0 : number;
  }

  #array(array: readonly unknown[], depth: number): JsonValue {
    const keys = Object.keys(array);
    if (keys.length !== array.length) this.#refuse("is a sparse array, or one with extra properties");
    this.bytes += array.length === 0 ? 2 : array.length + 1;
    const copy: JsonValue[] = [];
    for (let i = 0; i < array.length; i++) {
      this.#path.push(keys[i]);
      copy.push(this.value(array[i], depth));
      this.#path.pop();
    }
    return Object.freeze(copy);
  }

  #object(object: object, depth: number): JsonValue {
    const prototype = Object.getPrototypeOf(object);
    if (prototype !== null && prototype !== Object.prototype && Object.getPrototypeOf(prototype) !== null) {
      this.#refuse(`is a ${object.constructor?.name || "class"} instance, not a plain object`);
    }
    if (Object.prototype.toString.call(object) !== "[object Object]") this.#refuse("is not a plain object");
    if (Object.getOwnPropertySymbols(object).length > 0) this.#refuse("has a symbol for a key");
    const keys = Object.keys(object);
    this.bytes += keys.length === 0 ? 2 : keys.length * 2 + 1;
    const copy: Record<string, JsonValue> = {};
    for (const key of keys) {
      this.#path.push(key);
      if (key === "__proto__") this.#refuse('is a key named "__proto__"');
      if (!key.isWellFormed()) this.#refuse("is a key that holds a lone surrogate");
      this.bytes += stringBytes(key);
      copy[key] = this.value((object as Record<string, unknown>)[key], depth);
      this.#path.pop();
    }
    return Object.freeze(copy);
  }

  #refuse(why: string): never {
    const path: Path = this.#path.map((token) => token.isWellFormed() ? token : token.toWellFormed());
    const pointer = toPointer(path);
    const place = pointer === "" ? this.field : `${this.field} at ${shownPath(pointer)}`;
    throw new InvalidInput(this.field, `${place} ${why}.`, pointer);
  }
}
