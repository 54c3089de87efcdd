/**
 * Reads a state as a model should see it: keys with their shapes, a value or its outline, or the lines that match.
 *
 * @module
 */

import type { JsonObject, JsonValue } from "../document/json.ts";
import { outline, shapeOf, textCost } from "../document/outline.ts";
import { toPointer } from "../document/path.ts";
import { keyText } from "./labels.ts";
import { locate, type Located } from "./locate.ts";
import { search } from "./matches.ts";
import { rewrittenNote } from "./notes.ts";
import { compilePattern, type Pattern } from "./pattern.ts";
import type { KeyListing, ListedKey, StateReading } from "./reading.ts";
import { redact } from "./redact.ts";
import { MAX_CHARS, type StateRequest, type StateView } from "./view.ts";

const NOTES_SHOWN = 5;

/**
 * Reads a key of a state, all its keys, or what matches a pattern.
 *
 * Pure but for one thing: the first pattern loads the engine that searches.
 *
 * @throws {InvalidInput} for a path that is none or a pattern that is too long.
 */
export async function readStateKey(view: StateView, request: StateRequest): Promise<StateReading> {
  return read(view, request, await patternOf(request));
}

/** The compiled pattern of a request, if it has one. */
export async function patternOf({ pattern }: StateRequest): Promise<Pattern | undefined> {
  return pattern === undefined || pattern === "" ? undefined : await compilePattern(pattern);
}

/** The same as {@link readStateKey}, with the pattern compiled already. Keys and matches cost `listChars` at most. */
export function read(
  view: StateView,
  request: StateRequest,
  pattern: Pattern | undefined,
  listChars: number = 2 * (request.maxChars ?? MAX_CHARS),
): StateReading {
  const { maxChars = MAX_CHARS } = request;
  const located = locate(view, request);
  if (located.outcome !== "here") return located;
  if (pattern !== undefined) return matches(view, located, pattern, listChars);
  return located.key === undefined && located.path.length === 0
    ? listing(view, listChars)
    : reading(view, located, maxChars);
}

function reading(view: StateView, { key, path, value }: Located, maxChars: number): StateReading {
  const topKey = key ?? path[0];
  const note = rewrittenNote(view, topKey);
  const about = {
    where: view.where,
    ...(key === undefined ? {} : { key }),
    path: toPointer(path),
    ...(note === undefined ? {} : { note }),
  };
  const redacted = redact(value);
  const text = JSON.stringify(redacted);
  return textCost(text) <= maxChars ? { outcome: "value", ...about, value: redacted } : {
    outcome: "outline",
    ...about,
    outline: outline(redacted, maxChars),
    chars: text.length,
    ...(typeof redacted === "string" ? { isText: true } : {}),
  };
}

function matches(view: StateView, { key, path, value }: Located, pattern: Pattern, maxChars: number): StateReading {
  const { tokens, ...found } = search(value, path, pattern, maxChars);
  const note = key !== undefined ? rewrittenNote(view, key) : notes(view, tokens);
  return {
    outcome: "matches",
    where: view.where,
    ...(key === undefined ? {} : { key }),
    path: toPointer(path),
    ...(note === undefined ? {} : { note }),
    pattern: pattern.source,
    isLiteral: pattern.isLiteral,
    ...found,
  };
}

/** The notes of several keys. */
function notes(view: StateView, keys: Iterable<string>): string | undefined {
  const told: string[] = [];
  for (const key of keys) {
    const note = rewrittenNote(view, key);
    if (note !== undefined) told.push(`${keyText(key)}: ${note}`);
  }
  return told.length === 0 ? undefined : told.slice(0, NOTES_SHOWN).join("\n");
}

function listing(view: StateView, maxChars: number): KeyListing {
  const keys: ListedKey[] = [];
  let room = maxChars;
  let omitted = 0;
  for (const listed of listedKeys(view)) {
    room -= textCost(keyText(listed.key)) + textCost(listed.shape) + textCost(listed.note ?? "") + 8;
    if (room >= 0) keys.push(listed);
    else omitted++;
  }
  return { outcome: "keys", where: view.where, keys, omitted };
}

function* listedKeys(view: StateView): Generator<ListedKey> {
  const { state, evicted, expected = [] } = view;
  for (const key of Object.keys(state)) {
    const note = rewrittenNote(view, key);
    yield { key, shape: redactedShape(state, key), ...(note === undefined ? {} : { note }) };
  }
  for (const key of evicted?.keys() ?? []) yield { key, shape: "evicted" };
  for (const key of expected) {
    if (!Object.hasOwn(state, key) && !evicted?.has(key)) yield { key, shape: "not written yet" };
  }
}

function redactedShape(state: JsonObject, key: string): string {
  const value: JsonValue = redact(state[key]);
  return typeof value === "string" && value !== state[key] && value.startsWith("<data:") ? value : shapeOf(value);
}
