/**
 * A session as the state of a document: an entry per key, and beside them the thread that it was forked from.
 *
 * @module
 */

import { StateTooLarge } from "../document/errors.ts";
import { isArray, isObject, jsonBytes, type JsonObject, type JsonValue, ownValue } from "../document/json.ts";
import type { KeyUpdate } from "../store/update.ts";
import { toPointer } from "../document/path.ts";
import {
  type EvictedEntry,
  type LostValue,
  mergeToolState,
  type SessionState,
  type SessionUpdate,
  type StateEntry,
} from "./entry.ts";
import { forgetBeyond, memberBytes, sessionBytes } from "./eviction.ts";

/** Where a thread was forked from. Turns before `turn` are read there. */
export interface ForkOrigin {
  /** The thread. */
  readonly thread: string;
  /** The turn whose end (or what it had come to) the fork began with. */
  readonly turn: number;
  /** When that thread was created: another one of its name is not it. */
  readonly createdAt: string;
}

/** The one key of the document that is no session key. */
export const FORK_KEY = "@fork";

/** Every state and every entry is converted once: versions share what they have in common. */
const sessions = new WeakMap<JsonObject, SessionState>();
const entries = new WeakMap<JsonObject, StateEntry | EvictedEntry>();

/** The session that a document's state holds. What others have put there is read as the value of an entry. */
export function toSession(state: JsonObject): SessionState {
  let session = sessions.get(state);
  if (session === undefined) {
    session = Object.freeze(Object.fromEntries(
      Object.keys(state).filter((key) => key !== FORK_KEY).map((key) => [key, toEntry(state[key])]),
    ));
    sessions.set(state, session);
  }
  return session;
}

/** Where the thread was forked from; `undefined` if it was not. */
export function forkOriginOf(state: JsonObject): ForkOrigin | undefined {
  const origin = ownValue(state, FORK_KEY);
  if (!isObject(origin)) return undefined;
  const { thread, turn, createdAt } = origin;
  return typeof thread === "string" && typeof turn === "number" && typeof createdAt === "string"
    ? { thread, turn, createdAt }
    : undefined;
}

/** The keys that an update changes in a thread's document. @throws {StateTooLarge} for an entry that there is no room for. */
export function planSession(state: JsonObject, update: SessionUpdate, turn: number, maxBytes: number): KeyUpdate {
  const before = toSession(state);
  const fork = ownValue(state, FORK_KEY);
  const room = maxBytes - (fork === undefined ? 0 : jsonBytes(fork) + FORK_KEY.length + 4);
  const after = merged(before, filedUnder(update, turn), room);
  const changed = Object.keys(after).filter((key) => after[key] !== ownEntry(before, key));
  const dropped = Object.keys(before).filter((key) => !Object.hasOwn(after, key));
  return Object.fromEntries([
    ...changed.map((key) => [key, after[key]]),
    ...dropped.map((key) => [key, undefined]),
  ]);
}

/** The entries of the session, and of those that had to go the memory, within the room there is. */
function merged(before: SessionState, update: SessionUpdate, room: number): SessionState {
  const all = mergeToolState(before, update, Infinity);
  let newest = 0;
  for (const key of Object.keys(update)) {
    const bytes = memberBytes(key, all[key]) + 2;
    if (bytes > room) throw new StateTooLarge(bytes, room, toPointer([key]));
    newest = Math.max(newest, bytes);
  }
  const { bytes, evictedBytes } = sessionBytes(all);
  if (bytes <= room) return mergeToolState(all, undefined, room);
  // Room for the memory of what goes: at most three quarters, and none where what was just written needs it.
  const memory = Math.min(room * 3 / 4, 2 * evictedBytes + 1024, room - newest);
  return forgetBeyond(mergeToolState(all, undefined, room - memory - 2), room);
}

/** A thread has one clock: what is written late belongs to the turn in which it lands. */
function filedUnder(update: SessionUpdate, turn: number): SessionUpdate {
  if (turn === 0) return update;
  return Object.fromEntries(Object.entries(update).map(([key, write]) => [key, write && { ...write, turn }]));
}

function ownEntry(session: SessionState, key: string): StateEntry | EvictedEntry | undefined {
  return Object.hasOwn(session, key) ? session[key] : undefined;
}

function toEntry(value: JsonValue): StateEntry | EvictedEntry {
  if (!isObject(value)) return { value, tool: "unknown", seq: 0 };
  let entry = entries.get(value);
  if (entry === undefined) {
    entry = readEntry(value);
    entries.set(value, entry);
  }
  return entry;
}

function readEntry(value: JsonObject): StateEntry | EvictedEntry {
  const { tool, seq, turn, turnsWritten, versions, turnsChanged, lost, droppedIn } = value;
  if (typeof tool !== "string" || typeof seq !== "number") return { value, tool: "unknown", seq: 0 };
  const counts = {
    tool,
    seq,
    ...(typeof turn === "number" ? { turn } : {}),
    ...(typeof turnsWritten === "number" ? { turnsWritten } : {}),
    ...(typeof versions === "number" ? { versions } : {}),
    ...(isArray(turnsChanged) ? { turnsChanged: turnsChanged.filter((each) => typeof each === "number") } : {}),
    ...(isLost(lost) ? { lost } : {}),
  };
  if (value.evicted === true) {
    return { ...counts, evicted: true, ...(typeof droppedIn === "number" ? { droppedIn } : {}) };
  }
  const inputs = ownValue(value, "inputs");
  return { value: value.value ?? null, ...counts, ...(inputs === undefined ? {} : { inputs }) };
}

function isLost(value: unknown): value is LostValue {
  return isObject(value) && typeof value.turn === "number" && typeof value.until === "number";
}
