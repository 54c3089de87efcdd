/**
 * Takes an export in: each document as a whole, once it has come whole and passed every rule.
 *
 * @module
 */

import type { Maintenance } from "../backends/maintenance.ts";
import { DEFAULT_MAX_STATE_BYTES } from "../document/admit.ts";
import { InvalidInput } from "../document/errors.ts";
import { Importer } from "./importer.ts";
import { checkHeader } from "./parse.ts";

/** How to take an export in. */
export interface ImportOptions {
  /** Whether to judge only, and write nothing. Default `false`. */
  readonly dryRun?: boolean;
  /** The largest state that is let in, as UTF-8 bytes of compact JSON. Default 1 MiB. Older versions may be larger. */
  readonly maxStateBytes?: number;
  /** Told after each document how far it is. */
  readonly onProgress?: (progress: ImportProgress) => void;
  /** Ends it before the next line, with its reason. Documents are in or not; it is taken up by running it again. */
  readonly signal?: AbortSignal;
}

/** How far an import is. */
export interface ImportProgress {
  /** The line that was read last, from 1. */
  readonly line: number;
  /** Documents taken in so far; in a dry run, those that would be. */
  readonly adopted: number;
  /** What was there already so far. */
  readonly existing: number;
  /** How many were refused so far. */
  readonly refused: number;
}

/** A document that was not taken in. */
export interface Refusal {
  /** Whose it is, if the line could be read. */
  readonly user?: string;
  /** Its handle, if the line could be read. */
  readonly id?: string;
  /** The line at fault, from 1. */
  readonly line: number;
  /** What is wrong with it. */
  readonly reason: string;
}

/** What came of an import. */
export interface ImportReport {
  /** Documents taken in; in a dry run, those that would be. */
  readonly adopted: number;
  /** Those that are there already, live. They were left as they are. */
  readonly existing: number;
  /** Those that were deleted or have expired where they were to go. An import brings nothing back. */
  readonly ended: number;
  /** What is left of ended documents taken in, so that asking for one says how it ended. */
  readonly tombstones: number;
  /** What was not taken in, in the order of the lines. */
  readonly refused: readonly Refusal[];
  /** Whether the export was whole: it has its last line, and as many documents as that says. */
  readonly isComplete: boolean;
}

/**
 * Takes in what {@link exportStore} wrote. Each document lands in one step, so an import that was cut off is taken up by
 * running it again: what is there already is passed over. A document at fault is refused, and the others go on.
 *
 * @param lines Without line ends.
 * @throws {InvalidInput} if the first line is not the header of an export in a format that is read here.
 * @throws {BackendError} if the engine fails. What was taken in before stays.
 */
export async function importLines(
  lines: AsyncIterable<string>,
  target: Maintenance,
  options: ImportOptions = {},
): Promise<ImportReport> {
  const { dryRun = false, maxStateBytes = DEFAULT_MAX_STATE_BYTES, onProgress = () => {}, signal } = options;
  const importer = new Importer(target, { dryRun, maxStateBytes, onProgress });
  let isEmpty = true;
  for await (const text of lines) {
    signal?.throwIfAborted();
    if (isEmpty) checkHeader(text);
    else await importer.take(text);
    isEmpty = false;
  }
  if (isEmpty) throw new InvalidInput("header", "There is nothing to import: not even a header.");
  return importer.end();
}
