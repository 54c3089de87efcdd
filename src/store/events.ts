/**
 * What happened to a user's documents after a place, in order, from their journals.
 *
 * @module
 */

import type { Backend, DocumentKey, Head, ListPage } from "../backends/backend.ts";
import { isTombstone, type Tombstone } from "../backends/records.ts";
import { toIso } from "./snapshots.ts";
import type { ChangeEvent, EndEvent, GapEvent } from "./watch.ts";
import type { Cursor } from "./watch_cursor.ts";

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
  if (await isRewound(backend, user, cursor, until)) return restart("rewound", until);
  if (cursor.seq < first.forgotten) return restart("pruned", until);
  if (cursor.seq === until) return { events: [], next: cursor, isComplete: true };
  const found: Placed[] = [];
  for await (const document of heads(backend, user, first)) {
    if (isTombstone(document)) {
      found.push(toEnd(document));
      continue;
    }
    const { events, upTo } = await readChanges(backend, { user, id: document.id }, document, cursor.seq);
    found.push(...events);
    until = Math.min(until, upTo);
  }
  const events = found.filter(({ place }) => place.seq <= until).sort((a, b) => a.place.seq - b.place.seq);
  const last = events.findLast(({ place }) => place.last !== undefined)?.place.last ?? cursor.last;
  return { events, next: { seq: until, last }, isComplete: until === first.seq };
}

function readHeads(backend: Backend, user: string, from: number): Promise<ListPage> {
  return backend.list(user, { direction: "up", from, limit: CHUNK, tombstones: true });
}

/** All that changed, page by page. One that moves meanwhile moves up, and is met there. */
async function* heads(backend: Backend, user: string, first: ListPage): AsyncGenerator<Head | Tombstone> {
  const latest = new Map<string, Head | Tombstone>();
  for (let page = first;; page = await readHeads(backend, user, page.next)) {
    for (const document of page.documents) latest.set(document.id, document);
    if (page.next === undefined) break;
  }
  yield* latest.values();
}

/** Whether the last change that was told is there no more, or numbers have gone back. */
async function isRewound(backend: Backend, user: string, { seq, last }: Cursor, now: number): Promise<boolean> {
  if (now < seq) return true;
  if (last === undefined) return false;
  const answer = await backend.entries({ user, id: last.id }, last.version, 1);
  if (answer.outcome !== "found") return false;
  if (answer.head.version < last.version) return answer.head.createdSeq <= seq;
  if (last.version < answer.head.oldest) return false;
  const stamp = await backend.locate({ user, id: last.id }, { version: last.version });
  return stamp !== undefined && stamp.writeId !== last.writeId && answer.head.createdSeq <= seq;
}

function restart(reason: GapEvent["reason"], seq: number): EventPage {
  return { events: [{ event: { type: "gap", reason }, place: { seq } }], next: { seq }, isComplete: false };
}

function toEnd({ id, status, goneAt, seq }: Tombstone): Placed {
  return { event: { type: status, handle: id, at: toIso(goneAt) }, place: { seq } };
}

async function readChanges(
  backend: Backend,
  key: DocumentKey,
  head: Head,
  since: number,
): Promise<{ readonly events: readonly Placed[]; readonly upTo: number }> {
  const handle = key.id;
  let after = 0;
  if (head.createdSeq <= since) {
    const seen = await backend.locate(key, { seq: since });
    if (seen === undefined || seen.version + 1 < head.oldest) {
      const gap: Placed = { event: { type: "gap", handle, reason: "pruned" }, place: { seq: head.seq } };
      return { events: [gap], upTo: Infinity };
    }
    after = seen.version;
  } else if (head.oldest > 1) after = head.oldest - 1;
  const answer = await backend.entries(key, after, ENTRIES);
  if (answer.outcome !== "found") return { events: [], upTo: Infinity }; // its end comes next
  const events = answer.entries.map(({ version, writeId, writer, at, turn, seq }): Placed => ({
    event: { type: "change", handle, version, writer, at: toIso(at), turn },
    place: { seq, last: { id: handle, version, writeId } },
  }));
  const more = answer.entries.length === ENTRIES;
  return { events, upTo: more ? events[events.length - 1].place.seq : Infinity };
}
