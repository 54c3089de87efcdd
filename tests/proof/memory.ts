/**
 * A backend in memory whose steps are atomic because nothing in them waits: what the simulation runs stores over, and,
 * like every engine, held to the contract.
 *
 * @module
 */

import type {
  Absent,
  Append,
  Appended,
  Backend,
  Creation,
  DocumentKey,
  Exists,
  Expected,
  Found,
  Gone,
  Head,
  Held,
  ListPage,
  ListRange,
  Lost,
  Place,
  QuotaReached,
  Removal,
  Removed,
  Replayed,
  RequestDraft,
  RequestRecord,
  Tombstone,
  Touch,
  Touched,
  Want,
} from "../../src/backends/backend.ts";
import { advancedHead, firstHead, touchedHead } from "../../src/backends/heads.ts";
import { isPastDue, isTombstone, REQUEST_MS, toExpired, TOMBSTONE_MS } from "../../src/backends/records.ts";
import { BackendError } from "../../src/document/errors.ts";
import type { Entry, Keyframe, Stamp } from "../../src/document/journal.ts";
import { firstEntry } from "../../src/document/keyframe.ts";

interface Live {
  readonly firstWriteId: string;
  head: Head;
  entries: Entry[];
  keyframes: Keyframe[];
}

interface Buried {
  readonly tombstone: Tombstone;
  readonly dueAt: number;
  readonly version: number;
  readonly firstWriteId: string;
}

interface User {
  seq: number;
  forgotten: number;
  readonly documents: Map<string, Live | Buried>;
  readonly requests: Map<string, RequestRecord>;
}

/** Everything that is kept: what a failover can put back. */
export type Contents = Map<string, User>;

/** The data and the clock of a backend; any number of connections share it. */
export class MemoryServer {
  #users: Contents = new Map();
  readonly #listeners = new Set<{ readonly user: string; readonly notify: () => void }>();

  constructor(readonly now: () => number = Date.now) {}

