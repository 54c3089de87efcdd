/**
 * What happened to a user's documents after a place, in order, from their journals.
 *
 * @module
 */

import type { Backend, DocumentKey, Head, ListPage } from "../backends/backend.ts";
import { isTombstone, isUnburied, type Tombstone } from "../backends/records.ts";
import { toIso } from "./snapshots.ts";
import type { ChangeEvent, EndEvent, GapEvent } from "./watch.ts";
import type { Cursor, Mark } from "./watch_cursor.ts";

type Untold<Event> = Omit<Event, "cursor">;

/** An event and the place right after it. */
export interface Placed {
  readonly event: Untold<ChangeEvent> | Untold<EndEvent> | Untold<GapEvent>;
  readonly place: Cursor;
}

/** Some events. */
export interface EventPage {
  /** In the order in which they happened. */
  readonly events: readonly Placed[];
  /** The place after them. */
  readonly next: Cursor;
  /** Whether that was all there is for now. */
  readonly isComplete: boolean;
}

const CHUNK = 256;
/** How many entries of one document are read at a time. */
const ENTRIES = 500;

/** Reads on from a place. */
export async function readEvents(backend: Backend, user: string, cursor: Cursor): Promise<EventPage> {
  const first = await readHeads(backend, user, cursor.seq);
  // What takes a larger number while this goes on is left for the next time: this way nothing slips through between.
  let until = first.seq;
  if (cursor.seq < first.forgotten) return restart("pruned", until);
  const isPutBack = await isRewound(backend, user, cursor, first);
  if (isPutBack === undefined) return { events: [], next: cursor, isComplete: false };
  if (isPutBack) return restart("rewound", until);
  if (cursor.seq === until) return { events: [], next: cursor, isComplete: true };
  const documents = await readAll(backend, user, first);
  if (!await areBuried(backend, user, cursor.seq, documents)) return { events: [], next: cursor, isComplete: false };
  const found: Placed[] = [];
  for (const document of documents) {
    if (isTombstone(document)) {
      found.push(toEnd(document));
      continue;
    }
    const { events, upTo } = await readChanges(backend, { user, id: document.id }, document, cursor.seq);
    found.push(...events);
    until = Math.min(until, upTo);
  }
  const events = found.filter(({ place }) => place.seq <= until).sort((a, b) => a.place.seq - b.place.seq);
  const next = { seq: until, last: newestMark(documents, until) ?? events.at(-1)?.place.last ?? cursor.last };
  return { events, next, isComplete: until === first.seq };
}

function readHeads(backend: Backend, user: string, from: number): Promise<ListPage> {
  return backend.list(user, { direction: "up", from, limit: CHUNK, tombstones: true });
}

/** All that changed, page by page. One that moves meanwhile moves up, and is met there. */
async function readAll(backend: Backend, user: string, first: ListPage): Promise<(Head | Tombstone)[]> {
  const latest = new Map<string, Head | Tombstone>();
  for (let page = first;; page = await readHeads(backend, user, page.next)) {
    for (const document of page.documents) latest.set(document.id, document);
    if (page.next === undefined) return [...latest.values()];
  }
}

/**
 * Whether every expired document has the number and the write id of its end. One that is past due and not buried yet is
 * listed as ended under the number of its last write; once what is due has been swept it is listed otherwise, or was not due.
 */
async function areBuried(
  backend: Backend,
  user: string,
  since: number,
  documents: readonly (Head | Tombstone)[],
): Promise<boolean> {
  const expired = documents.filter((document) => isTombstone(document) && document.status === "expired");
  if (expired.length === 0) return true;
  while (await backend.sweep(user, CHUNK) > 0);
  const now = new Map(
    (await readAll(backend, user, await readHeads(backend, user, since))).map((each) => [each.id, each]),
  );
  return expired.every((end) => !isUnburied(end) && now.get(end.id)?.writeId === end.writeId);
}

/** By the list, not by what was told: of what was lost while it was being read, nothing is told. */
function newestMark(documents: readonly (Head | Tombstone)[], until: number): Cursor["last"] {
  const newest = documents.findLast(({ seq }) => seq === until);
  return newest && markOf(newest);
}

/**
 * Whether what was told last is no longer so, or numbers have gone back. Not to be told yet of a document that is past due
 * and that a sweep does not find so: the clock is being set.
 */
