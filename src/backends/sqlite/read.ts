/**
 * Finding a document, and the least that a reader must fetch to fold one of its versions.
 *
 * @module
 */

import type { Entry, Keyframe, Stamp } from "../../document/journal.ts";
import { firstEntry } from "../../document/keyframe.ts";
import type { DocumentKey, Found, Head, Held, Place, Want } from "../backend.ts";
import type { Connection } from "./driver.ts";
import { type DocumentRow, number, STAMP_COLUMNS, text, toDocument, toEntry, toStamp } from "./rows.ts";

/** The document's row, live or tombstone. */
export function findDocument(connection: Connection, { user, id }: DocumentKey): DocumentRow | undefined {
  const row = connection.get("SELECT * FROM mcpstate_document WHERE user = ? AND id = ?", user, id);
  return row && toDocument(row);
}

/** The stamp of a version, if its entry is there. */
export function findStamp(connection: Connection, doc: number, version: number): Stamp | undefined {
  const row = connection.get(
    `SELECT ${STAMP_COLUMNS} FROM mcpstate_entry WHERE doc = ? AND version = ?`,
    doc,
    version,
  );
  return row && toStamp(row);
}

/** Entries from one version to another, both included. */
export function findEntries(connection: Connection, doc: number, from: number, to: number): Entry[] {
  return connection.all(
    `SELECT ${STAMP_COLUMNS}, body FROM mcpstate_entry WHERE doc = ? AND version BETWEEN ? AND ? ORDER BY version`,
    doc,
    from,
    to,
  ).map(toEntry);
}

/** The stamp at a place: one index look-up for turns, a binary search over the growing numbers for the others. */
export function findPlace(connection: Connection, doc: number, head: Head, place: Place): Stamp | undefined {
  if ("version" in place) return findStamp(connection, doc, place.version);
  if ("at" in place) return searchPlace(connection, doc, head, "at", place.at);
  if ("seq" in place) return searchPlace(connection, doc, head, "seq", place.seq);
  if ("offset" in place) return searchPlace(connection, doc, head, "journal_offset", place.offset);
  const row = connection.get(
    "SELECT version FROM mcpstate_turn WHERE doc = ? AND turn <= ? ORDER BY turn DESC LIMIT 1",
    doc,
    place.turn,
  );
  // What was written before any turn was named is not in the index.
  if (row === undefined) return searchPlace(connection, doc, head, "turn", place.turn);
  return findStamp(connection, doc, number(row, "version"));
}

function searchPlace(
  connection: Connection,
  doc: number,
  head: Head,
  column: "turn" | "at" | "seq" | "journal_offset",
  limit: number,
): Stamp | undefined {
  const first = connection.get("SELECT min(version) AS version FROM mcpstate_entry WHERE doc = ?", doc);
  if (first === undefined || first.version === null) return undefined;
  let [low, high] = [number(first, "version") - 1, head.version];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const row = connection.get(
      `SELECT ${column} AS value FROM mcpstate_entry WHERE doc = ? AND version = ?`,
      doc,
      middle,
    );
    if (row !== undefined && number(row, "value") <= limit) low = middle;
    else high = middle - 1;
  }
  return findStamp(connection, doc, low);
}

/** The stamp of the version that is wanted. */
function findTarget(connection: Connection, { doc, head }: LiveRow, want: Want): Stamp | undefined {
  switch (want.as) {
    case "head":
      return findStamp(connection, doc, head.version);
    case "version":
      return findStamp(connection, doc, want.version);
    case "turn":
      return findPlace(connection, doc, head, { turn: want.turn });
    case "time":
      return findPlace(connection, doc, head, { at: want.at });
  }
}

/** A live document's row. */
export interface LiveRow {
  readonly doc: number;
  readonly head: Head;
}

/** The way from what is held, from a keyframe or from the start to the version that is wanted. */
export function leadTo(connection: Connection, row: LiveRow, want: Want, held: Held | undefined): Found {
  const target = findTarget(connection, row, want);
  const { doc, head } = row;
  if (target === undefined) return { outcome: "found", head, onto: "nothing", entries: [] };
  if (held?.version === target.version && held.writeId === target.writeId) return alreadyHeld(head);
  const keyframe = held?.version === 0 ? undefined : newestKeyframe(connection, doc, target.version);
  if (held !== undefined && isCheaper(connection, doc, held, target, keyframe)) {
    const entries = findEntries(connection, doc, held.version + 1, target.version);
    return { outcome: "found", head, target, onto: held.version === 0 ? "nothing" : "held", entries };
  }
  if (keyframe === undefined) {
    return {
      outcome: "found",
      head,
      target,
      onto: "nothing",
      entries: findEntries(connection, doc, 1, target.version),
    };
  }
  const body = connection.get(
    "SELECT body FROM mcpstate_keyframe WHERE doc = ? AND version = ?",
    doc,
    keyframe.version,
  );
  const onto: Keyframe = { ...keyframe, body: text(body ?? {}, "body") };
  return {
    outcome: "found",
    head,
    target,
    onto,
    entries: findEntries(connection, doc, firstEntry(onto), target.version),
  };
}

/** The answer to a caller that holds just what it asks for. */
export function alreadyHeld(head: Head): Found {
  return { outcome: "found", head, target: "held", onto: "held", entries: [] };
}

/** Whether what is held is part of this journal, not beyond the target, and no dearer than the keyframe. */
function isCheaper(
  connection: Connection,
  doc: number,
  held: Held,
  target: Stamp,
  keyframe: Omit<Keyframe, "body"> | undefined,
): boolean {
  if (held.version >= target.version) return false;
  if (held.version === 0) return true;
  const stamp = findStamp(connection, doc, held.version);
  if (stamp?.writeId !== held.writeId) return false;
  if (keyframe === undefined || keyframe.version <= held.version) return true;
  const past = findStamp(connection, doc, keyframe.version);
  return past === undefined || past.offset - stamp.offset <= keyframe.bytes;
}

function newestKeyframe(connection: Connection, doc: number, version: number): Omit<Keyframe, "body"> | undefined {
  const row = connection.get(
    "SELECT version, write_id, bytes FROM mcpstate_keyframe WHERE doc = ? AND version <= ? ORDER BY version DESC LIMIT 1",
    doc,
    version,
  );
  return row && { version: number(row, "version"), writeId: text(row, "write_id"), bytes: number(row, "bytes") };
}
