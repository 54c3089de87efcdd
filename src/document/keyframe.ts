/**
 * The record of a folded version: a derived thing with a format number, laid now and then so that reading stays cheap.
 *
 * Where the entry of that version is a whole state, the record leaves that to it: a large text is not written twice.
 *
 * The keys' histories go as distinct rows, then runs of row numbers in the order of the state's keys: ten thousand keys
 * that were written together cost one row and one run.
 *
 * @module
 */

import { freeze, isArray, isObject, type JsonObject } from "./json.ts";
import { decodeBody, type Folded, type Keyframe, type PortableEntry } from "./journal.ts";
import type { KeyHistory, KeyWrites } from "./key_writes.ts";

/** The number of the format that holds a state. Only this and the one without are read. */
export const KEYFRAME_FORMAT = 2;

/** What a keyframe begins with whose state is the body of its entry. */
export const ON_ENTRY = '{"format":3,';

type Row = readonly [
  versions: number,
  turns: number,
  firstVersion: number,
  firstTurn: number,
  lastVersion: number,
  lastTurn: number,
  writer: number,
  recentTurns: readonly number[],
  previous?: readonly [turn: number, untilVersion: number, untilTurn: number],
];

interface EncodedHistory {
  readonly writers: readonly string[];
  readonly rows: readonly Row[];
  /** Row number and count, in the order of the state's keys. */
  readonly runs: readonly (readonly [row: number, count: number])[];
  /** Keys no longer in the state. */
  readonly gone: readonly (readonly [key: string, row: number])[];
}

/**
 * The keyframe of a folded version.
 *
 * @param entry The body of the entry of that version, where the two are kept together.
 */
export function encodeKeyframe({ version, writeId, state, bytes, keys }: Folded, entry = ""): Keyframe {
  const history = encodeHistory(keys, state);
  const body = entry.startsWith("{")
    ? `${ON_ENTRY}"keys":${JSON.stringify(history)}}`
    : JSON.stringify({ format: KEYFRAME_FORMAT, keys: history, state });
  return { version, writeId, bytes, body };
}

/** The version that the entries begin with which a reader needs beside a keyframe. */
export function firstEntry({ version, body }: Keyframe): number {
  return body.startsWith(ON_ENTRY) ? version : version + 1;
}

/**
 * The folded version of a keyframe, or `undefined` if it is of another format or damaged, or its state is in an entry that
 * is not this one: then an older base serves.
 */
export function decodeKeyframe({ version, writeId, bytes, body }: Keyframe, entry?: PortableEntry): Folded | undefined {
  try {
    const { format, keys, state = stateOf(entry, writeId) } = JSON.parse(body);
    if (format !== KEYFRAME_FORMAT && !body.startsWith(ON_ENTRY) || !isObject(state) || !isObject(keys)) {
      return undefined;
    }
    freeze(state);
    return { version, writeId, state, bytes, keys: decodeHistory(keys, state) };
  } catch {
    return undefined;
  }
}

function stateOf(entry: PortableEntry | undefined, writeId: string): JsonObject | undefined {
  if (entry?.writeId !== writeId) return undefined;
  const body = decodeBody(entry.body);
  return "state" in body ? body.state : undefined;
}

function encodeHistory(history: KeyHistory, state: JsonObject): EncodedHistory {
  const writers = new Index<string>();
  const rows = new Index<string>();
  const encoded: Row[] = [];
  const rowOf = (writes: KeyWrites): number => {
    const { versions, turns, first, last, recentTurns, previous } = writes;
    const writer = writers.of(last.writer);
    const counts = [versions, turns, first.version, first.turn, last.version, last.turn, writer, recentTurns] as const;
    const row: Row = previous === undefined
      ? counts
      : [...counts, [previous.turn, previous.until.version, previous.until.turn]];
    const number = rows.of(JSON.stringify(row));
    encoded[number] ??= row;
    return number;
  };
  const runs: [number, number][] = [];
  for (const key of Object.keys(state)) {
    const writes = history.get(key);
    if (writes === undefined) throw new TypeError("a key of the state has no history");
    const row = rowOf(writes);
    const run = runs[runs.length - 1];
    if (run !== undefined && run[0] === row) run[1]++;
    else runs.push([row, 1]);
  }
  const gone: [string, number][] = [];
  for (const [key, writes] of history) if (!Object.hasOwn(state, key)) gone.push([key, rowOf(writes)]);
  return { writers: writers.values(), rows: encoded, runs, gone };
}

function decodeHistory(encoded: JsonObject, state: JsonObject): KeyHistory {
  const { writers, rows, runs, gone } = encoded as unknown as EncodedHistory;
  if (!isArray(runs) || !isArray(gone)) throw new TypeError("a keyframe's key history is damaged");
  const decoded = rows.map((
    [versions, turns, firstVersion, firstTurn, lastVersion, lastTurn, writer, recentTurns, previous],
  ): KeyWrites => ({
    versions,
    turns,
    first: { version: firstVersion, turn: firstTurn },
    last: { version: lastVersion, turn: lastTurn, writer: writers[writer] },
    recentTurns,
    ...(previous === undefined ? {} : { previous: toPrevious(previous) }),
  }));
  const history = new Map<string, KeyWrites>();
  const names = Object.keys(state);
  let next = 0;
  for (const [row, count] of runs as EncodedHistory["runs"]) {
    for (const end = next + count; next < end; next++) history.set(names[next], decoded[row]);
  }
  if (next !== names.length) throw new TypeError("a keyframe's key history does not fit its state");
  for (const [key, row] of gone as EncodedHistory["gone"]) history.set(key, { ...decoded[row], isRemoved: true });
  return history;
}

function toPrevious([turn, version, untilTurn]: NonNullable<Row[8]>): KeyWrites["previous"] {
  return { turn, until: { version, turn: untilTurn } };
}

/** Numbers distinct values in the order in which they come. */
class Index<T> {
  readonly #numbers = new Map<T, number>();
  of(value: T): number {
    const known = this.#numbers.get(value);
    if (known !== undefined) return known;
    this.#numbers.set(value, this.#numbers.size);
    return this.#numbers.size - 1;
  }
  values(): T[] {
    return [...this.#numbers.keys()];
  }
}
