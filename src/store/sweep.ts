/**
 * Removes what has expired, and what of the past is older than it may be.
 *
 * @module
 */

import { isTombstone } from "../backends/records.ts";
import { VersionPruned } from "../document/errors.ts";
import { encodeKeyframe } from "../document/keyframe.ts";
import type { Settings } from "./options.ts";
import type { Reader } from "./reader.ts";
import { isYoung, oldestByAgeAndBytes } from "./retention.ts";

/** How many records a backend is asked to remove at a time, so that others can write between. */
const CHUNK = 256;

/** Sweeps one user, or all. Answers how many records were removed or trimmed. */
export async function sweep(
  reader: Reader,
  user: string | undefined,
  retention: Settings["retention"],
): Promise<number> {
  let removed = 0;
  for (;;) {
    const swept = await reader.backend.sweep(user, CHUNK);
    removed += swept;
    if (swept === 0) break;
  }
  if (retention.days === Infinity) return removed;
  for await (const each of user === undefined ? reader.backend.users() : [user]) {
    removed += await trimAll(reader, each, retention);
  }
  return removed;
}

/** A document that nobody writes to any more is trimmed by age here. */
async function trimAll(reader: Reader, user: string, retention: Settings["retention"]): Promise<number> {
  let trimmed = 0;
  let from: number | undefined = Number.MAX_SAFE_INTEGER;
  while (from !== undefined) {
    const page = await reader.backend.list(user, { direction: "down", from, limit: CHUNK, tombstones: false });
    for (const head of page.documents) {
      const now = Date.now();
      if (isTombstone(head) || head.oldest === head.version || isYoung(head, now, retention)) continue;
      const key = { user, id: head.id };
      const oldest = await oldestByAgeAndBytes(reader.backend, key, head, now, retention);
      if (oldest > head.oldest && await trim(reader, key, oldest)) trimmed++;
    }
    from = page.next;
  }
  return trimmed;
}

async function trim(
  reader: Reader,
  key: { readonly user: string; readonly id: string },
  oldest: number,
): Promise<boolean> {
  try {
    const { folded } = await reader.version(key, { as: "version", version: oldest });
    await reader.backend.trim(key, folded, encodeKeyframe(folded));
    return true;
  } catch (error) {
    if (error instanceof VersionPruned) return false; // another process was faster
    throw error;
  }
}
