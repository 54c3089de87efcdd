/**
 * A journal that comes from elsewhere, laid anew: offsets counted from its start, keyframes where they are due here.
 *
 * @module
 */

import {
  type Base,
  EMPTY,
  type Entry,
  entryBytes,
  fold,
  type Folded,
  isKeyframeDue,
  type Keyframe,
  type PortableEntry,
} from "./journal.ts";
import { decodeKeyframe, encodeKeyframe } from "./keyframe.ts";

/** A journal as a store keeps it, but for the sequence numbers. */
export interface Relaid {
  /** The entries, each with its offset. */
  readonly entries: readonly Omit<Entry, "seq">[];
  /** Ascending; the first is the one that the entries begin at, if they begin at one. */
  readonly keyframes: readonly Keyframe[];
  /** Where reading the last version starts. */
  readonly base: Base;
  /** The last version. */
  readonly folded: Folded;
}

/**
 * Lays a journal anew, so that reading any of its versions stays as cheap as if all had been written here.
 *
 * @param entries At least one: from version 1, or from the version of `keyframe`, that entry included.
 * @param oldest The oldest version to be kept: what comes before the newest keyframe at or before it is left out.
 * @throws {TypeError} if an entry is missing, or does not fit what is before it, or the keyframe is damaged.
 */
export function relay(entries: readonly PortableEntry[], keyframe?: Keyframe, oldest = 1): Relaid {
  let folded = keyframe === undefined ? EMPTY : decodeKeyframe(keyframe, entries[0]);
  if (folded === undefined) throw new TypeError(`the keyframe of version ${keyframe?.version} cannot be read`);
  const laid: Omit<Entry, "seq">[] = [];
  const keyframes: Keyframe[] = [];
  let base: Base | undefined;
  let offset = 0;
  for (const entry of entries) {
    offset += entryBytes(entry.body);
    laid.push({ ...entry, offset });
    if (base === undefined && keyframe !== undefined) {
      if (entry.version !== keyframe.version || entry.writeId !== keyframe.writeId) {
        throw new TypeError(`the entries do not begin at version ${keyframe.version}, where the keyframe is`);
      }
      keyframes.push(keyframe);
      base = { version: entry.version, bytes: folded.bytes, offset };
      continue;
    }
    folded = fold(folded, [entry]);
    if (base === undefined) base = { version: entry.version, bytes: folded.bytes, offset };
    else if (isKeyframeDue(base, offset, folded.bytes)) {
      keyframes.push(encodeKeyframe(folded, entry.body));
      base = { version: entry.version, bytes: folded.bytes, offset };
    }
  }
  if (base === undefined) throw new TypeError("a journal has at least one entry");
  const from = keyframes.findLast(({ version }) => version <= oldest)?.version ?? 0;
  const isKept = ({ version }: { readonly version: number }) => version >= from;
  return { entries: laid.filter(isKept), keyframes: keyframes.filter(isKept), base, folded };
}
