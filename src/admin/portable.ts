/**
 * Reads one document whole from a store, in a form that can go to another.
 *
 * @module
 */

import type { DocumentRecord, Maintenance } from "../backends/maintenance.ts";
import { type DocumentKey, type Head, isTombstone, type Tombstone } from "../backends/records.ts";
import { decodeBody, EMPTY, type Entry, fold, type Folded, type Keyframe } from "../document/journal.ts";
import { decodeKeyframe, encodeKeyframe } from "../document/keyframe.ts";
import { damageOf } from "./damage.ts";
import type { Portable } from "./format.ts";

/** How often a document that is written meanwhile is read again. */
const ATTEMPTS = 10;

/** What there is to say of a document. */
export type Reading =
  | { readonly outcome: "document"; readonly document: Portable }
  | { readonly outcome: "ended"; readonly tombstone: Tombstone }
  | { readonly outcome: "unreadable"; readonly problem: string }
  | { readonly outcome: "absent" };

/** Reads a document as of `record` or later, whole. It may be written and pruned meanwhile. */
export async function readPortable(
  source: Maintenance,
  key: DocumentKey,
  record: DocumentRecord,
): Promise<Reading> {
  for (let attempt = 1;; attempt++) {
    if ("unreadable" in record) return { outcome: "unreadable", problem: `Its record ${record.unreadable}.` };
    if (isTombstone(record)) return { outcome: "ended", tombstone: record };
    const document = await readJournal(source, key, record);
    if (typeof document !== "string") return { outcome: "document", document };
    const now = await source.document(key);
    if (now === undefined) return { outcome: "absent" };
    if (isSame(record, now)) return { outcome: "unreadable", problem: document };
    if (attempt === ATTEMPTS) {
      return {
        outcome: "unreadable",
        problem: "It was written and pruned all the time: export it again when it is quiet.",
      };
    }
    record = now;
  }
}

/** Whether nothing was written to a document between two looks at it. */
export function isSame(before: DocumentRecord, now: DocumentRecord | undefined): boolean {
  return JSON.stringify(before) === JSON.stringify(now);
}

/** The document, or what is wrong with it, in one sentence. */
async function readJournal(source: Maintenance, key: DocumentKey, head: Head): Promise<Portable | string> {
  const start = head.oldest > 1 ? await findStart(source, key, head.oldest) : undefined;
  const from = start?.version ?? 1;
  const entries: Entry[] = [];
  for await (const entry of source.entries(key)) {
    if ("unreadable" in entry) {
      if (entry.version !== undefined && entry.version < from) continue;
      return `Its entry ${entry.version ?? ""} ${entry.unreadable}.`.replace("  ", " ");
    }
    if (entry.version < from) continue;
    if (entry.version > head.version) break; // written since the head was read
    if (entry.version !== from + entries.length) return `Its entry ${from + entries.length} is missing.`;
    entries.push(entry);
  }
  if (entries.length === 0) return `Its entry ${from} is missing.`;
  let folded: Folded;
  try {
    decodeBody(entries[0].body); // where a keyframe stands for it, nothing else looks into it
    folded = fold(start ?? EMPTY, start === undefined ? entries : entries.slice(1));
  } catch (error) {
    return `Its journal is damaged: ${damageOf(error)}.`;
  }
  if (folded.version !== head.version) return `Its entry ${folded.version + 1} is missing.`;
  const last = entries[entries.length - 1];
  if (last.writeId !== head.writeId || start !== undefined && entries[0].writeId !== start.writeId) {
    return "Its journal does not belong to its head: their write ids differ.";
  }
  // The size is derived, so a wrong one needs not go along.
  return { head: { ...head, bytes: folded.bytes }, keyframe: start && encodeKeyframe(start), entries, folded };
}

/** The newest version at or before one that a readable keyframe gives: all that is older is on its way out. */
async function findStart(source: Maintenance, key: DocumentKey, oldest: number): Promise<Folded | undefined> {
  const keyframes = new Map<number, Keyframe>();
  for await (const keyframe of source.keyframes(key)) {
    if ("unreadable" in keyframe) continue;
    if (keyframe.version > oldest) break;
    keyframes.set(keyframe.version, keyframe);
  }
  let start: Folded | undefined;
  for await (const entry of source.entries(key)) {
    if ("unreadable" in entry) continue;
    if (entry.version > oldest) break;
    const keyframe = keyframes.get(entry.version);
    if (keyframe !== undefined) start = decodeKeyframe(keyframe, entry) ?? start;
  }
  return start;
}
