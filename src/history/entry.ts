/**
 * Session state: what the tools of a conversation have produced, by key, and the reducer that merges what they write.
 *
 * @module
 */

import { equal, type JsonValue } from "../document/json.ts";
import { evict } from "./eviction.ts";

/** What a tool has put under a key such as `gazet/get_aoi/bbox`. */
export interface StateEntry {
  /** The value. */
  readonly value: JsonValue;
  /** The tool that wrote it. */
  readonly tool: string;
  /** Its place among all writes of the session: 1, 2, 3, … */
  readonly seq: number;
  /** The turn that wrote it last; turns never go back. */
  readonly turn?: number;
  /** How many turns wrote it, whether or not the value changed. */
  readonly turnsWritten?: number;
  /** How many values it has held, one after the other. */
  readonly versions?: number;
  /** The turns in which the value changed: the first, and the newest of the others. */
  readonly turnsChanged?: readonly number[];
  /** What the tool was called with. */
  readonly inputs?: JsonValue;
  /** Where the value that stood before the last turn that changed it was dropped for want of room. */
  readonly lost?: LostValue;
}

/** A value that was dropped before another took its place. */
export interface LostValue {
  /** The turn that wrote it last. */
  readonly turn: number;
  /** The turn in which it was dropped: this and later ones ended without it. */
  readonly until: number;
}

/** What is left of an entry that was dropped for want of room. */
export interface EvictedEntry extends Omit<StateEntry, "value" | "inputs"> {
  /** Tells it from an entry. */
  readonly evicted: true;
  /** The turn in which it was dropped: this and later ones ended without it. */
  readonly droppedIn?: number;
}

/** The state of a session: its entries, and what is remembered of those that were dropped. */
export type SessionState = { readonly [key: string]: StateEntry | EvictedEntry };

/** What a tool writes. All that is left out is counted by {@link mergeToolState}. */
export interface StateWrite extends Omit<StateEntry, "seq" | "lost"> {
  /** See {@link StateEntry.seq}. Default: after all others. */
  readonly seq?: number;
}

/** What some tools write, by key. `null` or `undefined` under a key writes nothing. */
export type SessionUpdate = { readonly [key: string]: StateWrite | StateEntry | EvictedEntry | null | undefined };

/** How many bytes of JSON a session may hold. */
export const MAX_SESSION_BYTES = 8 * 1024 * 1024;
const TURNS_KEPT = 16;

/** Whether of an entry only the memory is left. */
export function isEvicted(entry: StateEntry | EvictedEntry): entry is EvictedEntry {
  return "evicted" in entry && entry.evicted === true;
}

/**
 * Merges what tools wrote into a session, without changing either: fit to be the reducer of a LangGraph channel.
 *
 * A key holds one value, the one merged last. Of those before it is counted how many there were ({@link
 * StateEntry.versions}) and how many turns wrote ({@link StateEntry.turnsWritten}). A late write of an older turn takes
 * the place of the value, but turns never go back, so it is filed under the newer one. Beyond `maxBytes` the entries
 * written longest ago are dropped, and one that would not fit alone is at once; that they were there is remembered.
 */
export function mergeToolState(
  current: SessionState | null | undefined,
  update: SessionUpdate | null | undefined,
  maxBytes: number = MAX_SESSION_BYTES,
): SessionState {
  const entries = new Map(Object.entries(current ?? {}));
  let seq = 0;
  for (const [key, entry] of entries) {
    // A channel without a default takes its first update as it is: nobody has numbered it.
    if (!Number.isFinite(entry.seq)) entries.set(key, { ...entry, seq: 0 });
    else seq = Math.max(seq, entry.seq);
  }
  for (const [key, write] of Object.entries(update ?? {})) {
    if (write === null || write === undefined) continue;
    seq = Math.max(seq, write.seq ?? seq + 1);
    const before = entries.get(key);
    if ("evicted" in write) {
      if (before === undefined || before.seq < write.seq) entries.set(key, write);
    } else entries.set(key, merged(before, write, write.seq ?? seq));
  }
  evict(entries, maxBytes);
  return Object.fromEntries(entries);
}

function merged(before: StateEntry | EvictedEntry | undefined, write: StateWrite, seq: number): StateEntry {
  const { tool, inputs } = write;
  // A tool of a host in plain JavaScript may have produced nothing at all.
  const value = write.value ?? null;
  const turn = Math.max(before?.turn ?? 0, write.turn ?? 0) || undefined;
  const entry = {
    value,
    tool,
    seq,
    ...(turn === undefined ? {} : { turn }),
    ...(inputs === undefined ? {} : { inputs }),
  };
  return { ...entry, ...(before === undefined ? firstCounts(write, turn) : nextCounts(before, write, turn)) };
}

type Counts = Pick<StateEntry, "turnsWritten" | "versions" | "turnsChanged" | "lost">;

function firstCounts({ turnsWritten, versions, turnsChanged }: StateWrite, turn: number | undefined): Counts {
  if (turn === undefined) return { versions: versions ?? 1 };
  return { turnsWritten: turnsWritten ?? 1, versions: versions ?? 1, turnsChanged: turnsChanged ?? [turn] };
}

function nextCounts(before: StateEntry | EvictedEntry, write: StateWrite, turn: number | undefined): Counts {
  const { versions = 1, turnsWritten = before.turn === undefined ? 0 : 1, turnsChanged = [] } = before;
  const isChange = isEvicted(before) || !equal(before.value, write.value ?? null);
  const count = versions + (isChange ? 1 : 0);
  if (turn === undefined) return { versions: count };
  const isNewTurn = turn > (before.turn ?? 0);
  const isNamed = !isChange || turnsChanged.at(-1) === turn;
  // Of a turn that changes it several times, what counts is what stood before the first of them.
  const lost = isNamed ? before.lost : lostOf(before);
  return {
    turnsWritten: turnsWritten + (isNewTurn ? 1 : 0),
    versions: count,
    turnsChanged: isNamed ? turnsChanged : withoutOld([...turnsChanged, turn]),
    ...(lost === undefined ? {} : { lost }),
  };
}

function lostOf(before: StateEntry | EvictedEntry): LostValue | undefined {
  if (!isEvicted(before) || before.turn === undefined) return undefined;
  return { turn: before.turn, until: before.droppedIn ?? before.turn + 1 };
}

/** The first of all tells since when there is a value, the newest ones where to read the earlier. */
function withoutOld(turns: readonly number[]): readonly number[] {
  return turns.length > TURNS_KEPT ? [turns[0], ...turns.slice(1 - TURNS_KEPT)] : turns;
}
