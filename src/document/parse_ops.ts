/**
 * The one way in for patch operations: from whatever a caller sent to operations that are checked, copied and frozen.
 *
 * @module
 */

import { admit, MAX_DEPTH } from "./admit.ts";
import { InvalidInput, PatchError, type PatchReason } from "./errors.ts";
import { isObject, type JsonObject, type JsonValue, ownValue, typeName } from "./json.ts";
import type { PatchOperation, PatchOperationName } from "./ops.ts";
import { parsePath } from "./path.ts";

/** How many operations one patch may hold. */
export const MAX_OPS = 1000;

/** Every operation with what it must be given, what it may be given, and what it does. */
const FORMS: Readonly<Record<PatchOperationName, Form>> = {
  append: form(["path", "value"], ["create"], "adds value at the end of the array at path"),
  set_key: form(["path", "key", "value"], ["create"], "sets key in the object at path"),
  del_key: form(["path", "key"], ["create"], "takes key out of the object at path"),
  merge: form(["mapping"], ["path", "create"], "sets every key of mapping in the object at path, by default the root"),
  increment: form(["path", "by"], ["create"], "adds by to the number at path"),
  add_to_set: form(["path", "value"], ["create"], "adds value to the array at path unless it is in it"),
  remove: form(["path", "value"], ["create"], "takes every item equal to value out of the array at path"),
};

interface Form {
  readonly needs: readonly string[];
  readonly takes: readonly string[];
  readonly does: string;
}

function form(needs: readonly string[], takes: readonly string[], does: string): Form {
  return { needs, takes, does };
}

/**
 * Reads operations in wire form. What comes back shares nothing with the input and is what `compileOps` expects.
 *
 * Field names, their types and the nesting of values are checked here; whether a path leads anywhere is not.
 *
 * @throws {InvalidInput} if it is no array of at most {@link MAX_OPS}, or if a path or a value in it is at fault.
 * @throws {PatchError} if an entry is no known operation with exactly its fields.
 */
export function parseOps(input: unknown, field = "ops"): readonly PatchOperation[] {
  if (!Array.isArray(input)) {
    throw new InvalidInput(
      field,
      `${field} must be an array of operations, such as [{"op": "append", "path": "items", "value": 1}]; ` +
        `this is ${input === undefined ? "missing" : `of type ${typeName(input)}`}.`,
    );
  }
  if (input.length > MAX_OPS) {
    throw new InvalidInput(
      field,
      `${field} holds ${input.length} operations; at most ${MAX_OPS} are allowed. Send them in several patches.`,
    );
  }
  const ops: PatchOperation[] = [];
  for (let index = 0; index < input.length; index++) ops.push(Object.freeze(parseOp(input[index], index, field)));
  return Object.freeze(ops);
}

function parseOp(entry: unknown, index: number, field: string): PatchOperation {
  if (!isObject(entry)) {
    const what = `${field}[${index}] must be an object such as {"op": "append", "path": "items", "value": 1}`;
    throw new PatchError("?", undefined, "not_an_object", `${what}, not ${typeName(entry)}.`, index);
  }
  const name = ownValue(entry, "op");
  if (!isName(name)) {
    const shown = typeof name === "string" ? name.slice(0, 40).toWellFormed() : "?";
    const [reason, what]: [PatchReason, string] = name === undefined
      ? ["missing_field", `has no "op"`]
      : typeof name !== "string"
      ? ["bad_field_type", `has an "op" that is not a string`]
      : ["unknown_op", `has the unknown op ${JSON.stringify(shown)}`];
    const all = Object.keys(FORMS).join(", ");
    throw new PatchError(shown, textAt(entry, "path"), reason, `${field}[${index}] ${what}. Use one of ${all}.`, index);
  }
  return new Reader(name, entry, index, field).read();
}

function isName(name: unknown): name is PatchOperationName {
  return typeof name === "string" && Object.hasOwn(FORMS, name);
}

function textAt(entry: JsonObject, name: string): string | undefined {
  const value = ownValue(entry, name);
  return typeof value === "string" ? value : undefined;
}

/** Reads one entry whose `op` is known. A field that is `undefined` counts as absent. */
class Reader {
  constructor(
    readonly op: PatchOperationName,
    readonly entry: JsonObject,
    readonly index: number,
    readonly field: string,
  ) {}

