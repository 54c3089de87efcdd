/**
 * A second, plain implementation of what the checker compares with: JSON Patch on copies, edits, digests. It shares
 * nothing with the code under test but the types.
 *
 * @module
 */

import { createHash } from "node:crypto";
import type { JsonValue } from "../../src/document/json.ts";
import type { JsonPatch } from "../../src/document/json_patch.ts";
import { append, increment, type PatchOperation, setKey } from "../../src/document/ops.ts";
import type { Edit } from "./history.ts";

/** A JSON value that can be changed. */
export type Loose = null | boolean | number | string | Loose[] | { [key: string]: Loose };

/** A copy that can be changed. */
export function copy(value: JsonValue): Loose {
  return structuredClone(value) as Loose;
}

/** A short name of a value: equal for equal values, whatever the order of keys. */
export function digest(value: unknown): string {
  return createHash("sha256").update(canonical(value)).digest("base64url").slice(0, 16);
}

/** JSON with sorted keys. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner) => {
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => a < b ? -1 : 1));
  });
}

/** The value after a patch (RFC 6902: add, replace, remove). The value given is used up. @throws {Error} if it does not fit. */
export function patched(root: Loose, patch: JsonPatch): Loose {
  let value = root;
  for (const operation of patch) {
    if (operation.path === "") {
      if (operation.op === "remove") throw new Error("the root cannot be removed");
      value = copy(operation.value);
      continue;
    }
    const tokens = operation.path.split("/").slice(1).map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
    const last = tokens.pop() ?? "";
    let node = value;
    for (const token of tokens) node = childOf(node, token);
    if (Array.isArray(node)) {
      const index = last === "-" ? node.length : indexOf(last);
      if (!(index >= 0 && index <= node.length - (operation.op === "add" ? 0 : 1))) throw new Error("no such item");
      if (operation.op === "add") node.splice(index, 0, copy(operation.value));
      else if (operation.op === "replace") node[index] = copy(operation.value);
      else node.splice(index, 1);
    } else if (typeof node === "object" && node !== null) {
      if (operation.op !== "add" && !Object.hasOwn(node, last)) throw new Error(`no such key: ${last}`);
      if (operation.op === "remove") delete node[last];
      else node[last] = copy(operation.value);
    } else throw new Error("no container");
  }
  return value;
}

/** NaN for what is none: no sign, no leading zeros (RFC 6901). */
function indexOf(token: string): number {
  return /^(0|[1-9][0-9]*)$/.test(token) ? Number(token) : NaN;
}

function childOf(node: Loose, token: string): Loose {
  if (Array.isArray(node) && indexOf(token) < node.length) return node[indexOf(token)];
  if (typeof node === "object" && node !== null && !Array.isArray(node) && Object.hasOwn(node, token)) {
    return node[token];
  }
  throw new Error(`nothing at ${token}`);
}

/** A document that {@link edited} can edit. */
export const BLANK = { items: [], fields: {}, n: 0, blob: "" };

/** The state after edits. */
export function edited(state: JsonValue, edits: readonly Edit[]): { [key: string]: Loose } {
  const after = copy(state) as { items: Loose[]; fields: { [key: string]: Loose }; n: number; blob: string };
  for (const edit of edits) {
    if ("append" in edit) after.items.push(edit.append);
    else if ("set" in edit) after.fields[edit.set[0]] = copy(edit.set[1]);
    else if ("add" in edit) after.n += edit.add;
    else after.blob = edit.fill[0].repeat(edit.fill[1]);
  }
  return after;
}

/** The same edits as operations. */
export function toOps(edits: readonly Edit[]): PatchOperation[] {
  return edits.map((edit) => {
    if ("append" in edit) return append("items", edit.append);
    if ("set" in edit) return setKey("fields", edit.set[0], edit.set[1]);
    if ("add" in edit) return increment("n", edit.add);
    return setKey("", "blob", edit.fill[0].repeat(edit.fill[1]));
  });
}
