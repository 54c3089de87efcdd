/**
 * The port for those who look after a store: export, import, migration and the doctor. No server path uses it.
 *
 * Everything goes as it is kept: original times, write ids and turns. Sequence numbers, offsets and keyframes are each
 * store's own, and are made anew where a journal is adopted.
 *
 * The iterations never hold a store whole, nor a lock while their caller is busy: they fetch some records at a time, in
 * the order of a key. What is written meanwhile may or may not be met. A rejection is always a `BackendError`: the engine
 * failed. One record that cannot be read is an answer, and the others follow.
 *
 * @module
 */

import type { Entry, Keyframe, PortableEntry } from "../document/journal.ts";
import type { DocumentKey, Head, Tombstone } from "./records.ts";

/** What of a head goes from one store to another. */
export type PortableHead = Omit<Head, "seq" | "createdSeq" | "offset" | "base">;
/** What of a tombstone goes from one store to another. */
export type PortableTombstone = Omit<Tombstone, "seq" | "createdSeq" | "writeId">;

/** A whole journal on its way from one store to another. */
export interface Adoption {
  /** The head as it was. */
  readonly head: PortableHead;
  /** The keyframe that `entries` begin at; absent if they begin with version 1. */
  readonly keyframe?: Keyframe;
  /** Every entry from version 1, or from the keyframe's version (included, for its stamp), to the head's: ascending, without gaps. */
  readonly entries: readonly PortableEntry[];
}

/** A record that is there and cannot be read. */
export interface Unreadable {
  /** What is wrong with it, as the end of a sentence that begins with what it is: `is damaged (status)`. */
  readonly unreadable: string;
  /** Of which version it is, if that much is known. */
  readonly version?: number;
}

/** A head or tombstone that is there and cannot be read. */
export interface UnreadableDocument extends Unreadable {
  /** The document. */
  readonly id: string;
}

/** What a store keeps of a document beside its journal. */
export type DocumentRecord = Head | Tombstone | UnreadableDocument;

/** A row of the index of turns. */
export interface TurnEnd {
  /** The turn. */
  readonly turn: number;
  /** The last version that was written in it. */
  readonly version: number;
}

/** Something wrong in the engine's own bookkeeping, which no single journal shows. */
export interface Fault {
  /** Whose it is, if it is somebody's. */
  readonly user?: string;
  /** The document, if it is about one. */
  readonly id?: string;
  /** What is wrong, in one sentence. */
  readonly problem: string;
  /** What puts it right; absent where that might lose something, or nothing can. */
  readonly remedy?: Remedy;
}

/** What puts something right without losing anything: it makes anew what can be told from elsewhere, or removes what leads nowhere. */
export interface Remedy {
  /** What it does, as the rest of a sentence: `count the documents anew`. */
  readonly does: string;
  /** Does it, in one step that looks again first: what is right meanwhile stays as it is. */
  apply(): Promise<void>;
}

/** What a store keeps of a journal so that reading it is cheap: all of it can be made anew from the journal. */
export interface Derived {
  /** Every keyframe that there is to be, ascending. */
  readonly keyframes: readonly Keyframe[];
  /** The whole index of turns, ascending. */
  readonly turns: readonly TurnEnd[];
  /** What the head says of the journal. */
  readonly head: Pick<Head, "bytes" | "offset" | "base">;
}

/** How many records an iteration fetches at a time; of entries and keyframes each may be as large as a state. */
export const PAGES = { heads: 100, bodies: 16, turns: 500 } as const;

/** Reads a store whole, and takes whole journals in. */
export interface Maintenance extends AsyncDisposable {
  /** Every user that has documents or tombstones, in some fixed order. */
  users(): AsyncIterable<string>;
  /**
   * Every document of a user in the order of `seq`, so that adopting them in turn keeps the order of lists: live ones and
   * tombstones, past due ones as they are kept. One that is written meanwhile may come again.
   */
  documents(user: string): AsyncIterable<DocumentRecord>;
  /** The same of one document, past due or not; `undefined` if nothing is known of it. */
  document(key: DocumentKey): Promise<DocumentRecord | undefined>;
  /** Every entry of a document that is kept, ascending: from `oldest` or earlier, unchecked. Of one that ended there should be none. */
  entries(key: DocumentKey): AsyncIterable<Entry | Unreadable>;
  /** Every keyframe of a document that is kept, ascending and undecoded. */
  keyframes(key: DocumentKey): AsyncIterable<Keyframe | Unreadable>;
  /** The index of a document's turns, ascending and unchecked. */
  turns(key: DocumentKey): AsyncIterable<TurnEnd | Unreadable>;
  /**
   * Takes a document in, visible in one step: a journal with its original times, ids, turns and expiry (past due ones too,
   * and beyond any quota), or what is left of one that ended, for as long as tombstones are kept. It takes sequence numbers
   * beyond all that the user has, one per entry without gaps, and counts among the user's live documents. A document that is
   * there already is left as it is, and so is a tombstone: what was deleted does not come back. What a caller that was killed
   * has staged of a large one is seen by nobody, and removed by a sweep or by itself.
   *
   * @throws {TypeError} if the journal is not whole; nothing was changed then.
   */
  adopt(key: DocumentKey, what: Adoption | PortableTombstone): Promise<"adopted" | "exists">;
  /**
   * Puts what is derived from a journal in the place of what is kept of that, if the head is still at `expected`. Keyframes go
   * one by one, the rest in one step; whoever reads meanwhile can. Answers whether the head was there.
   */
  rebuild(key: DocumentKey, expected: Pick<Head, "version" | "writeId">, derived: Derived): Promise<boolean>;
  /** What is wrong in the engine's own records: counters, indices, what belongs to no document. */
  faults(): AsyncIterable<Fault>;
}