  read(): PatchOperation {
    const { op } = this;
    const { needs, takes } = FORMS[op];
    for (const name of Object.keys(this.entry)) {
      if (name === "op" || needs.includes(name) || takes.includes(name) || this.entry[name] === undefined) continue;
      this.#refuse("unknown_field", `does not take ${JSON.stringify(name.slice(0, 40))}`);
    }
    for (const name of needs) if (!this.#has(name)) this.#refuse("missing_field", `has no "${name}"`);
    const path = this.#has("path") ? this.#text("path") : "";
    const create = this.#create();
    const depth = this.#depth(path, create);
    const parsed = this.#parsed(path, depth);
    return create ? { ...parsed, create: true } : parsed;
  }

  #parsed(path: string, depth: number): PatchOperation {
    const { op } = this;
    switch (op) {
      case "append":
      case "add_to_set":
      case "remove":
        return { op, path, value: this.#admit("value", depth + 1) };
      case "set_key":
        return { op, path, key: this.#key(), value: this.#admit("value", depth + 1) };
      case "del_key":
        return { op, path, key: this.#key() };
      case "merge":
        return { op, mapping: this.#mapping(depth), path };
      case "increment":
        return { op, path, by: this.#number("by") };
    }
  }

  #has(name: string): boolean {
    return Object.hasOwn(this.entry, name) && this.entry[name] !== undefined;
  }

  /** How many containers are above what is at the path. Refuses one that `create` could not make. */
  #depth(path: string, create: boolean): number {
    const tokens = this.#within("path", () => parsePath(path, this.field));
    if (create) {
      if (tokens.length + (this.op === "increment" ? 0 : 1) > MAX_DEPTH) {
        const why = `${this.#place("path")} would be nested more than ${MAX_DEPTH} levels deep.`;
        throw new InvalidInput(this.field, why, this.#pointer("path"));
      }
      for (const token of tokens) this.#within("path", () => admit({ [token]: null }, this.#place("path")));
    }
    return tokens.length;
  }

  #admit(name: string, depth: number): JsonValue {
    return this.#within(name, () => admit(this.entry[name], this.#place(name), depth).value);
  }

  #mapping(depth: number): JsonObject {
    if (!isObject(this.entry.mapping)) this.#refuse("bad_field_type", `needs an object as "mapping"`);
    const mapping = this.#admit("mapping", depth);
    return isObject(mapping) ? mapping : this.#refuse("bad_field_type", `needs an object as "mapping"`);
  }

  #text(name: string): string {
    const value = this.entry[name];
    return typeof value === "string" ? value : this.#refuse("bad_field_type", `needs a string as "${name}"`);
  }

  #key(): string {
    const key = this.#text("key");
    this.#within("key", () => admit({ [key]: null }, this.#place("key")));
    return key;
  }

  #number(name: string): number {
    if (!Number.isFinite(this.entry[name])) this.#refuse("bad_field_type", `needs a finite number as "${name}"`);
    const value = this.#admit(name, 0);
    return typeof value === "number" ? value : this.#refuse("bad_field_type", `needs a finite number as "${name}"`);
  }

  #create(): boolean {
    const { create } = this.entry;
    if (create !== undefined && typeof create !== "boolean") {
      this.#refuse("bad_field_type", `needs true or false as "create"`);
    }
    return create === true;
  }

  #place(name: string): string {
    return `${this.field}[${this.index}].${name}`;
  }

  #pointer(name: string): string {
    return `/${this.index}/${name}`;
  }

  /** Runs a check of one field; what it refuses is refused by its place among all operations. */
  #within<T>(name: string, check: () => T): T {
    try {
      return check();
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error;
      const below = name === "value" || name === "mapping" ? error.path ?? "" : "";
      throw new InvalidInput(this.field, error.message, this.#pointer(name) + below);
    }
  }

  #refuse(reason: PatchReason, what: string): never {
    const { needs, takes, does } = FORMS[this.op];
    const fields = `${this.op} takes ${needs.join(", ")} and, if wanted, ${takes.join(", ")}: it ${does}.`;
    const message = `${this.field}[${this.index}] (${this.op}) ${what}. ${fields}`;
    throw new PatchError(this.op, textAt(this.entry, "path"), reason, message, this.index);
  }
}
