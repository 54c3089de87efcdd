/**
 * Reads the past of documents behind handles, for a model.
 *
 * @module
 */

import { InvalidInput, PathNotFound } from "../document/errors.ts";
import { toPointer } from "../document/path.ts";
import type { Snapshot } from "../document/snapshot.ts";
import type { HandleView } from "../store/view.ts";
import { checkInteger } from "../document/checks.ts";
import { compareStates, type StateComparison } from "./difference.ts";
import { readStateKey } from "./inspect.ts";
import type { Where } from "./labels.ts";
import type { StateReading } from "./reading.ts";
import type { StateRequest, StateView } from "./view.ts";

/** Which version: at most one of `version` and `turn`; neither is the newest. */
export interface HandleViewOptions {
  /** Whose document it is. */
  readonly user: string;
  /** As of this version. */
  readonly version?: number;
  /** As this turn ended. */
  readonly turn?: number;
}

/** The part of a store that is read here. */
export interface HandleViews {
  /** A version, now or as of then. @throws as `HandleStore.get`. */
  view(handle: string, options: HandleViewOptions): Promise<HandleView>;
}

/** What is asked about a document. */
export interface InspectArguments extends StateRequest {
  /** The document. */
  readonly handle: string;
  /** As of this version. */
  readonly version?: number;
  /** As this turn ended. */
  readonly turn?: number;
  /** Compare with this version. */
  readonly compareVersion?: number;
  /** Compare with what stood when this turn ended. */
  readonly compareTurn?: number;
}

/** The answer about a document. */
export interface Inspection {
  /** The version that was asked for, by default the newest. */
  readonly snapshot: Snapshot;
  /** What was read of it; of two versions, the earlier one first. */
  readonly reading: StateReading | StateComparison;
}

/**
 * Reads a key of a document, all its keys or what matches a pattern: now, as of a version or turn, or at two of these.
 *
 * @throws {InvalidInput} for a request that makes no sense; {@link PathNotFound} for a key or path that is not there and
 * is not known ever to have been; and as `HandleStore.get`.
 */
export async function inspectHandle(
  views: HandleViews,
  user: string,
  args: InspectArguments,
): Promise<Inspection> {
  const { handle, key, pattern, path, maxChars } = args;
  const request = { key, pattern, path, maxChars };
  const point = checkPoint(args.version, args.turn, "version", "turn");
  const other = checkPoint(args.compareVersion, args.compareTurn, "compare_version", "compare_turn");
  const asked = await views.view(handle, { user, ...point });
  const view = toStateView(asked, point);
  if (other === undefined) {
    const reading = await readStateKey(view, request);
    throwUnknown(reading);
    return { snapshot: asked.snapshot, reading };
  }
  const compared = await views.view(handle, { user, ...other });
  const otherView = toStateView(compared, other);
  const isEarlier = compared.snapshot.version <= asked.snapshot.version;
  const [earlier, later] = isEarlier ? [otherView, view] : [view, otherView];
  return { snapshot: asked.snapshot, reading: await compareStates(earlier, later, request) };
}

type Point = { readonly version: number } | { readonly turn: number };

function checkPoint(version: unknown, turn: unknown, versionField: string, turnField: string): Point | undefined {
  if (version !== undefined && turn !== undefined) {
    throw new InvalidInput(versionField, `Name at most one of ${versionField} and ${turnField}.`);
  }
  // One that never was is the store's to say.
  const least = Number.MIN_SAFE_INTEGER;
  if (version !== undefined) return { version: checkInteger(versionField, version, least) };
  return turn === undefined ? undefined : { turn: checkInteger(turnField, turn, least) };
}

function toStateView({ snapshot, keys, now, oldest }: HandleView, point: Point | undefined): StateView {
  return {
    state: snapshot.state,
    keys,
    where: toWhere(point, now.turn),
    keysNow: now.keys,
    readable: {
      versions: { from: oldest.version, to: now.version },
      turns: now.turn === 0 ? [] : [{ from: Math.max(oldest.turn, 1), to: now.turn }],
    },
  };
}

function toWhere(point: Point | undefined, turnNow: number): Where {
  if (point === undefined) return { as: "current" };
  if ("version" in point) return { as: "version", version: point.version };
  return { as: "turn", turn: point.turn, soFar: point.turn === turnNow };
}

/** What never was is an error, so that it looks like one to every client. */
function throwUnknown(reading: StateReading): void {
  if (reading.outcome === "unknown_key") {
    const pointer = toPointer([reading.key]);
    throw new PathNotFound(pointer, pointer, reading.available);
  }
  if (reading.outcome === "unknown_path") {
    const root = reading.key === undefined ? "" : toPointer([reading.key]);
    throw new PathNotFound(root + reading.path, root + reading.failedAt, reading.available);
  }
}
