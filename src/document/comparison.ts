/**
 * What is known of the values of states under comparison: each fact is worked out once, however often it is asked for.
 *
 * @module
 */

import { isArray, isObject, type JsonArray, jsonBytes, type JsonObject, type JsonValue, stringBytes } from "./json.ts";

/** One comparison of states that do not change while it lasts. Its cost is linear in their size, whatever their depth. */
export class Comparison {
  readonly #atoms = new Map<JsonValue, number>();
  readonly #shapes = new Map<string, number>();
  readonly #ids = new Map<JsonValue, number>();
  readonly #bytes = new Map<JsonValue, number>();
  readonly #unequal = new Map<JsonValue, JsonValue>();

  /** JSON equality, as `equal` in json.ts. */
  equal(a: JsonValue, b: JsonValue): boolean {
    if (a === b) return true;
    if (isArray(a) ? !isArray(b) || a.length !== b.length : !isObject(a) || !isObject(b)) return false;
    if (this.#unequal.get(a) === b) return false;
    const same = this.#equalParts(a, b);
    // A difference that lies deep is found from every level above it: forgotten, the levels would multiply the cost.
    if (!same && !isAtom(a) && !isFlat(a)) this.#unequal.set(a, b);
    return same;
  }

  /** A number that two values share exactly if they are equal. */
  id(value: JsonValue): number {
    if (isAtom(value)) return this.#intern(this.#atoms, value);
    return this.#ids.get(value) ?? this.#keep(this.#ids, value, this.#intern(this.#shapes, this.#shape(value)));
  }

  /** UTF-8 bytes of the compact JSON text of a value, as `jsonBytes` in json.ts. */
  bytes(value: JsonValue): number {
    if (isAtom(value)) return jsonBytes(value);
    return this.#bytes.get(value) ?? this.#keep(this.#bytes, value, this.#sum(value));
  }

  #equalParts(a: JsonValue, b: JsonValue): boolean {
    if (isArray(a)) return isArray(b) && a.every((item, i) => this.equal(item, b[i]));
    if (!isObject(a) || !isObject(b)) return false;
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length &&
      keys.every((key) => Object.hasOwn(b, key) && this.equal(a[key], b[key]));
  }

  #shape(value: Container): string {
    if (isArray(value)) return `[${value.map((item) => this.id(item)).join()}`;
    const keys = Object.keys(value).sort();
    return `{${keys.map((key) => `${this.#intern(this.#atoms, key)}:${this.id(value[key])}`).join()}`;
  }

  #sum(value: Container): number {
    let bytes = 1;
    if (isArray(value)) { for (const item of value) bytes += this.bytes(item) + 1; }
    else for (const key of Object.keys(value)) bytes += stringBytes(key) + this.bytes(value[key]) + 2;
    return Math.max(bytes, 2);
  }

  #keep(table: Map<JsonValue, number>, value: Container, fact: number): number {
    if (!isFlat(value)) table.set(value, fact);
    return fact;
  }

  #intern<K>(table: Map<K, number>, key: K): number {
    let id = table.get(key);
    if (id === undefined) table.set(key, id = this.#atoms.size + this.#shapes.size);
    return id;
  }
}

type Container = JsonArray | JsonObject;

function isAtom(value: JsonValue): value is Exclude<JsonValue, Container> {
  return typeof value !== "object" || value === null;
}

/** Whether a value holds no containers: to look at it again costs less than to remember it. */
function isFlat(value: Container): boolean {
  return Object.values(value).every(isAtom);
}
