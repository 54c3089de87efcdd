/**
 * Writes a store out, whole or one user of it: see `format.ts` for what comes.
 *
 * @module
 */

import type { Maintenance } from "../backends/maintenance.ts";
import type { DocumentKey } from "../backends/records.ts";
import { documentLines, endLine, headerLine, tombstoneLine, unreadableLine } from "./format.ts";
import { type Reading, readPortable } from "./portable.ts";

/** What of a store to write out, and whom to tell what could not be. */
export interface ExportOptions {
  /** Only the documents of this user. Absent: of all. */
  readonly user?: string;
  /** Told of each document that cannot be read; the export says so in its place, and goes on. */
  readonly onUnreadable?: (key: DocumentKey, problem: string) => void;
  /** Ends it before the next document, with its reason. */
  readonly signal?: AbortSignal;
}

/**
 * The lines of an export, without line ends: every document with its whole past, and what is left of those that ended.
 *
 * The store may be written meanwhile: each document comes out as it was at one moment. One at a time is held in memory.
 *
 * @throws {BackendError} if the engine fails. What came before lacks its end line then.
 */
export async function* exportStore(source: Maintenance, options: ExportOptions = {}): AsyncGenerator<string> {
  const counts = { documents: 0, tombstones: 0, unreadable: 0 };
  yield headerLine(Date.now());
  for await (const user of options.user === undefined ? source.users() : [options.user]) {
    const seen = new Set<string>();
    for await (const record of source.documents(user)) {
      if (seen.has(record.id)) continue; // written meanwhile, so it came again
      options.signal?.throwIfAborted();
      seen.add(record.id);
      const key = { user, id: record.id };
      const { kind, lines, problem } = toLines(key, await readPortable(source, key, record));
      if (kind !== undefined) counts[kind]++;
      if (problem !== undefined) options.onUnreadable?.(key, problem);
      yield* lines;
    }
  }
  yield endLine(counts);
}

interface Written {
  readonly lines: readonly string[];
  readonly kind?: "documents" | "tombstones" | "unreadable";
  readonly problem?: string;
}

function toLines({ user, id }: DocumentKey, reading: Reading): Written {
  try {
    switch (reading.outcome) {
      case "document":
        return { kind: "documents", lines: documentLines(user, reading.document) };
      case "ended":
        return { kind: "tombstones", lines: [tombstoneLine(user, reading.tombstone)] };
      case "absent":
        return { lines: [] };
      case "unreadable":
        return unreadable(user, id, reading.problem);
    }
  } catch (error) {
    if (error instanceof RangeError) return unreadable(user, id, "A time in its record is none.");
    throw error;
  }
}

function unreadable(user: string, id: string, problem: string): Written {
  return { kind: "unreadable", lines: [unreadableLine(user, id, problem)], problem };
}
