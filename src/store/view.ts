/**
 * A version with what its keys have been through.
 *
 * @module
 */

import type { DocumentKey, Want } from "../backends/backend.ts";
import type { KeyHistory } from "../document/key_writes.ts";
import type { Snapshot } from "../document/snapshot.ts";
import type { Reader } from "./reader.ts";
import { toSnapshot } from "./snapshots.ts";

/** A version of a document, and what its keys have been through. */
export interface HandleView {
  /** The version. */
  readonly snapshot: Snapshot;
  /** How often each key was written up to that version. */
  readonly keys: KeyHistory;
  /** The newest version, its turn (0 if none was ever named), and how often each key was written up to it. */
  readonly now: { readonly version: number; readonly turn: number; readonly keys: KeyHistory };
  /** The first turn that was named; 0 if none ever was. Before it there was no document, or none with turns. */
  readonly firstTurn: number;
  /** The oldest version that can be read, and its turn. */
  readonly oldest: { readonly version: number; readonly turn: number };
}

/** Reads a version, and the newest one too where that is another; `undefined` where nothing is known of the document. */
export async function readView(reader: Reader, key: DocumentKey, want: Want): Promise<HandleView | undefined> {
  const found = await reader.find(key, want);
  if (found === undefined) return undefined;
  const { head, folded, stamp } = found;
  const now = folded.version === head.version ? { head, folded } : await reader.current(key);
  const oldest = head.oldest === 1 ? undefined : await reader.backend.locate(key, { version: head.oldest });
  return {
    snapshot: toSnapshot(head, folded, stamp),
    keys: folded.keys,
    now: { version: now.head.version, turn: now.head.turn, keys: now.folded.keys },
    firstTurn: head.firstTurn,
    oldest: { version: head.oldest, turn: oldest?.turn ?? head.firstTurn },
  };
}
