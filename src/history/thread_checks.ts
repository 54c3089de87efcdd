/**
 * Checks what a host says of a thread, so that nothing is stored that could not be read again.
 *
 * @module
 */

import { admitState } from "../document/admit.ts";
import { checkInteger, checkText } from "../document/checks.ts";
import { InvalidInput } from "../document/errors.ts";
import { isArray, isObject, type JsonObject, type JsonValue } from "../document/json.ts";
import { toPointer } from "../document/path.ts";
import type { EvictedEntry, SessionUpdate, StateWrite } from "./entry.ts";
import type { ForkPoint } from "./thread_fork.ts";
import type { ThreadPoint } from "./thread_reading.ts";
import { FORK_KEY } from "./thread_state.ts";

/** @throws {InvalidInput} naming `field` unless it is a text of 1 to 1,024 bytes. */
export function checkThreadId(field: string, id: unknown): string {
  const text = checkText(field, id, 1024);
  if (text === "") throw new InvalidInput(field, `${field} is empty: pass the host's own id of the thread.`);
  return text;
}

/**
 * What some tools write, copied, without the keys under which nothing is written.
 *
 * @throws {InvalidInput} naming the key and the part of its entry at fault.
 */
export function checkUpdate(update: unknown): SessionUpdate {
  if (!isObject(update)) {
    throw new InvalidInput("update", 'update must be an object: { "server/tool/field": { value, tool } }.');
  }
  if (Object.hasOwn(update, FORK_KEY)) {
    throw new InvalidInput("update", `${JSON.stringify(FORK_KEY)} is kept for the thread itself: use another key.`);
  }
  const written = Object.entries<unknown>(update).filter(([, write]) => write !== null && write !== undefined);
  const { value } = admitState(
    Object.fromEntries(written.map(([key, write]) => [key, withoutUndefined(write)])),
    "update",
  );
  return Object.fromEntries(Object.entries(value).map(([key, write]) => [key, checkWrite(key, write)]));
}

function withoutUndefined(write: unknown): unknown {
  if (!isObject(write)) return write;
  return Object.fromEntries(Object.entries<unknown>(write).filter(([, part]) => part !== undefined));
}

function checkWrite(key: string, write: JsonValue): StateWrite | EvictedEntry {
  if (!isObject(write)) throw wrong(key, undefined, "must be an object: { value, tool }.");
  const { value, tool, inputs, evicted, droppedIn, lost: _, ...rest } = write;
  if (typeof tool !== "string" || tool === "") throw wrong(key, "tool", "must be the name of the tool that writes.");
  const counts = checkCounts(key, rest);
  // As another session remembers it.
  if (evicted === true && value === undefined && counts.seq !== undefined) {
    const dropped = droppedIn === undefined ? {} : { droppedIn: checkCount(key, "droppedIn", droppedIn) };
    return { ...counts, tool, seq: counts.seq, evicted, ...dropped };
  }
  if (value === undefined) throw wrong(key, "value", "is missing: write null where there is none.");
  return { value, tool, ...(inputs === undefined ? {} : { inputs }), ...counts };
}

const COUNTS = ["seq", "turn", "turnsWritten", "versions"] as const;

function checkCounts(key: string, counts: JsonObject): Omit<StateWrite, "value" | "tool" | "inputs"> {
  const { turnsChanged, ...numbers } = counts;
  for (const name of Object.keys(numbers)) {
    if (!COUNTS.some((each) => each === name)) {
      throw wrong(
        key,
        name,
        `is no part of an entry: these are value, tool, inputs, turnsChanged, ${COUNTS.join(", ")}.`,
      );
    }
  }
  const checked = COUNTS.flatMap((name) =>
    numbers[name] === undefined ? [] : [[name, checkCount(key, name, numbers[name])]]
  );
  const turns = turnsChanged === undefined ? {} : { turnsChanged: checkTurns(key, turnsChanged) };
  return { ...Object.fromEntries(checked), ...turns };
}

function checkCount(key: string, name: string, value: JsonValue): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 1) return value;
  throw wrong(key, name, "must be a whole number above 0.");
}

function checkTurns(key: string, value: JsonValue): readonly number[] {
  if (isArray(value)) return value.map((turn) => checkCount(key, "turnsChanged", turn));
  throw wrong(key, "turnsChanged", "must be a list of turns.");
}

function wrong(key: string, part: string | undefined, what: string): InvalidInput {
  const path = toPointer(part === undefined ? [key] : [key, part]);
  return new InvalidInput("update", `update at ${JSON.stringify(path)} ${what}`, path);
}

/** @throws {InvalidInput} for what is no whole number, or both. Which of them there are, the thread says. */
export function checkThreadPoint(point: unknown): ThreadPoint {
  if (!isObject(point)) throw new InvalidInput("point", "point must be an object: { turn } or { version }.");
  const { turn, version } = point;
  if (turn !== undefined && version !== undefined) {
    throw new InvalidInput("version", "Name at most one of version and turn.");
  }
  const least = Number.MIN_SAFE_INTEGER;
  if (turn !== undefined) return { turn: checkInteger("turn", turn, least) };
  return version === undefined ? {} : { version: checkInteger("version", version, least) };
}

/** @throws {InvalidInput} unless exactly one of turn and version is named. */
export function checkForkPoint(point: unknown): ForkPoint {
  const { turn, version } = checkThreadPoint(point);
  if (turn !== undefined) return { turn };
  if (version !== undefined) return { version };
  throw new InvalidInput("point", "Say where to fork: { turn } or { version }.");
}
