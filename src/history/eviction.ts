/**
 * What becomes of a session that is too large: the entries written longest ago are dropped, and remembered.
 *
 * @module
 */

import { jsonBytes, stringBytes } from "../document/json.ts";
import { byteLength } from "../document/byte_length.ts";
import type { EvictedEntry, SessionState, StateEntry } from "./entry.ts";

/** How many dropped entries are remembered, the most recently written first. */
export const EVICTIONS_KEPT = 256;

type Entries = Map<string, StateEntry | EvictedEntry>;

/**
 * Drops values until the others fit into `maxBytes`, those that would not fit alone first, and forgets the oldest of what
 * was dropped. What is remembered does not count.
 */
export function evict(entries: Entries, maxBytes: number): void {
  const oldestFirst = inOrder(entries);
  let bytes = 0;
  let turn = 0;
  for (const [key, entry] of oldestFirst) {
    turn = Math.max(turn, entry.turn ?? 0);
    if (!("evicted" in entry)) bytes += memberBytes(key, entry);
  }
  const drop = (key: string, entry: StateEntry) => {
    bytes -= memberBytes(key, entry);
    const { value: _, inputs: __, ...rest } = entry;
    entries.set(key, { ...rest, evicted: true, ...(turn === 0 ? {} : { droppedIn: turn }) });
  };
  for (const [key, entry] of oldestFirst) {
    if (!("evicted" in entry) && memberBytes(key, entry) > maxBytes) drop(key, entry);
  }
  for (const [key, entry] of oldestFirst) {
    if (bytes <= maxBytes) break;
    if (!("evicted" in entry) && memberBytes(key, entry) <= maxBytes) drop(key, entry);
  }
  const gone = oldestFirst.flatMap(([key]) => "evicted" in (entries.get(key) ?? {}) ? [key] : []);
  for (const key of gone.slice(0, Math.max(0, gone.length - EVICTIONS_KEPT))) entries.delete(key);
}

/** A session without the oldest of what was dropped, so that all of it fits into `maxBytes` if that can be. */
export function forgetBeyond(session: SessionState, maxBytes: number): SessionState {
  const entries: Entries = new Map(Object.entries(session));
  let { bytes } = sessionBytes(session);
  for (const [key, entry] of inOrder(entries)) {
    if (bytes <= maxBytes) break;
    if (!("evicted" in entry)) continue;
    bytes -= memberBytes(key, entry);
    entries.delete(key);
  }
  return Object.fromEntries(entries);
}

function inOrder(entries: Entries): [string, StateEntry | EvictedEntry][] {
  return [...entries].sort(([, a], [, b]) => a.seq - b.seq);
}

/** UTF-8 bytes of a session as compact JSON, and what of them is the memory of evicted entries. */
export function sessionBytes(session: SessionState): { readonly bytes: number; readonly evictedBytes: number } {
  let [bytes, evictedBytes] = [2, 0];
  for (const [key, entry] of Object.entries(session)) {
    const size = memberBytes(key, entry);
    bytes += size;
    if ("evicted" in entry) evictedBytes += size;
  }
  return { bytes, evictedBytes };
}

/** Entries are not changed once they are made, so each is measured once. */
const sizes = new WeakMap<StateEntry | EvictedEntry, number>();
/** UTF-8 bytes of a key and its entry as members of compact JSON. */
export function memberBytes(key: string, entry: StateEntry | EvictedEntry): number {
  let bytes = sizes.get(entry);
  if (bytes === undefined) {
    bytes = entryBytes(entry);
    sizes.set(entry, bytes);
  }
  return bytes + stringBytes(key) + 2;
}

function entryBytes(entry: StateEntry | EvictedEntry): number {
  if ("evicted" in entry) return byteLength(JSON.stringify(entry));
  const { value, inputs, ...rest } = entry;
  const inputsBytes = inputs === undefined ? 0 : jsonBytes(inputs) + '"inputs":,'.length;
  return byteLength(JSON.stringify(rest)) + jsonBytes(value) + '"value":,'.length + inputsBytes;
}
