/**
 * Renews a document, or advances its turn, without a version.
 *
 * @module
 */

import type { DocumentKey } from "../backends/backend.ts";
import type { Snapshot } from "../document/snapshot.ts";
import { checkTtlChange, checkTurnJump, checkWriteTurn } from "../document/checks.ts";
import type { TouchOptions } from "./options.ts";
import type { Reader } from "./reader.ts";
import { toSnapshot } from "./snapshots.ts";

/** The document as it is afterwards. */
export async function touch(reader: Reader, key: DocumentKey, options: TouchOptions): Promise<Snapshot> {
  const turn = checkWriteTurn(options.turn);
  const ttlDays = checkTtlChange(options.ttlDays) ??
    (options.ttlDays === null ? null : turn === undefined ? "last" : undefined);
  if (turn !== undefined) checkTurnJump((await reader.current(key)).head.turn, turn);
  const answer = await reader.backend.touch(key, { ttlDays, turn });
  if (answer.outcome !== "touched") throw await reader.gone(key, answer, true);
  const { folded, stamp } = await reader.current(key);
  return toSnapshot(answer.head, folded, stamp);
}