async function isRewound(
  backend: Backend,
  user: string,
  { seq, last }: Cursor,
  now: ListPage,
): Promise<boolean | undefined> {
  if (now.seq < seq) return true;
  if (last === undefined) return false;
  const look = () => backend.entries({ user, id: last.id }, last.version, 1);
  let answer = await look();
  if (answer.outcome === "gone" && isUnburied(answer.tombstone)) {
    while (await backend.sweep(user, CHUNK) > 0);
    answer = await look();
  }
  switch (answer.outcome) {
    case "absent": // there is a tombstone at least, for as long as tombstones are kept
      return last.version > 0 || now.forgotten < seq;
    case "gone":
      if (isUnburied(answer.tombstone)) return undefined;
      return isEndRewound(answer.tombstone, seq, last) || await isTaken(backend, user, seq, last);
    case "found":
      return await isChangeRewound(backend, { user, id: last.id }, answer.head, seq, last);
  }
}

/** Of a document that has ended. */
function isEndRewound({ createdSeq, seq: endedAt, writeId }: Tombstone, seq: number, last: Mark): boolean {
  if (createdSeq > seq) return false; // another document, in the place of that one
  // What was told last was this very end, or a change before it.
  return last.version === 0 ? writeId !== last.writeId : endedAt <= seq;
}

/** Whether another document stands at the place of what was told last, whose own has ended and so stands further on. */
async function isTaken(backend: Backend, user: string, seq: number, last: Mark): Promise<boolean> {
  const range = { direction: "up", from: seq - 1, limit: 1, tombstones: true } as const;
  const { documents: [record] } = await backend.list(user, range);
  return record !== undefined && record.seq === seq && record.id !== last.id;
}

/** Of a document that is there. */
async function isChangeRewound(
  backend: Backend,
  key: DocumentKey,
  head: Head,
  seq: number,
  last: Mark,
): Promise<boolean> {
  if (head.createdSeq > seq) return false; // another document, in the place of that one
  if (last.version === 0) return true;
  if (head.version < last.version) return true;
  if (last.version < head.oldest) return false;
  const stamp = await backend.locate(key, { version: last.version });
  return stamp !== undefined && stamp.writeId !== last.writeId;
}

function restart(reason: GapEvent["reason"], seq: number): EventPage {
  return { events: [{ event: { type: "gap", reason }, place: { seq } }], next: { seq }, isComplete: false };
}

/** By what to tell later that the store has lost what is newest now. What is past due and not buried yet is no such mark. */
export function markOf(newest: Head | Tombstone): Mark | undefined {
  if (isUnburied(newest)) return undefined;
  const { id, writeId } = newest;
  return { id, version: isTombstone(newest) ? 0 : newest.version, writeId };
}

function toEnd(tombstone: Tombstone): Placed {
  const { id, status, goneAt, seq } = tombstone;
  return { event: { type: status, handle: id, at: toIso(goneAt) }, place: { seq, last: markOf(tombstone) } };
}

async function readChanges(
  backend: Backend,
  key: DocumentKey,
  head: Head,
  since: number,
): Promise<{ readonly events: readonly Placed[]; readonly upTo: number }> {
  const handle = key.id;
  const seen = head.createdSeq <= since ? await backend.locate(key, { seq: since }) : { version: 0 };
  const answer = await backend.entries(key, seen?.version ?? 0, ENTRIES);
  // Past due just now and not buried: when the clock is set back it is alive, and what was written to it is to be told.
  if (answer.outcome === "gone" && isUnburied(answer.tombstone)) return { events: [], upTo: since };
  if (answer.outcome !== "found") return { events: [], upTo: Infinity }; // its end comes next
  // Looked at afterwards: what was there a moment ago may have been pruned between.
  if (seen === undefined || answer.entries.length > 0 && answer.entries[0].version !== seen.version + 1) {
    const gap: Placed = { event: { type: "gap", handle, reason: "pruned" }, place: { seq: head.seq } };
    return { events: [gap], upTo: Infinity };
  }
  const events = answer.entries.map(({ version, writeId, writer, at, turn, seq }): Placed => ({
    event: { type: "change", handle, version, writer, at: toIso(at), turn },
    place: { seq, last: { id: handle, version, writeId } },
  }));
  const more = answer.entries.length === ENTRIES;
  return { events, upTo: more ? events[events.length - 1].place.seq : Infinity };
}
