/**
 * What a head becomes: pure functions, the same on every engine.
 *
 * @module
 */

import type { Stamp } from "../document/journal.ts";
import type { Creation, EntryDraft, Touch } from "./backend.ts";
import { expiryOf, type Head } from "./records.ts";

/** The head of a new document. */
export function firstHead(id: string, { kind, entry, bytes }: Creation, stamp: Stamp): Head {
  const { version, writeId, at, turn, writer, seq, offset } = stamp;
  const ttlDays = entry.ttlDays ?? undefined;
  return {
    id,
    kind,
    title: entry.title,
    version,
    writeId,
    createdAt: at,
    updatedAt: at,
    writer,
    turn,
    firstTurn: turn,
    ttlDays,
    expiresAt: expiryOf(ttlDays, at),
    bytes,
    oldest: version,
    offset,
    base: { version, bytes, offset },
    seq,
    createdSeq: seq,
  };
}

/** The head after one more entry. */
export function advancedHead(head: Head, draft: EntryDraft, stamp: Stamp): Head {
  const ttlDays = draft.ttlDays === undefined ? head.ttlDays : draft.ttlDays ?? undefined;
  return {
    ...head,
    version: stamp.version,
    writeId: stamp.writeId,
    updatedAt: stamp.at,
    writer: stamp.writer,
    turn: stamp.turn,
    firstTurn: head.firstTurn === 0 ? stamp.turn : head.firstTurn,
    title: draft.title ?? head.title,
    ttlDays,
    expiresAt: draft.ttlDays === undefined ? head.expiresAt : expiryOf(ttlDays, stamp.at),
    offset: stamp.offset,
    seq: stamp.seq,
  };
}

/** The head after a touch. */
export function touchedHead(head: Head, touch: Touch, now: number): Head {
  const ttlDays = typeof touch.ttlDays === "number" ? touch.ttlDays : touch.ttlDays === null ? undefined : head.ttlDays;
  const turn = Math.max(touch.turn ?? 0, head.turn);
  return {
    ...head,
    ttlDays,
    expiresAt: touch.ttlDays === undefined ? head.expiresAt : expiryOf(ttlDays, now),
    turn,
    firstTurn: head.firstTurn === 0 ? turn : head.firstTurn,
  };
}
