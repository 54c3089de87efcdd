/**
 * The port: what a store asks of an engine. Three engines keep it: SQLite, Redis and Deno KV.
 *
 * ## What a backend must do in one step
 *
 * `create`, `append`, `touch`, `remove` and `trim` each are **one atomic step**: all of it or nothing, whatever other
 * processes do and wherever this one is killed. Inside the step the backend
 *
 * 1. recognises a write that was sent twice by its write ids;
 * 2. looks up the request ids it was given; a known one is answered with its record, and nothing else happens;
 * 3. looks at the head: absent, gone, or past due by **its own clock** (then it turns it into a tombstone), and makes every
 *    other check (version and write id, turn, quota);
 * 4. only then writes, and assigns what nobody can know before: `at` (its clock, never before the head's), `turn`
 *    (never before the head's) and `seq` (the user's next).
 *
 * Checks come before writes because a Redis script does not roll back. Stamps are separate from bodies because only the
 * step knows the time, and bodies stay opaque bytes. A batch holds at most {@link MAX_BATCH} entries, so that a step of
 * Deno KV (1,000 mutations, 800 KiB) can hold it; larger bodies are staged before. All records of one user can share a
 * Redis hash tag: no method looks at two users, but for `sweep` without one.
 *
 * A write that a client library sends twice has one effect. If the version it would make already carries its write id, it
 * is answered as appended; if the tombstone does, as removed. A creation is also recognised when what it made has ended: its
 * write id is kept with the tombstone. Only then are the request ids looked up: they would tell less.
 *
 * Losing a race, meeting a tombstone, a full quota are **answers**. A rejection is always a `BackendError`, with
 * `outcomeUnknown` where a write may have landed.
 *
 * @module
 */

import type { Entry, Keyframe, Stamp } from "../document/journal.ts";
import type { DocumentKey, Head, RequestDraft, RequestRecord, Tombstone } from "./records.ts";

export type { Base, Entry, Keyframe, Stamp } from "../document/journal.ts";
export type { DocumentKey, Head, RequestDraft, RequestRecord, Tombstone };

/** A version that a caller already holds, folded. */
export interface Held {
  /** Its version. */
  readonly version: number;
  /** The write id of that version. */
  readonly writeId: string;
  /** The head as it was when that was current, if the caller has it: a distant engine need not tell again what is still so. */
  readonly head?: Head;
}

/** What a writer builds upon. */
export interface Expected extends Held {
  /** The turn that the head is in. */
  readonly turn: number;
}

/** Which version is wanted. */
export type Want =
  | { readonly as: "head" }
  | { readonly as: "version"; readonly version: number }
  /** The last version whose turn is this or less. */
  | { readonly as: "turn"; readonly turn: number }
  /** The last version not written after this time. */
  | { readonly as: "time"; readonly at: number };

/** The document was found. What was wanted may still not be there: that is for the reader of `target` to say. */
export interface Found {
  /** Which answer this is. */
  readonly outcome: "found";
  /** The head. */
  readonly head: Head;
  /**
   * The stamp of the version that was wanted; `"held"` if that is just what the caller holds; absent if there is no such
   * entry, be it pruned or never written.
   */
  readonly target?: Stamp | "held";
  /**
   * What to fold `entries` onto to get the target: what the caller holds (if that is still part of this journal and saves
   * bytes), a keyframe (`entries` then starts behind it, or with its own entry if that holds the state), or nothing (then at 1).
   */
  readonly onto: "held" | "nothing" | Keyframe;
  /** Ascending. A gap means that a pruning went on meanwhile. */
  readonly entries: readonly Entry[];
}

/** Nothing is known of such a document: it never was, or its tombstone is gone too. */
export interface Absent {
  /** Which answer this is. */
  readonly outcome: "absent";
}

/** The document was deleted or has expired. */
export interface Gone {
  /** Which answer this is. */
  readonly outcome: "gone";
  /** What is left of it. */
  readonly tombstone: Tombstone;
}

