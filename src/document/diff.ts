/**
 * The difference of two states, as a JSON Patch (RFC 6902) that is no larger than it needs to be.
 *
 * @module
 */

import { Comparison } from "./comparison.ts";
import { isArray, isObject, type JsonArray, type JsonObject, type JsonValue, stringBytes } from "./json.ts";
import type { JsonPatch, JsonPatchOperation } from "./json_patch.ts";
import { pointerToken } from "./path.ts";
import { editCount, sequenceScript } from "./sequence.ts";

/**
 * The patch that turns `before` into `after`. Lists are compared as sequences: an insertion is one operation wherever it
 * is made. A value is replaced where a patch of its parts would be larger. Shared parts cost nothing. The values in the
 * patch are those of `after`, not copies.
 */
export function diff(before: JsonObject, after: JsonObject): JsonPatch {
  const draft = new Draft();
  draft.object(before, after, { pointer: "", bytes: 2 });
  return draft.operations;
}

/** A JSON Pointer and the bytes of its JSON text, kept so that long pointers are not measured again for every child. */
interface Place {
  readonly pointer: string;
  readonly bytes: number;
}

/** How many items a patch may shift in total before its list is replaced, so that applying it is bounded too. */
const MAX_SHIFTED = 1 << 25;

class Draft {
  readonly operations: JsonPatchOperation[] = [];
  readonly #comparison = new Comparison();
  #bytes = 0;
  #shifted = 0;

  object(before: JsonObject, after: JsonObject, place: Place): void {
    for (const key of Object.keys(before)) {
      if (!Object.hasOwn(after, key)) this.#remove(child(place, key));
      else if (before[key] !== after[key]) this.#value(before[key], after[key], child(place, key));
    }
    for (const key of Object.keys(after)) {
      if (!Object.hasOwn(before, key)) this.#add(after[key], child(place, key));
    }
  }

  #value(before: JsonValue, after: JsonValue, place: Place): void {
    if (before === after) return;
    const [length, bytes, shifted] = [this.operations.length, this.#bytes, this.#shifted];
    if (isArray(before) && isArray(after)) this.#array(before, after, place);
    else if (isObject(before) && isObject(after)) this.object(before, after, place);
    else return this.#replace(after, place);

    if (this.operations.length === length) return;
    const replacement = this.#size("replace", place, after);
    if (this.#bytes - bytes <= replacement && this.#shifted - shifted <= MAX_SHIFTED) return;
    this.operations.length = length;
    this.#bytes = bytes;
    this.#shifted = shifted;
    this.#replace(after, place);
  }

  /** From left to right, so that every index is one of `after`, and also of the list at the time it is used. */
  #array(before: JsonArray, after: JsonArray, place: Place): void {
    const script = sequenceScript(before, after, this.#comparison);
    // Every edit takes an operation, so it is clear beforehand when they are too many.
    if (editCount(script) * this.#size("remove", place) > this.#size("replace", place, after)) {
      return this.#replace(after, place);
    }
    let length = before.length;
    for (const hunk of script) {
      let [i, j] = [hunk.beforeStart, hunk.afterStart];
      while (i < hunk.beforeEnd && j < hunk.afterEnd) this.#value(before[i++], after[j], child(place, String(j++)));
      for (; i < hunk.beforeEnd; i++) {
        this.#remove(child(place, String(j)));
        this.#shifted += --length - j;
      }
      for (; j < hunk.afterEnd; j++) {
        this.#add(after[j], child(place, String(j)));
        this.#shifted += length++ - j;
      }
    }
  }

  #add(value: JsonValue, place: Place): void {
    this.operations.push({ op: "add", path: place.pointer, value });
    if (!isTop(place)) this.#bytes += this.#size("add", place, value);
  }

  #replace(value: JsonValue, place: Place): void {
    this.operations.push({ op: "replace", path: place.pointer, value });
    if (!isTop(place)) this.#bytes += this.#size("replace", place, value);
  }

  #remove(place: Place): void {
    this.operations.push({ op: "remove", path: place.pointer });
    this.#bytes += this.#size("remove", place);
  }

  #size(op: JsonPatchOperation["op"], place: Place, value?: JsonValue): number {
    const frame = '{"op":"","path":},'.length + op.length + place.bytes;
    return value === undefined ? frame : frame + ',"value":'.length + this.#comparison.bytes(value);
  }
}

/** Whether a place is right below the root. The root is never replaced, so what a patch of it takes need not be known. */
function isTop({ pointer }: Place): boolean {
  return pointer.lastIndexOf("/") === 0;
}

function child({ pointer, bytes }: Place, token: string): Place {
  const escaped = pointerToken(token);
  return { pointer: `${pointer}/${escaped}`, bytes: bytes + stringBytes(escaped) - 1 };
}