  /** One more connection. */
  connect(): Backend {
    const subscriptions = new Set<{ readonly user: string; readonly notify: () => void }>();
    let isClosed = false;
    // Answers are copies, as over a wire, and come later, as over a wire.
    // deno-lint-ignore require-await -- what it throws is to be a rejection
    const step = async <T>(body: () => T): Promise<T> => {
      if (isClosed) throw new BackendError("The connection is closed.");
      return structuredClone(body());
    };
    return {
      create: (key, creation) => step(() => this.#create(key, creation)),
      read: (key, want, held) => step(() => this.#read(key, want, held)),
      entries: (key, after, limit) => step(() => this.#entries(key, after, limit)),
      append: (key, expected, append) => step(() => this.#append(key, expected, append)),
      touch: (key, touch) => step(() => this.#touch(key, touch)),
      remove: (key, removal) => step(() => this.#remove(key, removal)),
      locate: (key, place) => step(() => this.#locate(key, place)),
      trim: (key, oldest, keyframe) => step(() => this.#trim(key, oldest, keyframe)),
      list: (user, range) => step(() => this.#list(user, range)),
      findRequest: (user, id) => step(() => this.#users.get(user)?.requests.get(id)),
      users: () => iterate(() => step(() => [...this.#users.keys()])),
      sweep: (user, limit) => step(() => this.#sweep(user, limit)),
      subscribe: async (user, notify) => {
        const listener = { user, notify };
        await step(() => {
          subscriptions.add(listener);
          this.#listeners.add(listener);
        });
        return { [Symbol.asyncDispose]: () => Promise.resolve(void this.#listeners.delete(listener)) };
      },
      purge: (user) => step(() => this.#purge(user)),
      [Symbol.asyncDispose]: () => {
        isClosed = true;
        for (const each of subscriptions) this.#listeners.delete(each);
        return Promise.resolve();
      },
    };
  }

  /** A copy of everything, as a replica that falls behind would hold it. */
  copy(): Contents {
    return structuredClone(this.#users);
  }

  /** Puts a copy in the place of everything, as a failover or a restored backup does. */
  restore(contents: Contents): void {
    this.#users = structuredClone(contents);
    for (const { notify } of this.#listeners) notify();
  }

  #user(name: string): User {
    let user = this.#users.get(name);
    if (user === undefined) {
      this.#users.set(name, user = { seq: 0, forgotten: 0, documents: new Map(), requests: new Map() });
    }
    return user;
  }

  #create(key: DocumentKey, creation: Creation): Appended | Exists | Gone | QuotaReached | Replayed {
    const user = this.#user(key.user);
    const { entry, request, quota } = creation;
    const there = this.#settle(key);
    const first = isLive(there) ? entryOf(there, 1) : undefined;
    if (isLive(there) && first?.writeId === entry.writeId) {
      return { outcome: "appended", head: there.head, stamps: [toStamp(first)] };
    }
    const replayed = replay(user, [request]);
    if (replayed !== undefined) return replayed;
    if (isLive(there)) return { outcome: "exists", found: leadTo(there, { as: "head" }, undefined) };
    if (there?.firstWriteId === entry.writeId) return { outcome: "gone", tombstone: there.tombstone };
    const held = this.#liveCount(key.user);
    if (held >= quota) return { outcome: "quota", held };
    if (there !== undefined) forget(user, there);
    const { writeId, writer, body, offset, turn = 0 } = entry;
    const stamp: Stamp = { version: 1, writeId, at: this.now(), turn, writer, seq: ++user.seq, offset };
    const head = firstHead(key.id, creation, stamp);
    user.documents.set(key.id, { firstWriteId: writeId, head, entries: [{ ...stamp, body }], keyframes: [] });
    if (request !== undefined) remember(user, request, head, stamp.at);
    this.#tell(key.user);
    return { outcome: "appended", head, stamps: [stamp] };
  }

  #read(key: DocumentKey, want: Want, held: Held | undefined): Found | Absent | Gone {
    const there = this.#settle(key);
    return isLive(there) ? leadTo(there, want, held) : toGone(there);
  }

  #entries(key: DocumentKey, after: number | undefined, limit: number): Found | Absent | Gone {
    const there = this.#settle(key);
    if (!isLive(there)) return toGone(there);
    const { head, entries } = there;
    const from = Math.max(after === undefined ? head.version - limit + 1 : after + 1, head.oldest);
    return { outcome: "found", head, onto: "nothing", entries: between(entries, from, from + limit - 1) };
  }

  #append(key: DocumentKey, expected: Expected, append: Append): Appended | Lost | Absent | Gone | Replayed {
    const user = this.#user(key.user);
    const there = this.#settle(key);
    const isExpected = isLive(there) && there.head.version === expected.version &&
      there.head.writeId === expected.writeId && there.head.turn === expected.turn;
    const before = isLive(there) && !isExpected ? appendedBefore(there, expected, append) : undefined;
    if (before !== undefined) return before;
    const replayed = replay(user, append.steps.map(({ request }) => request));
    if (replayed !== undefined) return replayed;
    if (!isLive(there)) return toGone(there);
    if (!isExpected) return { outcome: "lost", found: leadTo(there, { as: "head" }, expected) };
    let head = there.head;
    const at = Math.max(this.now(), head.updatedAt);
    const stamps: Stamp[] = [];
    for (const { entry, request } of append.steps) {
      if (entry !== undefined) {
        const { writeId, writer, offset } = entry;
        const turn = Math.max(entry.turn ?? 0, head.turn);
        const stamp: Stamp = { version: head.version + 1, writeId, at, turn, writer, seq: ++user.seq, offset };
        there.entries.push({ ...stamp, body: entry.body });
        head = advancedHead(head, entry, stamp);
        stamps.push(stamp);
      }
      if (request !== undefined) remember(user, request, head, at);
    }
    if (stamps.length > 0) {
      head = { ...head, bytes: append.bytes, oldest: Math.max(append.oldest, head.oldest) };
      if (append.keyframe !== undefined) {
        head = { ...head, base: { version: head.version, bytes: append.bytes, offset: head.offset } };
        there.keyframes.push(append.keyframe);
      }
      there.head = head;
      if (append.keyframe !== undefined) reclaim(there);
      this.#tell(key.user);
    }
    return { outcome: "appended", head, stamps };
  }

  #touch(key: DocumentKey, touch: Touch): Touched | Absent | Gone {
    const there = this.#settle(key);
    if (!isLive(there)) return toGone(there);
    there.head = touchedHead(there.head, touch, this.now());
    return { outcome: "touched", head: there.head };
  }

  #remove(
    key: DocumentKey,
    { writeId, expected, request }: Removal,
  ): Removed | Lost | Absent | Gone | Replayed {
    const user = this.#user(key.user);
    const there = this.#settle(key);
    if (there !== undefined && !isLive(there) && there.tombstone.writeId === writeId) {
      return { outcome: "removed", version: there.version };
    }
    const replayed = replay(user, [request]);
    if (replayed !== undefined) return replayed;
    if (!isLive(there)) return toGone(there);
    if (expected !== undefined && there.head.version !== expected) {
      return { outcome: "lost", found: leadTo(there, { as: "head" }, undefined) };
    }
    const { id, kind, ttlDays, seq, createdSeq, version } = there.head;
    const end = { id, kind, status: "deleted", goneAt: this.now(), ttlDays, seq, createdSeq, writeId } as const;
    this.#bury(key, there, end);
    if (request !== undefined) remember(user, request, there.head, this.now());
    return { outcome: "removed", version };
  }

  #locate(key: DocumentKey, place: Place): Stamp | undefined {
    const there = this.#users.get(key.user)?.documents.get(key.id);
    const entry = isLive(there) ? findPlace(there.entries, place) : undefined;
    return entry && toStamp(entry);
  }

  #trim(key: DocumentKey, oldest: Held, keyframe: Keyframe): void {
    const there = this.#users.get(key.user)?.documents.get(key.id);
    if (!isLive(there) || there.head.oldest >= oldest.version) return;
    if (entryOf(there, oldest.version)?.writeId !== oldest.writeId) return;
    there.keyframes = [...there.keyframes.filter(({ version }) => version !== keyframe.version), keyframe]
      .sort((a, b) => a.version - b.version);
    const { version, bytes } = keyframe;
    const stamp = entryOf(there, version);
    const isNewer = stamp !== undefined && version > there.head.base.version;
    const base = isNewer ? { version, bytes, offset: stamp.offset } : there.head.base;
    there.head = { ...there.head, oldest: oldest.version, base };
    reclaim(there);
  }

  #list(name: string, { direction, from, limit, tombstones }: ListRange): ListPage {
    const user = this.#users.get(name);
    const records = [...user?.documents.values() ?? []]
      .map((document) => isLive(document) ? document.head : document.tombstone)
      .filter(({ seq }) => direction === "down" ? seq < from : seq > from)
      .sort((a, b) => direction === "down" ? b.seq - a.seq : a.seq - b.seq)
      .slice(0, limit);
    const seen = records.map((record) =>
      !isTombstone(record) && isPastDue(record, this.now()) ? toExpired(record) : record
    );
    const page = {
      documents: seen.filter((record) => tombstones || !isTombstone(record)),
      seq: user?.seq ?? 0,
      forgotten: user?.forgotten ?? 0,
    };
    return records.length < limit ? page : { ...page, next: records[records.length - 1].seq };
  }

  #sweep(name: string | undefined, limit: number): number {
    let swept = 0;
    for (const [each, user] of this.#users) {
      if (name !== undefined && each !== name) continue;
      for (const [id, document] of user.documents) {
        if (swept >= limit) break;
        if (isLive(document)) {
          if (!isPastDue(document.head, this.now())) continue;
          this.#bury({ user: each, id }, document, toExpired(document.head));
        } else if (document.dueAt <= this.now()) forget(user, document);
        else continue;
        swept++;
      }
      for (const [id, { at }] of user.requests) {
        if (at >= this.now() - REQUEST_MS || swept >= limit) continue;
        user.requests.delete(id);
        swept++;
      }
    }
    return swept;
  }

  #purge(name: string): number {
    const live = this.#liveCount(name);
    this.#users.delete(name);
    this.#tell(name);
    return live;
  }

  #liveCount(name: string): number {
    return [...this.#users.get(name)?.documents.values() ?? []]
      .filter((document) => isLive(document) && !isPastDue(document.head, this.now())).length;
  }

  /** What there is of a document, after burying it if it is past due. */
  #settle(key: DocumentKey): Live | Buried | undefined {
    const there = this.#users.get(key.user)?.documents.get(key.id);
    return isLive(there) && isPastDue(there.head, this.now()) ? this.#bury(key, there, toExpired(there.head)) : there;
  }

  #bury({ user: name, id }: DocumentKey, { head: { version }, firstWriteId }: Live, end: Tombstone): Buried {
    const user = this.#user(name);
    const tombstone = { ...end, seq: ++user.seq, writeId: end.writeId || crypto.randomUUID() };
    const buried = { tombstone, dueAt: this.now() + TOMBSTONE_MS, version, firstWriteId };
    user.documents.set(id, buried);
    this.#tell(name);
    return buried;
  }

  #tell(name: string): void {
    for (const { user, notify } of this.#listeners) if (user === name) notify();
  }
}

async function* iterate<T>(fetch: () => Promise<readonly T[]>): AsyncGenerator<T> {
  yield* await fetch();
}

function isLive(document: Live | Buried | undefined): document is Live {
  return document !== undefined && "head" in document;
}

function toGone(document: Buried | undefined): Absent | Gone {
  return document === undefined ? { outcome: "absent" } : { outcome: "gone", tombstone: document.tombstone };
}

function forget(user: User, { tombstone: { id, seq } }: Buried): void {
  user.documents.delete(id);
  user.forgotten = Math.max(user.forgotten, seq);
}

function replay(user: User, requests: readonly (RequestDraft | undefined)[]): Replayed | undefined {
  for (const request of requests) {
    const record = request && user.requests.get(request.id);
    if (record !== undefined) return { outcome: "replayed", record };
  }
  return undefined;
}

function remember(user: User, request: RequestDraft, head: Head, at: number): void {
  const { id, version, writeId, turn, ttlDays, expiresAt } = head;
  user.requests.set(request.id, { ...request, documentId: id, version, writeId, at, turn, ttlDays, expiresAt });
}

function appendedBefore({ head, entries }: Live, expected: Held, append: Append): Appended | undefined {
  const drafts = append.steps.flatMap(({ entry }) => entry ?? []);
  const there = between(entries, expected.version + 1, expected.version + drafts.length);
  const isThere = drafts.length > 0 && there.length === drafts.length &&
    there[there.length - 1].writeId === drafts[drafts.length - 1].writeId;
  return isThere ? { outcome: "appended", head, stamps: there.map(toStamp) } : undefined;
}

/** Lets the bytes before the newest keyframe at or before `oldest` go. */
function reclaim(document: Live): void {
  const first = document.keyframes.findLast(({ version }) => version <= document.head.oldest)?.version ?? 0;
  document.entries = document.entries.filter(({ version }) => version >= first);
  document.keyframes = document.keyframes.filter(({ version }) => version >= first);
}

function leadTo({ head, entries, keyframes }: Live, want: Want, held: Held | undefined): Found {
  const target = findTarget(entries, head, want);
  if (target === undefined) return { outcome: "found", head, onto: "nothing", entries: [] };
  if (held?.version === target.version && held.writeId === target.writeId) {
    return { outcome: "found", head, target: "held", onto: "held", entries: [] };
  }
  const keyframe = held?.version === 0 ? undefined : keyframes.findLast(({ version }) => version <= target.version);
  const stamp = entries.find(({ version }) => version === held?.version);
  const isPart = held !== undefined && held.version < target.version && stamp?.writeId === held.writeId;
  const isCheaper = isPart && (keyframe === undefined || keyframe.version <= held.version ||
    (entries.find(({ version }) => version === keyframe.version)?.offset ?? 0) - stamp.offset <= keyframe.bytes);
  const onto = isCheaper ? "held" : keyframe ?? "nothing";
  const after = onto === "held" && held !== undefined ? held.version + 1 : 1;
  const from = typeof onto === "string" ? after : firstEntry(onto);
  return {
    outcome: "found",
    head,
    target: toStamp(target),
    onto,
    entries: between(entries, from, target.version),
  };
}

function findTarget(entries: readonly Entry[], head: Head, want: Want): Entry | undefined {
  switch (want.as) {
    case "head":
      return findPlace(entries, { version: head.version });
    case "version":
      return findPlace(entries, { version: want.version });
    case "turn":
      return findPlace(entries, { turn: want.turn });
    case "time":
      return findPlace(entries, { at: want.at });
  }
}

function findPlace(entries: readonly Entry[], place: Place): Entry | undefined {
  if ("version" in place) return entries.find(({ version }) => version === place.version);
  if ("turn" in place) return entries.findLast(({ turn }) => turn <= place.turn);
  if ("at" in place) return entries.findLast(({ at }) => at <= place.at);
  if ("seq" in place) return entries.findLast(({ seq }) => seq <= place.seq);
  return entries.findLast(({ offset }) => offset <= place.offset);
}

function entryOf({ entries }: Live, version: number): Entry | undefined {
  return entries.find((entry) => entry.version === version);
}

function between(entries: readonly Entry[], from: number, to: number): Entry[] {
  return entries.filter(({ version }) => version >= from && version <= to);
}

function toStamp({ version, writeId, at, turn, writer, seq, offset }: Entry): Stamp {
  return { version, writeId, at, turn, writer, seq, offset };
}