/** Somebody else was faster. Nothing was written. `found` leads from what was expected to the head, if it can. */
export interface Lost {
  /** Which answer this is. */
  readonly outcome: "lost";
  /** The document as it is. */
  readonly found: Found;
}

/** One of the request ids was seen before. Nothing was written. */
export interface Replayed {
  /** Which answer this is. */
  readonly outcome: "replayed";
  /** What is remembered of it. */
  readonly record: RequestRecord;
}

/** An entry before its step. */
export interface EntryDraft {
  /** {@link Stamp.writeId}. */
  readonly writeId: string;
  /** {@link Stamp.writer}. */
  readonly writer: string;
  /** {@link Entry.body}. */
  readonly body: string;
  /** {@link Stamp.offset}. */
  readonly offset: number;
  /** The turn that the writer names, if it names one. An older one than the head's is filed under the head's. */
  readonly turn?: number;
  /** A new title; absent keeps what is set. */
  readonly title?: string;
  /** A new time to live from now, `null` for none; absent keeps what is set. */
  readonly ttlDays?: number | null;
}

/** One operation of an {@link Append}: an entry, or a request that needed none. */
export interface Step {
  /** The entry; absent where nothing changes. */
  readonly entry?: EntryDraft;
  /** What to remember of the request, if it has an id. */
  readonly request?: RequestDraft;
}

/** Consecutive entries for one document, at most {@link MAX_BATCH}. */
export interface Append {
  /** At least one, in order. */
  readonly steps: readonly Step[];
  /** Bytes of the state after the last of them. */
  readonly bytes: number;
  /** The oldest version to retain from now on; a head that is further stays there. */
  readonly oldest: number;
  /** If it is due: the keyframe of the last entry. Older bytes may now go: all before the newest keyframe at or before `oldest`. */
  readonly keyframe?: Keyframe;
}

/** All of it was written. `stamps` are those of the entries, in order. */
export interface Appended {
  /** Which answer this is. */
  readonly outcome: "appended";
  /** The head. */
  readonly head: Head;
  /** One per entry. */
  readonly stamps: readonly Stamp[];
}

/** A document before its step. */
export interface Creation {
  /** What sort of document it is. */
  readonly kind: string;
  /** Version 1. */
  readonly entry: EntryDraft;
  /** Bytes of the state. */
  readonly bytes: number;
  /** What to remember of the request, if it has an id. */
  readonly request?: RequestDraft;
  /** How many live documents the user may hold, this one included. Past due ones do not count. */
  readonly quota: number;
}

/** The id is taken by a live document. Nothing was written. */
export interface Exists {
  /** Which answer this is. */
  readonly outcome: "exists";
  /** The document as it is. */
  readonly found: Found;
}

/** The user holds as many live documents as allowed. Nothing was written. */
export interface QuotaReached {
  /** Which answer this is. */
  readonly outcome: "quota";
  /** How many live ones there are. */
  readonly held: number;
}

/** A change of the head that is no version: neither journal nor `updatedAt` nor `seq` moves. */
export interface Touch {
  /** A new time to live from now; `null` for none; `"last"` for the one that is set, if any. */
  readonly ttlDays?: number | null | "last";
  /** A turn to advance to; one that is not ahead changes nothing. */
  readonly turn?: number;
}

/** A deletion before its step. */
export interface Removal {
  /** {@link Tombstone.writeId}. */
  readonly writeId: string;
  /** If given, only this version is deleted. */
  readonly expected?: number;
  /** What to remember of the request, if it has an id. */
  readonly request?: RequestDraft;
}

/** The document is gone now. */
export interface Removed {
  /** Which answer this is. */
  readonly outcome: "removed";
  /** Its last version. */
  readonly version: number;
}

/** Where in a journal, by one of the stamp's growing numbers: the last entry whose number is this or less (of a version: that very one). */
export type Place =
  | { readonly version: number }
  | { readonly turn: number }
  | { readonly at: number }
  | { readonly seq: number }
  | { readonly offset: number };

