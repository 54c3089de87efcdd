/**
 * Decides whether what is wanted of a state is there, and if not, in which way: not yet, no longer, or never.
 *
 * @module
 */

import { InvalidInput, PathNotFound } from "../document/errors.ts";
import { type JsonObject, type JsonValue, ownValue } from "../document/json.ts";
import { parsePath, type Path, resolvePath, toPointer } from "../document/path.ts";
import { cutTo } from "./labels.ts";
import { earlierText, readableTurn } from "./notes.ts";
import type { Absence } from "./reading.ts";
import type { StateRequest, StateView } from "./view.ts";

const AVAILABLE_SHOWN = 20;
const AVAILABLE_KEY_SHOWN = 80;

/** It is there. */
export interface Located {
  /** Which answer this is. */
  readonly outcome: "here";
  /** The key, if one was named. */
  readonly key?: string;
  /** Where in the key's value, or in the state. */
  readonly path: Path;
  /** What is there. */
  readonly value: JsonValue;
}

/**
 * The one place that tells a value from a key that was not written yet, was removed, was evicted, or never was.
 *
 * @throws {InvalidInput} for a path that is none.
 */
export function locate(view: StateView, request: StateRequest): Located | Absence {
  const key = namedKey(view, request.key);
  const path = parsePath(request.path ?? "");
  if (key !== undefined && !Object.hasOwn(view.state, key)) return absence(view, key);
  // Of a path in the whole state, the first step is a key.
  const [first] = path;
  if (key === undefined && first !== undefined && !Object.hasOwn(view.state, first)) {
    const absent = absence(view, first);
    if (absent.outcome !== "unknown_key") return absent;
  }
  const root = key === undefined ? view.state : view.state[key];
  try {
    return { outcome: "here", ...(key === undefined ? {} : { key }), path, value: resolvePath(root, path) };
  } catch (error) {
    if (!(error instanceof PathNotFound)) throw error;
    const { path: pointer, failedAt, available } = error;
    return {
      outcome: "unknown_path",
      where: view.where,
      ...(key === undefined ? {} : { key }),
      path: pointer,
      failedAt,
      available,
    };
  }
}

/** The key that was named. Absent, `*` and, unless such a key is known of, the empty text name all of them. */
function namedKey(view: StateView, key: string | undefined): string | undefined {
  if (key === undefined || key === "*") return undefined;
  if (typeof key !== "string") throw new InvalidInput("key", "key must be a text.");
  const isKnown = Object.hasOwn(view.state, "") || view.keys.has("") || view.keysNow?.has("") === true;
  return key !== "" || isKnown ? key : undefined;
}

function absence(view: StateView, key: string): Absence {
  const { where, keys, keysNow, evicted, readable } = view;
  const dropped = evicted?.get(key);
  if (dropped !== undefined) {
    const turn = readableTurn(dropped.turn, dropped.until, readable ?? {});
    return {
      outcome: "evicted",
      where,
      key,
      writer: dropped.writer,
      ...(turn === undefined ? {} : { note: `turn=${turn} reads it as it was` }),
    };
  }
  const writes = keys.get(key);
  if (writes !== undefined) {
    const { version, turn, writer } = writes.last;
    const now = keysNow?.get(key) ?? writes;
    const isBack = now.versions > writes.versions && !now.isRemoved;
    const notes = [...earlierText(writes, readable, "what it held"), ...(isBack ? ["it was added again later"] : [])];
    const by = { version, writer, ...(turn > 0 ? { turn } : {}) };
    return { outcome: "removed", where, key, by, ...(notes.length === 0 ? {} : { note: notes.join("; ") }) };
  }
  const later = keysNow?.get(key);
  if (later !== undefined) {
    const { version, turn } = later.first;
    const first = {
      ...(readable?.versions === undefined ? {} : { version }),
      ...(turn > 0 ? { turn } : {}),
    };
    return { outcome: "not_written_yet", where, key, first };
  }
  if (view.expected?.includes(key)) return { outcome: "not_written_yet", where, key };
  const didYouMean = pathFor(view.state, key);
  return {
    outcome: "unknown_key",
    where,
    key,
    available: availableKeys(view),
    ...(didYouMean === undefined ? {} : { didYouMean }),
  };
}

function availableKeys({ state, expected = [] }: StateView): string[] {
  const keys = [...new Set([...Object.keys(state), ...expected])];
  const shown = keys.slice(0, AVAILABLE_SHOWN).map((key) => cutTo(key, AVAILABLE_KEY_SHOWN));
  return keys.length > AVAILABLE_SHOWN ? [...shown.slice(0, -1), `… ${keys.length - AVAILABLE_SHOWN + 1} more`] : shown;
}

/** A key that is a path, as models write it: where it would lead. */
function pathFor(state: JsonObject, key: string): string | undefined {
  try {
    const path = parsePath(key);
    if (path.length === 0 || ownValue(state, path[0]) === undefined) return undefined;
    resolvePath(state, path);
    return toPointer(path);
  } catch {
    return undefined;
  }
}
