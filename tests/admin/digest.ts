/**
 * What of a store must be the same wherever it goes: states, versions, entries, write ids, times, expiries, turns, and what is
 * left of what ended. Keyframes, offsets and sequence numbers are each engine's own.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { digest as digestState } from "../../src/admin/format.ts";
import { readPortable } from "../../src/admin/portable.ts";
import type { DocumentRecord, Maintenance } from "../../src/backends/maintenance.ts";
import type { DocumentKey } from "../../src/backends/records.ts";
import { canonicalJson } from "../../src/document/json.ts";
import { EMPTY, fold } from "../../src/document/journal.ts";
import { decodeKeyframe } from "../../src/document/keyframe.ts";

/** What a store holds, in short. */
export interface Digest {
  readonly documents: number;
  readonly tombstones: number;
  /** SHA-256 of it all, whatever order it came in. */
  readonly sha256: string;
}

/** Reads a store whole. */
export async function digestOf(source: Maintenance): Promise<Digest> {
  const hashes: string[] = [];
  let tombstones = 0;
  for await (const user of source.users()) {
    for await (const record of source.documents(user)) {
      const what = await describe(source, { user, id: record.id }, record);
      if ("status" in what) tombstones++;
      hashes.push(hash(canonicalJson(JSON.parse(JSON.stringify([user, record.id, what])))));
    }
  }
  return { documents: hashes.length - tombstones, tombstones, sha256: hash(hashes.sort().join("\n")) };
}

async function describe(source: Maintenance, key: DocumentKey, record: DocumentRecord): Promise<object> {
  const reading = await readPortable(source, key, record);
  if (reading.outcome === "ended") {
    const { status, kind, goneAt, ttlDays } = reading.tombstone;
    return { status, kind, goneAt, ttlDays };
  }
  if (reading.outcome !== "document") throw new Error(`${key.id} of ${key.user}: ${JSON.stringify(reading)}`);
  const { keyframe, entries, folded } = reading.document;
  const {
    kind,
    title,
    version,
    writeId,
    createdAt,
    updatedAt,
    writer,
    turn,
    firstTurn,
    ttlDays,
    expiresAt,
    bytes,
    oldest,
  } = reading.document.head;
  const kept = entries.map(({ version, writeId, at, turn, writer, body }) => ({
    version,
    writeId,
    at,
    turn,
    writer,
    body,
  }))
    .filter((entry) => entry.version >= oldest);
  const start = keyframe === undefined ? EMPTY : decodeKeyframe(keyframe);
  if (start === undefined) throw new Error("the keyframe cannot be read");
  const first = fold(start, entries.filter((entry) => entry.version > start.version && entry.version <= oldest));
  return {
    head: {
      kind,
      title,
      version,
      writeId,
      createdAt,
      updatedAt,
      writer,
      turn,
      firstTurn,
      ttlDays,
      expiresAt,
      bytes,
      oldest,
    },
    kept,
    states: [digestState(first.state), digestState(folded.state)],
  };
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
