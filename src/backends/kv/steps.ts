/**
 * The atomic steps: every check first, then the writes. Each may run several times, until its step lands.
 *
 * @module
 */

import type { Stamp } from "../../document/journal.ts";
import type {
  Absent,
  Append,
  Appended,
  Creation,
  DocumentKey,
  Exists,
  Expected,
  Gone,
  Head,
  Held,
  Lost,
  QuotaReached,
  Replayed,
} from "../backend.ts";
import { isPastDue, toExpired } from "../records.ts";
import { Stage } from "./bodies.ts";
import type { Connection } from "./connection.ts";
import { advancedHead, firstHead } from "../heads.ts";
import { findRun, findStamp, leadTo } from "./read.ts";
import { load, runStep, type Step } from "./step.ts";
import type { Buried, Live, StoredText } from "./values.ts";
import { addEntry, addKeyframe, addRequest, bury, findLive, forget, putHead, reclaim } from "./write.ts";

/** Step of {@link Backend.create}. */
export async function createDocument(
  connection: Connection,
  key: DocumentKey,
  creation: Creation,
): Promise<Appended | Exists | Gone | QuotaReached | Replayed> {
  const { entry, request, quota } = creation;
  await using stage = new Stage(connection, key.user, [entry.body, ...request === undefined ? [] : [request.meta]]);
  return await runStep(connection, key.user, async (step) => {
    const { entry: record, document, counter, replayed } = await load(connection, key, [request]);
    const at = step.now;
    const live = document !== undefined && "head" in document && !isPastDue(document.head, at) ? document : undefined;
    const first = live && await findStamp(connection, live.journal, 1);
    // Before the request ids, as an append: a record would tell less.
    if (live !== undefined && first?.writeId === entry.writeId) {
      return { outcome: "appended", head: live.head, stamps: [first] };
    }
    if (replayed !== undefined) return replayed;
    if (live !== undefined) {
      return { outcome: "exists", found: await leadTo(connection, live, { as: "head" }, undefined) };
    }
    step.check(record);
    let buried: Buried | undefined;
    if (document !== undefined) {
      const isBuried = "tombstone" in document;
      buried = isBuried ? document : bury(connection, step, counter, key, document, toExpired(document.head));
      if (buried.firstWriteId === entry.writeId) {
        if (!isBuried) counter.save(step, connection);
        return { outcome: "gone", tombstone: buried.tombstone };
      }
    }
    if (counter.live >= quota) {
      if (step.mutations.length > 0) counter.save(step, connection);
      return { outcome: "quota", held: counter.live };
    }
    if (buried !== undefined) forget(connection, step, counter, key, buried);
    const { writeId, writer, offset, turn = 0 } = entry;
    const stamp: Stamp = { version: 1, writeId, at, turn, writer, seq: counter.take(1, 1), offset };
    const head = firstHead(key.id, creation, stamp);
    const journal = crypto.randomUUID();
    const [body, meta] = await stage.join(step);
    addEntry(connection, step, journal, stamp, body);
    putHead(connection, step, key.user, { journal, head, firstWriteId: writeId });
    if (request !== undefined) addRequest(connection, step, key, request, meta, head);
    counter.save(step, connection);
    return { outcome: "appended", head, stamps: [stamp] };
  });
}

