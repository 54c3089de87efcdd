/**
 * What can change of a head without a version, together with the write id, which tells all the rest: whoever finds that as
 * it was needs to be told nothing of it.
 *
 * @module
 */

import type { Head } from "../backend.ts";

/** The fields, in their order. */
export const KNOWN_FIELDS = ["writeId", "turn", "expiresAt", "ttlDays", "oldest", "baseVersion"] as const;

/** Their values as one text; `undefined` where they do not tell the rest: a first turn that is still to be found out. */
export function toKnown({ writeId, turn, firstTurn, expiresAt, ttlDays, oldest, base }: Head): string | undefined {
  if ((firstTurn === 0) !== (turn === 0)) return undefined;
  return `${writeId} ${turn} ${expiresAt ?? "-"} ${ttlDays ?? "-"} ${oldest} ${base.version}`;
}

/** The same of the fields as Redis answers them. */
export function joinKnown(reply: unknown): string | undefined {
  return Array.isArray(reply) ? reply.map((value) => value ?? "-").join(" ") : undefined;
}
