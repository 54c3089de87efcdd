/**
 * The port's drafts as arguments of the scripts.
 *
 * @module
 */

import type { Append, Creation, Expected, Touch, Want } from "../backend.ts";
import type { DocumentKey, Head, RequestDraft } from "../records.ts";
import type { Place } from "../backend.ts";

/** Arguments of `CREATE`. */
export function toCreate({ id }: DocumentKey, { kind, entry, bytes, quota, request }: Creation): string[] {
  const { writeId, writer, body, offset, turn = 0, title, ttlDays } = entry;
  return [
    id,
    kind,
    String(bytes),
    String(quota),
    writeId,
    writer,
    body,
    String(offset),
    String(turn),
    orEmpty(title),
    ttlDays === undefined || ttlDays === null ? "keep" : String(ttlDays),
    ...toRequest(request),
  ];
}

/** Arguments of `APPEND`. */
export function toAppend({ id }: DocumentKey, expected: Expected, append: Append): string[] {
  const { steps, bytes, oldest, keyframe } = append;
  const { version, writeId, turn } = expected;
  const args = [id, String(version), writeId, String(turn), String(bytes), String(oldest)];
  if (keyframe === undefined) args.push("", "", "", "");
  else args.push(String(keyframe.version), keyframe.writeId, String(keyframe.bytes), keyframe.body);
  for (const { entry, request } of steps) {
    if (entry === undefined) args.push("", "", "", "", "", "", "");
    else {
      const { writeId, writer, body, offset, turn = 0, title, ttlDays } = entry;
      args.push(writeId, writer, body, String(offset), String(turn), orEmpty(title), toLife(ttlDays));
    }
    if (request === undefined) args.push("", "", "");
    else args.push(`=${request.id}`, request.fingerprint, request.meta);
  }
  return args;
}

/** Arguments of `TOUCH`. */
export function toTouch({ id }: DocumentKey, { ttlDays, turn = 0 }: Touch): string[] {
  return [id, toLife(ttlDays), String(turn)];
}

/** Request id, fingerprint and meta, or nothing. */
export function toRequest(request: RequestDraft | undefined): string[] {
  return request === undefined ? [] : [request.id, request.fingerprint, request.meta];
}

/** Name and value of a version that is wanted. */
export function toWant(want: Want): [name: string, value: string] {
  switch (want.as) {
    case "head":
      return ["head", "0"];
    case "version":
      return ["version", String(want.version)];
    case "turn":
      return ["turn", String(want.turn)];
    case "time":
      return ["time", String(want.at)];
  }
}

/** Name and value of a place. */
export function toPlace(place: Place): [name: string, value: string] {
  if ("version" in place) return ["version", String(place.version)];
  if ("turn" in place) return ["turn", String(place.turn)];
  if ("at" in place) return ["time", String(place.at)];
  if ("seq" in place) return ["seq", String(place.seq)];
  return ["offset", String(place.offset)];
}

/** A head as fields of its record; what is absent is left out. */
export function toHeadFields(head: Omit<Head, "seq" | "createdSeq">): string[] {
  const { id: _, base, ...rest } = head;
  const fields = { ...rest, baseVersion: base.version, baseBytes: base.bytes, baseOffset: base.offset };
  return Object.entries(fields).flatMap(([name, value]) => value === undefined ? [] : [name, String(value)]);
}

/** A title may be empty, and is not the same as none then. */
function orEmpty(text: string | undefined): string {
  return text === undefined ? "" : `=${text}`;
}

function toLife(ttlDays: number | null | "last" | undefined): string {
  return ttlDays === undefined ? "keep" : ttlDays === null ? "none" : String(ttlDays);
}
