/**
 * What a store keeps beside a journal, made anew from the journal.
 *
 * @module
 */

import type { Derived, Maintenance } from "../backends/maintenance.ts";
import type { DocumentKey, Head } from "../backends/records.ts";
import type { Entry, Keyframe } from "../document/journal.ts";
import { decodeKeyframe } from "../document/keyframe.ts";
import { relay } from "../document/relay.ts";
import { damageOf } from "./damage.ts";

/** Reads a journal, and makes anew what is derived from it; `undefined` if it is damaged itself, or is not the head's. */
export async function derive(source: Maintenance, key: DocumentKey, head: Head): Promise<Derived | undefined> {
  const entries: Entry[] = [];
  for await (const entry of source.entries(key)) {
    if ("unreadable" in entry) return undefined;
    entries.push(entry);
  }
  const last = entries[entries.length - 1];
  if (last?.version !== head.version || last.writeId !== head.writeId) return undefined;
  const [first] = entries;
  const start = first.version === 1 ? undefined : await findKeyframe(source, key, first);
  if (first.version > 1 && start === undefined) return undefined;
  try {
    const { keyframes, base, folded } = relay(entries, start);
    const turns = new Map<number, number>();
    for (const { turn, version } of entries) if (turn > 0) turns.set(turn, version);
    const offset = entries[base.version - first.version].offset;
    return {
      keyframes,
      turns: [...turns].map(([turn, version]) => ({ turn, version })),
      head: { bytes: folded.bytes, offset: last.offset, base: { ...base, offset } },
    };
  } catch (error) {
    damageOf(error);
    return undefined;
  }
}

/** The keyframe of an entry, if it can be read and belongs to it. */
async function findKeyframe(source: Maintenance, key: DocumentKey, entry: Entry): Promise<Keyframe | undefined> {
  for await (const keyframe of source.keyframes(key)) {
    if ("unreadable" in keyframe || keyframe.version !== entry.version) continue;
    return keyframe.writeId === entry.writeId && decodeKeyframe(keyframe, entry) !== undefined ? keyframe : undefined;
  }
}
