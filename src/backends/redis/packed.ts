/**
 * What changes with a write, as texts: one of the head, one of the entry, which share their end. A script that finds the
 * head's text as its caller knows it needs to read nothing else, and what is one text is sooner sent, kept and compared
 * than fifteen.
 *
 * @module
 */

import type { Stamp } from "../../document/journal.ts";
import type { Head } from "../records.ts";

/** The fields of a head that its text holds, in their order. What is absent is `-`; the last may have spaces in it. */
export const PACKED_FIELDS = [
  "updatedAt",
  "seq",
  "version",
  "expiresAt",
  "ttlDays",
  "firstTurn",
  "bytes",
  "oldest",
  "baseVersion",
  "baseBytes",
  "baseOffset",
  "turn",
  "writeId",
  "offset",
  "writer",
] as const;

/** The fields of an entry's text, in their order; the last may have spaces in it. */
export const STAMP_FIELDS = ["at", "seq", "turn", "writeId", "offset", "writer"] as const;

/** The text of a head. */
export function packHead(head: Omit<Head, "id" | "kind" | "createdAt" | "createdSeq">): string {
  const { updatedAt, seq, turn, writeId, offset, writer } = head;
  return `${updatedAt} ${seq} ${packRest(head)} ${packStamp({ turn, writeId, offset, writer })}`;
}

/** What of a head's text its writer decides and an entry has no part in: what lies between `seq` and `turn`. */
export function packRest(
  { version, expiresAt, ttlDays, firstTurn, bytes, oldest, base }: Pick<
    Head,
    "version" | "expiresAt" | "ttlDays" | "firstTurn" | "bytes" | "oldest" | "base"
  >,
): string {
  return `${version} ${expiresAt ?? "-"} ${ttlDays ?? "-"} ${firstTurn} ${bytes} ${oldest} ` +
    `${base.version} ${base.bytes} ${base.offset}`;
}

/** What of a stamp's text its writer decides, and how a head's text ends: what lies behind `seq`. */
export function packStamp({ turn, writeId, offset, writer }: Pick<Stamp, "turn" | "writeId" | "offset" | "writer">) {
  return `${turn} ${writeId} ${offset} ${writer}`;
}

/** The parts of a text of so many; the last is all that is left. `undefined` if there are fewer. */
export function unpack(text: string, parts: number): string[] | undefined {
  const values: string[] = [];
  let from = 0;
  for (let i = 1; i < parts; i++) {
    const space = text.indexOf(" ", from);
    if (space === -1) return undefined;
    values.push(text.slice(from, space));
    from = space + 1;
  }
  values.push(text.slice(from));
  return values;
}
