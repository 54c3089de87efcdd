/**
 * From the records of the port to what callers are handed.
 *
 * @module
 */

import type { Head } from "../backends/backend.ts";
import type { JsonPatch } from "../document/json_patch.ts";
import { decodeBody, type Entry, type Folded, type Stamp, toPatch } from "../document/journal.ts";
import type { Change, HandleInfo, Snapshot } from "../document/snapshot.ts";
import { damaged } from "./damage.ts";

/** The newest text of each remainder: a document's times are told again with every answer. */
const told: { readonly time: number; readonly text: string }[] = [];
const TOLD = 256;

/** Milliseconds since 1970 as ISO 8601 in UTC. */
export function toIso(time: number): string {
  const last = told[time & (TOLD - 1)];
  if (last?.time === time) return last.text;
  const text = new Date(time).toISOString();
  told[time & (TOLD - 1)] = { time, text };
  return text;
}

/** A head as metadata of its current version. */
export function toInfo(head: Head): HandleInfo {
  const { expiresAt, ttlDays, title } = head;
  return {
    handle: head.id,
    kind: head.kind,
    ...(title === undefined ? {} : { title }),
    version: head.version,
    createdAt: toIso(head.createdAt),
    updatedAt: toIso(head.updatedAt),
    ...(expiresAt === undefined ? {} : { expiresAt: toIso(expiresAt) }),
    ...(ttlDays === undefined ? {} : { ttlDays }),
    lastWriter: head.writer,
    turn: head.turn,
    bytes: head.bytes,
  };
}

/** What a write adds to the snapshot of its result. */
export type WriteFacts = Pick<Snapshot, "changed" | "replayed" | "merged">;

/** A version of a document as its reader gets it: metadata of that version, kind, title and expiry as they are now. */
export function toSnapshot(head: Head, folded: Folded, stamp: Stamp, facts?: WriteFacts): Snapshot {
  const { expiresAt, ttlDays, title } = head;
  // Part by part and not by spreading: every call makes one.
  const snapshot: { -readonly [Name in keyof Snapshot]: Snapshot[Name] } = {
    handle: head.id,
    kind: head.kind,
    version: stamp.version,
    createdAt: toIso(head.createdAt),
    updatedAt: toIso(stamp.at),
    lastWriter: stamp.writer,
    turn: stamp.turn,
    bytes: folded.bytes,
    state: folded.state,
    currentVersion: Math.max(head.version, stamp.version),
    oldestVersion: head.oldest,
    currentTurn: head.turn,
  };
  if (title !== undefined) snapshot.title = title;
  if (expiresAt !== undefined) snapshot.expiresAt = toIso(expiresAt);
  if (ttlDays !== undefined) snapshot.ttlDays = ttlDays;
  return Object.freeze(facts === undefined ? snapshot : Object.assign(snapshot, facts));
}

/** An entry as a change. @throws {BackendError} if it is damaged. */
export function toChange({ version, writer, at, turn, body }: Entry): Change {
  const patch = patchOf(body);
  return Object.freeze({
    version,
    writer,
    at: toIso(at),
    turn,
    paths: Object.freeze(patch.map(({ path }) => path)),
    patch,
  });
}

function patchOf(body: string): JsonPatch {
  try {
    return toPatch(decodeBody(body));
  } catch (error) {
    throw damaged(error);
  }
}