/** Part of a user's documents in the order of `seq`. */
export interface ListRange {
  /** `"down"`: those with a smaller `seq` than `from`, newest first. `"up"`: those with a larger one, oldest first. */
  readonly direction: "down" | "up";
  /** Exclusive. */
  readonly from: number;
  /** How many records are looked at, at most. */
  readonly limit: number;
  /** Whether to answer tombstones too. */
  readonly tombstones: boolean;
}

/** A page of heads. Unreadable records are passed over. */
export interface ListPage {
  /** In the order that was asked for. */
  readonly documents: readonly (Head | Tombstone)[];
  /** The user's sequence number now. */
  readonly seq: number;
  /** The largest sequence number of a tombstone that is no longer kept: who has seen less may have missed an end. */
  readonly forgotten: number;
  /** Where to go on; absent at the end. */
  readonly next?: number;
}

/** The head after a {@link Touch}. */
export interface Touched {
  /** Which answer this is. */
  readonly outcome: "touched";
  /** The head. */
  readonly head: Head;
}

/** Keeps journals and heads. See the module for what all methods have in common. */
export interface Backend extends AsyncDisposable {
  /** Writes version 1 of a document whose id is free (or has only a tombstone). What this very write has made, and has ended since, is gone. */
  create(key: DocumentKey, creation: Creation): Promise<Appended | Exists | Gone | QuotaReached | Replayed>;
  /**
   * The head as it is now (linearizable across processes) and what it takes to fold the version that is wanted, beginning
   * from what the caller holds where that is possible. A caller that holds it already gets no body.
   */
  read(key: DocumentKey, want: Want, held?: Held): Promise<Found | Absent | Gone>;
  /** Entries after a version (absent: the last ones), ascending, at most `limit`; `onto` and `target` mean nothing here. */
  entries(key: DocumentKey, after: number | undefined, limit: number): Promise<Found | Absent | Gone>;
  /** Appends if the head is still at what is expected: version, write id and turn. */
  append(key: DocumentKey, expected: Expected, append: Append): Promise<Appended | Lost | Absent | Gone | Replayed>;
  /** Renews, clears or sets the time to live, or advances the turn. */
  touch(key: DocumentKey, touch: Touch): Promise<Touched | Absent | Gone>;
  /** Deletes the document and leaves a tombstone. */
  remove(key: DocumentKey, removal: Removal): Promise<Removed | Lost | Absent | Gone | Replayed>;
  /** The stamp at a place of the journal, by an index or a bounded search. */
  locate(key: DocumentKey, place: Place): Promise<Stamp | undefined>;
  /** Moves `oldest` up, keeps the keyframe that makes it readable, and lets older bytes go. Does nothing to a journal that was rewound. */
  trim(key: DocumentKey, oldest: Held, keyframe: Keyframe): Promise<void>;
  /** A page of a user's documents. Past due ones are answered as tombstones, or not at all. */
  list(user: string, range: ListRange): Promise<ListPage>;
  /** What is remembered of a request id. */
  findRequest(user: string, id: string): Promise<RequestRecord | undefined>;
  /** Every user that has documents or tombstones, in no order, one perhaps twice. Who comes or goes meanwhile may or may not be met. */
  users(): AsyncIterable<string>;
  /** Turns past due documents into tombstones and removes old tombstones, request ids and orphans; of one user, or of all. Answers how many, at most about `limit`. */
  sweep(user: string | undefined, limit: number): Promise<number>;
  /**
   * Calls `notify` whenever something of the user may have taken a sequence number, in whatever process; now and then in
   * vain, and also whenever something may have been missed (a connection that was cut and is back). Ends when disposed; an
   * open one does not keep the process alive once the backend is disposed of.
   */
  subscribe(user: string, notify: () => void): Promise<AsyncDisposable>;
  /** Removes everything of a user: documents, history, tombstones, request ids and the sequence. Answers how many documents. */
  purge(user: string): Promise<number>;
}
