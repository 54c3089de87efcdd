/**
 * Looks a store over, and says what is wrong with it. Changes nothing.
 *
 * @module
 */

import type { DocumentRecord, Maintenance, Remedy } from "../backends/maintenance.ts";
import { type DocumentKey, type Head, isTombstone } from "../backends/records.ts";
import { derive } from "./derive.ts";
import { examine } from "./examine.ts";
import { isSame } from "./portable.ts";

/** Something that is wrong. */
export interface Finding {
  /** Whose it is; absent if it is nobody's. */
  readonly user?: string;
  /** The document; absent if it is about no single one. */
  readonly id?: string;
  /** What is wrong, in one sentence. */
  readonly problem: string;
  /** What puts it right without losing anything; absent where nothing does. See {@link repairStore}. */
  readonly remedy?: Remedy;
}

/** What to look at. */
export interface CheckOptions {
  /** Only the documents of this user. Absent: of all, and what belongs to nobody. */
  readonly user?: string;
  /** Told of each document once it has been looked at. */
  readonly onChecked?: (key: DocumentKey) => void;
  /** Ends it before the next document, with its reason. */
  readonly signal?: AbortSignal;
}

/** How often a document that is written meanwhile is looked at again. */
const ATTEMPTS = 8;

/**
 * Folds every journal and compares it with what is kept beside it. The store may be written meanwhile: what is found of a
 * document counts only if it stood still.
 *
 * @throws {BackendError} if the engine fails.
 */
export async function* checkStore(source: Maintenance, options: CheckOptions = {}): AsyncGenerator<Finding> {
  for await (const user of options.user === undefined ? source.users() : [options.user]) {
    const seen = new Set<string>();
    for await (const record of source.documents(user)) {
      if (seen.has(record.id)) continue; // written meanwhile, so it came again
      options.signal?.throwIfAborted();
      seen.add(record.id);
      const key = { user, id: record.id };
      yield* await checkDocument(source, key, record);
      options.onChecked?.(key);
    }
  }
  for await (const fault of source.faults()) {
    if (options.user === undefined || options.user === fault.user) yield fault;
  }
}

async function checkDocument(
  source: Maintenance,
  key: DocumentKey,
  first: DocumentRecord,
): Promise<readonly Finding[]> {
  let record: DocumentRecord | undefined = first;
  for (let attempt = 1; record !== undefined && attempt <= ATTEMPTS; attempt++) {
    const problems: readonly string[] = await checkRecord(source, key, record);
    if (problems.length === 0) return [];
    const now: DocumentRecord | undefined = await source.document(key);
    if (isSame(record, now)) return await withRemedy(source, key, record, problems);
    record = now;
    await new Promise((resolve) => setTimeout(resolve, 2 ** attempt));
  }
  if (record === undefined) return [];
  return [{ ...key, problem: "It was written all the time, and could not be checked: check again later." }];
}

/** What is wrong with a document, and what puts it right if its journal is sound. */
async function withRemedy(
  source: Maintenance,
  key: DocumentKey,
  record: DocumentRecord,
  problems: readonly string[],
): Promise<readonly Finding[]> {
  const isLive = !("unreadable" in record) && !isTombstone(record);
  const isSound = isLive && await derive(source, key, record) !== undefined;
  const remedy = isSound ? toRemedy(source, key, record) : undefined;
  return problems.map((problem) => ({ ...key, problem, ...(remedy === undefined ? {} : { remedy }) }));
}

function toRemedy(source: Maintenance, key: DocumentKey, head: Head): Remedy {
  return {
    does: "make keyframes, the index of turns and what the head says of sizes anew from the journal",
    apply: async () => {
      const derived = await derive(source, key, head);
      if (derived !== undefined) await source.rebuild(key, head, derived);
    },
  };
}

async function checkRecord(source: Maintenance, key: DocumentKey, record: DocumentRecord): Promise<readonly string[]> {
  if ("unreadable" in record) return [`The record of the document ${record.unreadable}.`];
  if (!isTombstone(record)) return await examine(source, key, record);
  for await (const _ of source.entries(key)) return [`It is ${record.status}, and entries of it are still kept.`];
  for await (const _ of source.keyframes(key)) return [`It is ${record.status}, and a keyframe of it is still kept.`];
  for await (const _ of source.turns(key)) return [`It is ${record.status}, and its index of turns is still kept.`];
  return [];
}
