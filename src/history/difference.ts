/**
 * Reads two points of a past in one go: what stood at each, and how they differ.
 *
 * @module
 */

import { diff } from "../document/diff.ts";
import type { JsonValue } from "../document/json.ts";
import type { JsonPatch, JsonPatchOperation } from "../document/json_patch.ts";
import { shapeOf, textCost } from "../document/outline.ts";
import { patternOf, read } from "./inspect.ts";
import { cutTo } from "./labels.ts";
import { locate } from "./locate.ts";
import type { StateReading } from "./reading.ts";
import { redact } from "./redact.ts";
import { MAX_CHARS, type StateRequest, type StateView } from "./view.ts";

const LINE_SHOWN = 240;

/** How two values differ. */
export type Difference =
  /** As a JSON Patch (RFC 6902) from the earlier to the later; empty if they are equal. */
  | { readonly as: "patch"; readonly patch: JsonPatch }
  /** As lines `op path: shape`, where the patch would be too long. */
  | { readonly as: "lines"; readonly lines: readonly string[]; readonly omitted: number };

/** Two readings of the same key or path. */
export interface StateComparison {
  /** Which answer this is. */
  readonly outcome: "comparison";
  /** What stood at the earlier point. */
  readonly earlier: StateReading;
  /** What stood at the later one. */
  readonly later: StateReading;
  /** What changed from the earlier to the later. Absent where one of them has no value there. */
  readonly difference?: Difference;
}

/**
 * Reads the same of two views, and their difference.
 *
 * @throws {InvalidInput} as `readStateKey`.
 */
export async function compareStates(
  earlier: StateView,
  later: StateView,
  request: StateRequest,
): Promise<StateComparison> {
  const pattern = await patternOf(request);
  const { maxChars = MAX_CHARS } = request;
  // Keys and matches take half the room each, since there are two of them.
  const [one, other] = [earlier, later].map((view) => read(view, request, pattern, maxChars));
  const readings = { earlier: one, later: other };
  const [before, after] = [locate(earlier, request), locate(later, request)];
  if (before.outcome !== "here" || after.outcome !== "here") return { outcome: "comparison", ...readings };
  const difference = differenceOf(before.value, after.value, maxChars);
  return { outcome: "comparison", ...readings, difference };
}

/** The difference of two values, at a cost of at most `maxChars`. */
export function differenceOf(before: JsonValue, after: JsonValue, maxChars: number): Difference {
  // Under the key "", whose pointer is "/": what follows it is the pointer within the value.
  const patch = diff({ "": before }, { "": after }).map((operation) => redactedOperation(operation));
  if (textCost(JSON.stringify(patch)) <= maxChars) return { as: "patch", patch };
  const lines: string[] = [];
  let room = maxChars;
  for (const operation of patch) {
    const line = operationLine(operation);
    room -= textCost(line) + 1;
    if (room < 0) break;
    lines.push(line);
  }
  return { as: "lines", lines, omitted: patch.length - lines.length };
}

function redactedOperation(operation: JsonPatchOperation): JsonPatchOperation {
  const path = operation.path.slice(1);
  return operation.op === "remove" ? { op: "remove", path } : { ...operation, path, value: redact(operation.value) };
}

function operationLine(operation: JsonPatchOperation): string {
  const path = cutTo(JSON.stringify(operation.path), LINE_SHOWN / 2);
  const what = operation.op === "remove" ? "" : `: ${shapeOf(operation.value)}`;
  return cutTo(`${operation.op} ${path}${what}`, LINE_SHOWN);
}
