/**
 * Compares a head with the journal beside it.
 *
 * @module
 */

import type { Head } from "../backends/records.ts";
import type { Entry, Folded } from "../document/journal.ts";

/** A version as the journal gives it; not folded where that could not be done. */
export interface Seen {
  readonly entry: Entry;
  readonly folded: Folded | undefined;
  /** Whether a keyframe is kept of it. */
  readonly isKeyframe: boolean;
}

/** What a head says otherwise than its journal, each in one sentence. */
export function compareHead(
  head: Head,
  first: Entry | undefined,
  atHead: Seen | undefined,
  atBase: Seen | undefined,
): string[] {
  const problems: string[] = [];
  const compare = (what: string, said: unknown, kept: unknown) => {
    if (said !== kept) problems.push(`The head says ${said} for its ${what}, and the journal ${kept}.`);
  };
  if (head.oldest > head.version) problems.push(`Versions from ${head.oldest} are said to be kept, beyond the head.`);
  if (first !== undefined && (head.createdSeq > first.seq || head.createdAt > first.at)) {
    problems.push("The head says that the document was made after its first entry.");
  }
  if (atHead !== undefined) {
    const { entry, folded } = atHead;
    compare("write id", head.writeId, entry.writeId);
    compare("time", head.updatedAt, entry.at);
    compare("writer", head.writer, entry.writer);
    compare("sequence number", head.seq, entry.seq);
    compare("offset", head.offset, entry.offset);
    if (head.turn < entry.turn) {
      problems.push(`The head is in turn ${head.turn}, before its last entry's ${entry.turn}.`);
    }
    if (folded !== undefined) compare("bytes", head.bytes, folded.bytes);
  }
  if (head.firstTurn > head.turn || (head.firstTurn === 0) !== (head.turn === 0)) {
    problems.push(`The head says turn ${head.firstTurn} for the first, and is in turn ${head.turn}.`);
  }
  if (atBase === undefined) {
    if (atHead !== undefined) {
      problems.push(`Reading is said to start at version ${head.base.version}, which is not kept.`);
    }
  } else {
    if (head.base.version > 1 && !atBase.isKeyframe) {
      problems.push(`Reading is said to start at version ${head.base.version}, and no keyframe is kept there.`);
    }
    compare("base's offset", head.base.offset, atBase.entry.offset);
    if (atBase.folded !== undefined) compare("base's bytes", head.base.bytes, atBase.folded.bytes);
  }
  return problems;
}
