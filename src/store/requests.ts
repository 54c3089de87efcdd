/**
 * Request ids: how a second call is recognised, and what it is answered.
 *
 * @module
 */

import { createHash } from "node:crypto";
import type { DocumentKey, RequestDraft, RequestRecord } from "../backends/backend.ts";
import { InvalidInput, VersionPruned } from "../document/errors.ts";
import { canonicalJson, type JsonObject, type JsonValue } from "../document/json.ts";
import type { Snapshot } from "../document/snapshot.ts";
import type { Reader } from "./reader.ts";
import { toIso } from "./snapshots.ts";

/** A request with its id and what it asks. */
export interface Request {
  readonly id: string;
  readonly fingerprint: string;
}

/** How many pointers of what a write changed are remembered with its request. */
const CHANGED_KEPT = 100;

/** The request of an operation with its arguments; `undefined` without an id. Who asks and in which turn does not count. */
export function toRequest(id: string | undefined, operation: string, args: JsonValue): Request | undefined {
  if (id === undefined) return undefined;
  const fingerprint = createHash("sha256").update(canonicalJson([operation, args])).digest("hex");
  return { id, fingerprint };
}

/** The metadata of a result, as remembered. The step adds what only it knows. */
interface Meta {
  readonly kind: string;
  readonly title?: string;
  /** Absent with version 1, which the step's time is that of. */
  readonly createdAt?: string;
  /** When the version was written, where no entry was: the step's time is not it. */
  readonly updatedAt?: string;
  readonly writer: string;
  readonly bytes: number;
  readonly changed?: readonly string[];
  readonly merged?: true;
}

/** What to remember of a request. */
export function toDraft(request: Request | undefined, meta: Meta): RequestDraft | undefined {
  if (request === undefined) return undefined;
  const kept = meta.changed === undefined ? meta : { ...meta, changed: meta.changed.slice(0, CHANGED_KEPT) };
  return { ...request, meta: JSON.stringify(kept) };
}

/** @throws {InvalidInput} if the id was used for something else. */
export function checkSame(record: RequestRecord, request: Request): void {
  if (record.fingerprint === request.fingerprint) return;
  throw new InvalidInput(
    "request_id",
    `The request_id ${
      JSON.stringify(request.id)
    } was used before for another call. Use a new one for each call, and the same only to repeat one.`,
  );
}

/** The first result of a request, with its state if that version is retained. */
export async function replay(reader: Reader, user: string, record: RequestRecord): Promise<Snapshot> {
  reader.counts.replays++;
  const meta: Meta = JSON.parse(record.meta);
  const key: DocumentKey = { user, id: record.documentId };
  const { state, error, oldest = record.version } = await stateOf(reader, key, record);
  const { expiresAt, ttlDays } = record;
  const snapshot = {
    handle: record.documentId,
    kind: meta.kind,
    ...(meta.title === undefined ? {} : { title: meta.title }),
    version: record.version,
    createdAt: meta.createdAt ?? toIso(record.at),
    updatedAt: meta.updatedAt ?? toIso(record.at),
    ...(expiresAt === undefined ? {} : { expiresAt: toIso(expiresAt) }),
    ...(ttlDays === undefined ? {} : { ttlDays }),
    lastWriter: meta.writer,
    turn: record.turn,
    bytes: meta.bytes,
    currentVersion: record.version,
    oldestVersion: oldest,
    currentTurn: record.turn,
    ...(meta.changed === undefined ? {} : { changed: meta.changed }),
    ...(meta.merged === undefined ? {} : { merged: meta.merged }),
    replayed: true as const,
    // The result is the first one; what it pointed to may be gone, and then only asking for it fails.
    get state(): JsonObject {
      if (state === undefined) throw error;
      return state;
    },
  };
  return Object.freeze(snapshot);
}

async function stateOf(
  reader: Reader,
  key: DocumentKey,
  record: RequestRecord,
): Promise<{ state?: JsonObject; error?: unknown; oldest?: number }> {
  try {
    const { folded, head } = await reader.version(key, { as: "version", version: record.version });
    return folded.writeId === record.writeId
      ? { state: folded.state, oldest: head.oldest }
      : { error: new VersionPruned(record.version, { from: folded.version, to: folded.version }) };
  } catch (error) {
    return { error };
  }
}
