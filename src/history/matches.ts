/**
 * Searches a value line by line: `pointer = value` for every scalar in it.
 *
 * @module
 */

import { isArray, isObject, type JsonValue } from "../document/json.ts";
import { textCost } from "../document/outline.ts";
import type { Path } from "../document/path.ts";
import { cutTo, pointerText, withoutHalves } from "./labels.ts";
import type { Pattern } from "./pattern.ts";
import { redactText } from "./redact.ts";

/** How many matches are told at most. */
export const MAX_MATCHES = 50;
const LINE_SHOWN = 240;
/** How much of a line is shown before a match that lies deep in it. */
const LEAD = 60;
/** How many steps of the engine one search may take, so that a costly pattern on a large state ends within seconds. */
const MAX_STEPS = 150_000_000;
/** How many of these may go into finding where in a long line a match is. */
const MAX_FIND_STEPS = 5_000_000;

/** What a search has found. */
export interface Matches {
  /** The first lines that match. */
  readonly lines: readonly string[];
  /** The top-level tokens that these lines are under. */
  readonly tokens: ReadonlySet<string>;
  /** How many lines match. */
  readonly total: number;
  /** How many lines there are. */
  readonly searched: number;
  /** How many lines more were not searched, since the pattern is too costly for so much text. */
  readonly unsearched: number;
}

/** Searches a value that stands at `path`. The lines told cost no more than `maxChars`. */
export function search(root: JsonValue, path: Path, pattern: Pattern, maxChars: number): Matches {
  // A quotation mark is only ever around or within a string's JSON text; without one, the pattern is about the bare text.
  const isQuoted = pattern.source.includes('"');
  const lines: string[] = [];
  const tokens = new Set<string>();
  let [total, searched, unsearched, room, findSteps] = [0, 0, 0, maxChars, MAX_FIND_STEPS];
  let steps = MAX_STEPS;
  for (const leaf of leaves(root, [...path])) {
    const prefix = `${leaf.path.length === 0 ? "value" : pointerText(leaf.path)} = `;
    const value = typeof leaf.value === "string" ? redactText(leaf.value) : leaf.value;
    const line = prefix + (typeof value === "string" && !isQuoted ? value : JSON.stringify(value));
    const cost = (line.length + 10) * pattern.stepsPerChar;
    if (cost > steps) {
      unsearched++;
      continue;
    }
    steps -= cost;
    searched++;
    if (!pattern.test(line)) continue;
    total++;
    if (lines.length === MAX_MATCHES || room <= 0) continue;
    let at = 0;
    if (line.length > LINE_SHOWN && cost <= findSteps) {
      findSteps -= cost;
      at = pattern.find(line);
    }
    const shown = shownLine(prefix, value, line, at);
    room -= textCost(shown) + 1;
    if (room < 0) continue;
    lines.push(shown);
    if (leaf.path.length > 0) tokens.add(leaf.path[0]);
  }
  return { lines, tokens, total, searched, unsearched };
}

/** The whole line, or the part of it that holds the match. */
function shownLine(prefix: string, value: JsonValue, line: string, at: number): string {
  const whole = prefix + (line.length > LINE_SHOWN ? "" : JSON.stringify(value));
  if (whole !== prefix && textCost(whole) <= LINE_SHOWN) return whole;
  const head = cutTo(prefix, LINE_SHOWN / 2);
  const start = Math.max(at - LEAD, prefix.length);
  const part = withoutHalves(line.slice(start, start + LINE_SHOWN));
  // As JSON escapes it, so that it stays one line.
  return cutTo(`${head}${start > prefix.length ? "…" : ""}${JSON.stringify(part).slice(1, -1)}`, LINE_SHOWN);
}

interface Leaf {
  readonly path: Path;
  readonly value: JsonValue;
}

/** Scalars and empty containers, in order. The path is only valid until the next one. */
function* leaves(value: JsonValue, path: string[]): Generator<Leaf> {
  if (isArray(value) && value.length > 0) {
    for (let i = 0; i < value.length; i++) yield* child(value[i], path, String(i));
  } else if (isObject(value) && Object.keys(value).length > 0) {
    for (const key of Object.keys(value)) yield* child(value[key], path, key);
  } else yield { path, value };
}

function* child(value: JsonValue, path: string[], token: string): Generator<Leaf> {
  path.push(token);
  yield* leaves(value, path);
  path.pop();
}
