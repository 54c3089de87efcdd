/**
 * What was written after a version.
 *
 * @module
 */

import type { DocumentKey } from "../backends/backend.ts";
import { isUnburied } from "../backends/records.ts";
import { InvalidInput, VersionPruned } from "../document/errors.ts";
import type { Change } from "../document/snapshot.ts";
import { checkInteger } from "../document/checks.ts";
import type { ChangesOptions } from "./options.ts";
import { damaged } from "./damage.ts";
import { ATTEMPTS, type Reader } from "./reader.ts";
import { toChange } from "./snapshots.ts";

/** Some changes of a document. */
export interface ChangePage {
  /** Oldest first. */
  readonly changes: readonly Change[];
  /** The newest version. */
  readonly currentVersion: number;
  /** The oldest version that can still be read. */
  readonly oldestVersion: number;
  /** Whether there is more: go on with `since` as the last version answered. */
  readonly more: boolean;
}

/** @throws {VersionPruned} if what follows `since` is no longer retained whole. */
export async function readChanges(reader: Reader, key: DocumentKey, options: ChangesOptions): Promise<ChangePage> {
  const limit = checkInteger("limit", options.limit ?? 100, 1, 1000);
  const since = options.since === undefined ? undefined : checkInteger("since", options.since, 0);
  for (let attempt = 1;; attempt++) {
    const answer = await reader.backend.entries(key, since, limit);
    if (answer.outcome === "gone" && isUnburied(answer.tombstone) && attempt < ATTEMPTS) {
      await reader.backend.read(key, { as: "head" }); // buries it: what was answered stays so, whatever the clock does
      continue;
    }
    if (answer.outcome !== "found") throw await reader.gone(key, answer);
    const { head, entries } = answer;
    if (since !== undefined && since > head.version) {
      throw new InvalidInput("since", `since ${since} is ahead of the document, which is at version ${head.version}.`);
    }
    // The change that follows `since` is of use only to one who can hold the state at `since`.
    if (since !== undefined && since > 0 && since < head.oldest || since === 0 && head.oldest > 1) {
      reader.counts.prunedReads++;
      throw new VersionPruned(since, { from: head.oldest, to: head.version });
    }
    const first = since === undefined ? Math.max(head.version - limit + 1, head.oldest) : since + 1;
    const last = Math.min(first + limit - 1, head.version);
    if (entries.length === last - first + 1 && entries.every(({ version }, i) => version === first + i)) {
      const more = last < head.version;
      return { changes: entries.map(toChange), currentVersion: head.version, oldestVersion: head.oldest, more };
    }
    if (attempt === ATTEMPTS) throw damaged();
  }
}
