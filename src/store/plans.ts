/**
 * What each kind of write makes of the current version: pure decisions, apart from reading what they need of the past.
 *
 * @module
 */

import type { DocumentKey } from "../backends/backend.ts";
import { admitState } from "../document/admit.ts";
import { diff } from "../document/diff.ts";
import { InvalidInput, StaleWrite, VersionPruned } from "../document/errors.ts";
import type { JsonObject } from "../document/json.ts";
import { applyJsonPatch, applyMeasured, type JsonPatch, type Sized } from "../document/json_patch.ts";
import { merge } from "../document/merge.ts";
import { compileOps } from "../document/compile.ts";
import type { PatchOperation } from "../document/ops.ts";
import type { Change, Snapshot } from "../document/snapshot.ts";
import type { Current } from "./cache.ts";
import type { Reader } from "./reader.ts";
import { toChange, toSnapshot } from "./snapshots.ts";

/** How many of the changes since the expected version a stale writer is told, the newest. */
const CHANGES_TOLD = 100;

/** What a write comes to. */
export type Plan =
  /** Nothing would change, so nothing is written. */
  | { readonly outcome: "unchanged" }
  | { readonly outcome: "write"; readonly patch: JsonPatch; readonly after: Sized; readonly merged?: true };

/** Decides what a write comes to on a version. Throws a `StateError` to refuse. */
export type Planner = (current: Current) => Plan | Promise<Plan>;

/** Patch operations: never stale, and nothing at all if they change nothing. */
export function planPatch(ops: readonly PatchOperation[]): Planner {
  return ({ folded }) => {
    const { patch, after } = compileOps(folded, ops);
    return patch.length === 0 ? { outcome: "unchanged" } : { outcome: "write", patch, after };
  };
}

/** A replacement based on a version; with `merge`, joined with what others wrote since. Answers the state that was let in, too. */
export function planSave(
  reader: Reader,
  key: DocumentKey,
  input: unknown,
  expected: number,
  onConflict: "fail" | "merge",
): { readonly plan: Planner; readonly state: JsonObject } {
  const { value: state, bytes } = admitState(input);
  const plan: Planner = (current) => {
    const { folded } = current;
    if (folded.version === expected) return replace(folded, { state, bytes });
    if (expected > folded.version) throw ahead(expected, folded.version);
    return onConflict === "merge"
      ? mergeOver(reader, key, current, state, expected)
      : refuse(reader, key, current, expected);
  };
  return { plan, state };
}

/** A version that never was is no conflict but a wrong argument. */
export function ahead(expected: number, version: number): InvalidInput {
  return new InvalidInput(
    "expect_version",
    `expect_version ${expected} is ahead of the document, which is at version ${version}. Load it and use the version that you get.`,
  );
}

/** An old state as a new version. */
export function planRestore(reader: Reader, key: DocumentKey, version: number, expected: number): Planner {
  return async (current) => {
    if (expected > current.folded.version) throw ahead(expected, current.folded.version);
    if (expected < current.folded.version) return await refuse(reader, key, current, expected, { tried: "restore" });
    const old = await reader.version(key, { as: "version", version });
    return replace(current.folded, old.folded);
  };
}

function replace(before: Sized, { state, bytes }: Sized): Plan & { readonly outcome: "write" } {
  const patch = diff(before.state, state);
  return { outcome: "write", patch, after: applyMeasured(before, patch, bytes) };
}

async function mergeOver(
  reader: Reader,
  key: DocumentKey,
  current: Current,
  yours: JsonObject,
  expected: number,
): Promise<Plan> {
  let base: JsonObject;
  try {
    base = (await reader.version(key, { as: "version", version: expected })).folded.state;
  } catch (error) {
    if (error instanceof VersionPruned) return await refuse(reader, key, current, expected, { reason: "base_pruned" });
    throw error;
  }
  const merged = merge(base, current.folded.state, yours);
  if (merged.outcome === "conflict") {
    return await refuse(reader, key, current, expected, { conflicts: merged.conflicts });
  }
  const patch = diff(current.folded.state, merged.state);
  return { outcome: "write", patch, after: applyJsonPatch(current.folded, patch), merged: true };
}

/** The answer to a writer whose version is no longer current. */
export async function refuse(
  reader: Reader,
  key: DocumentKey,
  current: Current,
  expected: number,
  details: StaleWrite["details"] = {},
): Promise<never> {
  const changes = await changesSince(reader, key, expected);
  const changesOmitted = Math.max(0, current.folded.version - expected - changes.length);
  throw new StaleWrite(expected, snapshotOf(current), changes, { ...details, changesOmitted });
}

function snapshotOf({ head, folded, stamp }: Current): Snapshot {
  return toSnapshot(head, folded, stamp);
}

/** The newest of what was written after a version, as far as it is retained. */
async function changesSince(reader: Reader, key: DocumentKey, version: number): Promise<readonly Change[]> {
  const answer = await reader.backend.entries(key, undefined, CHANGES_TOLD);
  return answer.outcome === "found" ? answer.entries.filter((entry) => entry.version > version).map(toChange) : [];
}
