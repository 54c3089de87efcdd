/**
 * What of a document's past stays: by count with every write, by age and bytes now and then.
 *
 * @module
 */

import type { Backend, DocumentKey, Head } from "../backends/backend.ts";
import type { Settings } from "./options.ts";

const DAY_MS = 86_400_000;
/** Age and bytes need a look into the journal, so they are judged when a keyframe is laid and every so many versions. */
const JUDGED_EVERY = 32;

/** The oldest version to keep once `version` is written. The newest is always kept. */
export function oldestByCount(head: Head, version: number, { versions }: Settings["retention"]): number {
  return versions === Infinity ? head.oldest : Math.max(head.oldest, version - versions + 1);
}

/** Whether age and bytes are to be judged with this write. */
export function isJudgementDue(version: number, keyframe: boolean, { days, bytes }: Settings["retention"]): boolean {
  return (days !== Infinity || bytes !== Infinity) && (keyframe || version % JUDGED_EVERY === 0);
}

/** Whether all of a document is within the age that is kept, so that its journal need not be looked at. */
export function isYoung({ createdAt }: Head, now: number, { days }: Settings["retention"]): boolean {
  return now - createdAt < days * DAY_MS;
}

/** The oldest version to keep by age and bytes, as of `now`. */
export async function oldestByAgeAndBytes(
  backend: Backend,
  key: DocumentKey,
  head: Head,
  now: number,
  { days, bytes }: Settings["retention"],
): Promise<number> {
  let oldest = head.oldest;
  if (days !== Infinity) {
    // What was current `days` ago was so within them: the last version not after then stays.
    const then = await backend.locate(key, { at: now - days * DAY_MS });
    if (then !== undefined) oldest = Math.max(oldest, then.version);
  }
  if (bytes !== Infinity && head.offset > bytes) {
    const beyond = await backend.locate(key, { offset: head.offset - bytes });
    if (beyond !== undefined) oldest = Math.max(oldest, Math.min(beyond.version + 1, head.version));
  }
  return oldest;
}
