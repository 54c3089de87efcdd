/**
 * The records that every backend keeps beside a journal: heads, tombstones, request ids.
 *
 * @module
 */

import type { Base } from "../document/journal.ts";

/** The most entries in one {@link Append}. */
export const MAX_BATCH = 64;
/** How long a tombstone is kept, in milliseconds: 30 days. */
export const TOMBSTONE_MS = 30 * 86_400_000;
/** How long a request id is kept at least, in milliseconds: 24 hours. */
export const REQUEST_MS = 86_400_000;
/** Every so many writes, mints and lists of a process remove {@link LEFTOVERS} on their way: past due documents, old tombstones and request ids. */
export const TIDY_EVERY = 16;
/** How many records one of them removes at most. */
export const LEFTOVERS = 64;

/** Names a document. */
export interface DocumentKey {
  /** Whose it is. */
  readonly user: string;
  /** Its handle, or the id that its host gave it. */
  readonly id: string;
}

/** The small record beside a journal. Times are milliseconds since 1970 by the backend's clock. */
export interface Head {
  /** The document. */
  readonly id: string;
  /** What sort of document it is. */
  readonly kind: string;
  /** What a person would call it. */
  readonly title?: string;
  /** The newest version. */
  readonly version: number;
  /** The write id of `version`. */
  readonly writeId: string;
  /** When version 1 was written. */
  readonly createdAt: number;
  /** When `version` was written. */
  readonly updatedAt: number;
  /** Who wrote `version`. */
  readonly writer: string;
  /** The turn that the document is in; it may be ahead of the last entry's. 0: none was ever named. */
  readonly turn: number;
  /** The first turn that the document was in; 0: none was ever named. */
  readonly firstTurn: number;
  /** The time to live as last set, in days. */
  readonly ttlDays?: number;
  /** When it ends. */
  readonly expiresAt?: number;
  /** UTF-8 bytes of the state of `version`. */
  readonly bytes: number;
  /** The oldest retained version. */
  readonly oldest: number;
  /** {@link Stamp.offset} of `version`. */
  readonly offset: number;
  /** Where reading `version` starts. */
  readonly base: Base;
  /** The user's sequence number at the last mint or write. */
  readonly seq: number;
  /** The same, at the mint: a walk through the list tells new documents from moved ones by it. */
  readonly createdSeq: number;
}

/** What is left of a document that was deleted or has expired. */
export interface Tombstone {
  /** The document. */
  readonly id: string;
  /** What became of it. */
  readonly status: "deleted" | "expired";
  /** What sort of document it was. */
  readonly kind: string;
  /** When it was deleted, or when its time to live ended. */
  readonly goneAt: number;
  /** The time to live as last set, in days. */
  readonly ttlDays?: number;
  /** The user's sequence number that its end took. */
  readonly seq: number;
  /** {@link Head.createdSeq}. */
  readonly createdSeq: number;
  /**
   * The write id of its end, by which one that a failover undid is told from the one that came in its place. Empty while a
   * document is past due and nobody has buried it.
   */
  readonly writeId: string;
}

/** What to remember of a request, so that a second one like it is recognised. */
export interface RequestDraft {
  /** Unique within the user. */
  readonly id: string;
  /** SHA-256 of operation and canonical arguments. */
  readonly fingerprint: string;
  /** The result's metadata, opaque to the backend. */
  readonly meta: string;
}

/** What is remembered of a request. */
export interface RequestRecord extends RequestDraft {
  /** The document it was about. */
  readonly documentId: string;
  /** The version that the request left. */
  readonly version: number;
  /** The write id of `version`. */
  readonly writeId: string;
  /** When. */
  readonly at: number;
  /** The turn that the document was in then. */
  readonly turn: number;
  /** The time to live as set then. */
  readonly ttlDays?: number;
  /** When it was to end then. */
  readonly expiresAt?: number;
}

/** Whether a record is of a document that is no more. */
export function isTombstone(record: Head | Tombstone): record is Tombstone {
  return "status" in record;
}

/** Whether a head's time to live has ended. */
export function isPastDue(head: Head, now: number): boolean {
  return head.expiresAt !== undefined && head.expiresAt <= now;
}

/** What becomes of a head whose time to live has ended, before it is buried; `seq` is still the last write's. */
export function toExpired(head: Head): Tombstone {
  const { id, kind, expiresAt, ttlDays, seq, createdSeq } = head;
  return { id, kind, status: "expired", goneAt: expiresAt ?? 0, ttlDays, seq, createdSeq, writeId: "" };
}

/** Whether a record only tells that a time to live has ended: its end has no number yet, and a clock that is set back undoes it. */
export function isUnburied({ writeId }: Head | Tombstone): boolean {
  return writeId === "";
}

const DAY_MS = 86_400_000;

/** When a time to live that begins now ends. */
export function expiryOf(ttlDays: number | undefined, now: number): number | undefined {
  return ttlDays === undefined ? undefined : now + Math.round(ttlDays * DAY_MS);
}