/** Step of {@link Backend.append}. */
export async function appendEntries(
  connection: Connection,
  key: DocumentKey,
  expected: Expected,
  append: Append,
): Promise<Appended | Lost | Absent | Gone | Replayed> {
  const requests = append.steps.map(({ request }) => request);
  const bodies = append.steps.flatMap(({ entry }) => entry?.body ?? []);
  const metas = requests.flatMap((request) => request?.meta ?? []);
  const keyframes = append.keyframe === undefined ? [] : [append.keyframe.body];
  await using stage = new Stage(connection, key.user, [...bodies, ...metas, ...keyframes]);
  return await runStep(connection, key.user, async (step) => {
    const loaded = await load(connection, key, requests);
    if (loaded.replayed !== undefined) {
      // A batch that was sent twice is answered whole, not as a replay of one of its requests.
      const { document } = loaded;
      const isLive = document !== undefined && "head" in document && !isPastDue(document.head, step.now);
      return (isLive ? await appendedBefore(connection, document, expected, append) : undefined) ?? loaded.replayed;
    }
    const live = findLive(connection, step, key, loaded);
    if ("outcome" in live) return live;
    const { version, writeId, turn } = live.head;
    if (version !== expected.version || writeId !== expected.writeId || turn !== expected.turn) {
      return await appendedBefore(connection, live, expected, append) ??
        { outcome: "lost", found: await leadTo(connection, live, { as: "head" }, expected) };
    }
    const places = await stage.join(step);
    const { head, stamps } = addSteps(connection, step, key, live, append, {
      seq: bodies.length === 0 ? live.head.seq : loaded.counter.take(bodies.length, 0),
      bodies: places.values(),
      metas: places.slice(bodies.length).values(),
    });
    if (append.keyframe !== undefined && stamps.length > 0) {
      addKeyframe(connection, step, live.journal, append.keyframe, places[places.length - 1]);
      await reclaim(connection, step, key.user, live.journal, head.oldest, append.keyframe.version);
    }
    if (stamps.length > 0) putHead(connection, step, key.user, { ...live, head }, live.head);
    loaded.counter.save(step, connection);
    return { outcome: "appended", head, stamps };
  });
}

/** What goes into the places of an append, in order. */
interface Supplies {
  /** The first sequence number. */
  seq: number;
  readonly bodies: IterableIterator<StoredText>;
  readonly metas: IterableIterator<StoredText>;
}

/** Writes the entries and requests of an append. Answers the head after them. */
function addSteps(
  connection: Connection,
  step: Step,
  key: DocumentKey,
  { journal, head: before }: Live,
  append: Append,
  supplies: Supplies,
): { readonly head: Head; readonly stamps: readonly Stamp[] } {
  let head = before;
  const at = Math.max(step.now, head.updatedAt);
  const stamps: Stamp[] = [];
  for (const { entry, request } of append.steps) {
    if (entry !== undefined) {
      const { writeId, writer, offset, turn = 0 } = entry;
      const version = head.version + 1;
      const stamp = { version, writeId, at, turn: Math.max(turn, head.turn), writer, seq: supplies.seq++, offset };
      addEntry(connection, step, journal, stamp, next(supplies.bodies));
      head = advancedHead(head, entry, stamp);
      stamps.push(stamp);
    }
    if (request !== undefined) addRequest(connection, step, key, request, next(supplies.metas), head);
  }
  if (stamps.length === 0) return { head, stamps };
  const { bytes, oldest, keyframe } = append;
  head = { ...head, bytes, oldest: Math.max(oldest, head.oldest) };
  if (keyframe !== undefined) head = { ...head, base: { version: head.version, bytes, offset: head.offset } };
  return { head, stamps };
}

function next<T>(supply: IterableIterator<T>): T {
  const { done, value } = supply.next();
  if (done) throw new RangeError("a step has more texts than were staged");
  return value;
}

/** The answer to a batch that has been written already: its last version carries its last write id. */
async function appendedBefore(
  connection: Connection,
  { journal, head }: Live,
  expected: Held,
  append: Append,
): Promise<Appended | undefined> {
  const drafts = append.steps.flatMap(({ entry }) => entry ?? []);
  const from = expected.version + 1;
  if (drafts.length === 0 || head.version < expected.version + drafts.length) return undefined;
  const stamps = await findRun(connection, journal, from, drafts.length);
  if (stamps?.[stamps.length - 1].writeId !== drafts[drafts.length - 1].writeId) return undefined;
  return { outcome: "appended", head, stamps };
}
