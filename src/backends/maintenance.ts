/**
 * The port for those who look after a store: export, import, migration and the doctor. No server path uses it.
 *
 * Everything goes as it is kept: original times, write ids and turns. Sequence numbers, keyframes and sizes of the engine's
 * own are each engine's business, and are made anew where a journal is adopted.
 *
 * @module
 */

import type { Entry, Keyframe } from "../document/journal.ts";
import type { DocumentKey, Head, Tombstone } from "./records.ts";

/** A whole journal on its way from one store to another. */
export interface Adoption {
  /** The head as it was. `seq`, `createdSeq`, `offset` and `base` are worked out anew. */
  readonly head: Head;
  /** The keyframe that `entries` begin after; absent if they begin with version 1. */
  readonly keyframe?: Keyframe;
  /** The stamp and body of every entry from the keyframe's version (included, for its stamp) or from 1, ascending and without gaps. */
  readonly entries: readonly Entry[];
}

/** Reads a store whole, and takes whole journals in. */
export interface Maintenance extends AsyncDisposable {
  /** Every user that has documents or tombstones, in some fixed order. */
  users(): AsyncIterable<string>;
  /** Every document of a user, live or tombstone, past due ones as they are kept. A record that cannot be read is answered as its id alone. */
  documents(user: string): AsyncIterable<Head | Tombstone | UnreadableDocument>;
  /** Every entry of a document that is still kept, ascending: from `oldest` or earlier, without a check. */
  entries(key: DocumentKey): AsyncIterable<Entry>;
  /** Every keyframe of a document, ascending. */
  keyframes(key: DocumentKey): AsyncIterable<Keyframe>;
  /**
   * Takes a journal in, in one step, with its original times, ids, turns and expiry; past due ones too. A document whose id
   * is there already is left as it is.
   */
  adopt(key: DocumentKey, adoption: Adoption): Promise<"adopted" | "exists">;
}

/** A record that cannot be read. */
export interface UnreadableDocument {
  /** The document. */
  readonly id: string;
  /** What is wrong with it. */
  readonly unreadable: string;
}
