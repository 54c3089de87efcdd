/**
 * The atomic steps that write no entry: renewing, deleting, trimming.
 *
 * @module
 */

import type { Keyframe } from "../../document/journal.ts";
import type {
  Absent,
  DocumentKey,
  Gone,
  Head,
  Held,
  Lost,
  Removal,
  Removed,
  Replayed,
  Touch,
  Touched,
} from "../backend.ts";
import { Stage } from "./bodies.ts";
import type { Connection } from "./connection.ts";
import { touchedHead } from "../heads.ts";
import { findStamp, leadTo } from "./read.ts";
import { load, PASSING, runStep } from "./step.ts";
import { addKeyframe, addRequest, bury, findLive, putHead, reclaim } from "./write.ts";

/** Step of {@link Backend.touch}. It leaves the user's record alone, so only the document's own writers can meet it. */
export function touchDocument(
  connection: Connection,
  key: DocumentKey,
  touch: Touch,
): Promise<Touched | Absent | Gone> {
  return runStep(connection, key.user, async (step) => {
    const live = findLive(connection, step, key, await load(connection, key));
    if ("outcome" in live) return live;
    const head = touchedHead(live.head, touch, step.now);
    putHead(connection, step, key.user, { ...live, head }, live.head);
    return { outcome: "touched", head };
  });
}

/** Buries a document that is past due, if that can be done at once: whoever reads has no part in it. */
export async function tryToBury(connection: Connection, key: DocumentKey): Promise<void> {
  try {
    await runStep(connection, key.user, async (step) => {
      findLive(connection, step, key, await load(connection, key));
    }, PASSING);
  } catch {
    // Busy, read-only, full: it is past due all the same.
  }
}

/** Step of {@link Backend.remove}. */
export async function removeDocument(
  connection: Connection,
  key: DocumentKey,
  { writeId, expected, request }: Removal,
): Promise<Removed | Lost | Absent | Gone | Replayed> {
  await using stage = new Stage(connection, key.user, request === undefined ? [] : [request.meta]);
  return await runStep(connection, key.user, async (step) => {
    const loaded = await load(connection, key, [request]);
    const { document } = loaded;
    // Before the request ids, as an append: a record would tell less.
    if (document !== undefined && "tombstone" in document && document.tombstone.writeId === writeId) {
      return { outcome: "removed", version: document.version };
    }
    if (loaded.replayed !== undefined) return loaded.replayed;
    const live = findLive(connection, step, key, loaded);
    if ("outcome" in live) return live;
    const { head } = live;
    if (expected !== undefined && head.version !== expected) {
      return { outcome: "lost", found: await leadTo(connection, live, { as: "head" }, undefined) };
    }
    const { id, kind, ttlDays, seq, createdSeq, version } = head;
    const end = { id, kind, status: "deleted", goneAt: step.now, ttlDays, seq, createdSeq, writeId } as const;
    bury(connection, step, loaded.counter, key, live, end);
    const [meta] = await stage.join(step);
    if (request !== undefined) addRequest(connection, step, key, request, meta, head);
    loaded.counter.save(step, connection);
    return { outcome: "removed", version };
  });
}

/** Step of {@link Backend.trim}. */
export async function trimDocument(
  connection: Connection,
  key: DocumentKey,
  oldest: Held,
  keyframe: Keyframe,
): Promise<void> {
  await using stage = new Stage(connection, key.user, [keyframe.body]);
  await runStep(connection, key.user, async (step) => {
    const { entry, document } = await load(connection, key);
    if (document === undefined || "tombstone" in document || document.head.oldest >= oldest.version) return;
    const { journal, head: before } = document;
    if ((await findStamp(connection, journal, oldest.version))?.writeId !== oldest.writeId) return;
    const stamp = keyframe.version > before.base.version
      ? await findStamp(connection, journal, keyframe.version)
      : undefined;
    const base = stamp === undefined
      ? before.base
      : { version: keyframe.version, bytes: keyframe.bytes, offset: stamp.offset };
    const head: Head = { ...before, oldest: oldest.version, base };
    step.check(entry);
    const [body] = await stage.join(step);
    addKeyframe(connection, step, journal, keyframe, body);
    await reclaim(connection, step, key.user, journal, oldest.version, keyframe.version);
    putHead(connection, step, key.user, { ...document, head }, before);
  });
}
