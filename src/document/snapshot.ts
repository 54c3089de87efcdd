/**
 * A document as it is handed to a caller: its metadata, a version of its state, a step of its past.
 *
 * @module
 */

import type { JsonObject } from "./json.ts";
import type { JsonPatch } from "./json_patch.ts";

/** What is known of a document without reading its state. All times are ISO 8601 in UTC, to the millisecond. */
export interface HandleInfo {
  /** The name that the model carries. */
  readonly handle: string;
  /** What sort of document it is, as given when it was minted. */
  readonly kind: string;
  /** What a person would call it, if it was given a title. */
  readonly title?: string;
  /** The version described here: 1, 2, 3, … */
  readonly version: number;
  /** When version 1 was written. */
  readonly createdAt: string;
  /** When this version was written. Never earlier than that of the version before. */
  readonly updatedAt: string;
  /** When the document expires; absent if it never does. */
  readonly expiresAt?: string;
  /** The time to live as last set, in days; absent if it never expires. */
  readonly ttlDays?: number;
  /** Who wrote this version. */
  readonly lastWriter: string;
  /** In a list the turn that the document is in, in a snapshot the one that the version belongs to; 0 if none was ever named. */
  readonly turn: number;
  /** UTF-8 bytes of the state as compact JSON. */
  readonly bytes: number;
}

/** One version of a document, with its state. Deep-frozen. */
export interface Snapshot<State extends JsonObject = JsonObject> extends HandleInfo {
  /** The state as of {@link HandleInfo.version}. */
  readonly state: State;
  /** The newest version at the time of reading. */
  readonly currentVersion: number;
  /** The oldest version that can still be read. */
  readonly oldestVersion: number;
  /** The turn that the document is in. */
  readonly currentTurn: number;
  /** What a write touched: JSON Pointers (RFC 6901). Absent where nothing was written. */
  readonly changed?: readonly string[];
  /** Whether this answers a request id that was seen before, with the first result. */
  readonly replayed?: true;
  /** Whether the write was joined with what others had written meanwhile. */
  readonly merged?: true;
}

/** One entry of a document's journal, as a reader sees it. */
export interface Change {
  /** The version that this change made. */
  readonly version: number;
  /** Who wrote it. */
  readonly writer: string;
  /** When, ISO 8601 in UTC. */
  readonly at: string;
  /** In which turn; 0 if none was ever named. */
  readonly turn: number;
  /** What it touched: JSON Pointers (RFC 6901), in the order of the patch. */
  readonly paths: readonly string[];
  /** The change from the version before, as a JSON Patch (RFC 6902). */
  readonly patch: JsonPatch;
}

/** Metadata in wire form: snake_case, absent values `null`. */
export type WireMetadata = {
  readonly kind: string;
  readonly title: string | null;
  readonly version: number;
  readonly created_at: string;
  readonly updated_at: string;
  readonly expires_at: string | null;
  readonly last_writer: string;
  readonly bytes: number;
};

/** The metadata of a document as it goes over the wire. */
export function toWireMetadata(info: HandleInfo): WireMetadata {
  return {
    kind: info.kind,
    title: info.title ?? null,
    version: info.version,
    created_at: info.createdAt,
    updated_at: info.updatedAt,
    expires_at: info.expiresAt ?? null,
    last_writer: info.lastWriter,
    bytes: info.bytes,
  };
}
