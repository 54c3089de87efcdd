/**
 * A change as people read it: what went, marked with a minus, and what came, marked with a plus.
 *
 * @module
 */

import { diff } from "../document/diff.ts";
import { jsonBytes, type JsonObject, type JsonValue } from "../document/json.ts";
import { applyJsonPatch, type JsonPatch, type Sized } from "../document/json_patch.ts";
import { childAt, parsePath } from "../document/path.ts";
import { jsonText, printable, tinted } from "./terminal.ts";

/** How many characters of a value are shown; of what is longer, the beginning. */
const SHOWN = 200;

/** The lines of a patch on the state that it is applied to. A value that stood there is shown beside the new one. */
export function changeLines(before: JsonObject, patch: JsonPatch): readonly string[] {
  const lines: string[] = [];
  let now: Sized = { state: before, bytes: jsonBytes(before) };
  for (const operation of patch) {
    if (operation.path === "") {
      const after = applyJsonPatch(now, [operation]);
      lines.push(...changeLines(now.state, diff(now.state, after.state)));
      now = after;
      continue;
    }
    const old = parsePath(operation.path).reduce<JsonValue | undefined>(
      (value, token) => value === undefined ? undefined : childAt(value, token),
      now.state,
    );
    if (operation.op !== "add") lines.push(line("-", operation.path, old ?? null));
    if (operation.op !== "remove") lines.push(line("+", operation.path, operation.value));
    now = applyJsonPatch(now, [operation]);
  }
  return lines;
}

function line(sign: "+" | "-", path: string, value: JsonValue): string {
  const text = jsonText(value);
  const shown = text.length > SHOWN ? `${text.slice(0, SHOWN).toWellFormed()}… (${text.length} characters)` : text;
  return tinted(sign === "+" ? "added" : "removed", `${sign} ${printable(path)}: ${shown}`);
}
