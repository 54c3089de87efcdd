/**
 * What concerns a user as a whole, or all of them: the list, leftovers, and the end of everything.
 *
 * Scripts take their keys beforehand, so each of these first asks what there is, and the script that acts looks again.
 *
 * @module
 */

import type { ListPage, ListRange } from "../backend.ts";
import type { DocumentRecord } from "../maintenance.ts";
import { isTombstone } from "../records.ts";
import type { Caller } from "./caller.ts";
import type { Keys } from "./keys.ts";
import { list, number, text, toRecord } from "./records.ts";
import { scan } from "./scan.ts";
import { BELONGINGS, LEFTOVERS, PAGE, PURGE, SWEEP } from "./user_scripts.ts";

/** How many documents one script looks at, so that others can come between. */
const CHUNK = 256;

/** A walk through all users, and the one it has come to. */
interface Walk {
  readonly users: AsyncGenerator<string>;
  user?: string;
}

/** The users of a Redis. */
export class Users {
  readonly #caller: Caller;
  readonly #keys: Keys;
  /** Where the last sweep of all users stopped at its limit. */
  #walk: Walk | undefined;

  constructor(caller: Caller, keys: Keys) {
    this.#caller = caller;
    this.#keys = keys;
  }

  /** A page of a user's documents, in the order of `seq`. */
  async list(user: string, { direction, from, limit, tombstones }: ListRange): Promise<ListPage> {
    const first = await this.page(user, direction, from, Math.min(limit, CHUNK));
    const records = [...first.records];
    let { next, latest } = first;
    // Where something has moved up meanwhile the page ends, and says so: who walks down must learn to come back.
    while (next !== undefined && records.length < limit && latest === first.seq) {
      const page = await this.page(user, direction, next, Math.min(limit - records.length, CHUNK));
      records.push(...page.records);
      ({ next, latest } = page);
    }
    const { seq, forgotten } = first;
    // A damaged record must not hide the others.
    const readable = records.flatMap((record) => "unreadable" in record ? [] : record);
    const documents = tombstones ? readable : readable.filter((document) => !isTombstone(document));
    return { documents, seq, forgotten, ...(next === undefined ? {} : { next }) };
  }

  /** Buries past due documents and forgets old tombstones of a user. Answers how many. Redis forgets requests by itself. */
  async sweep(user: string, limit: number): Promise<number> {
    const keys = this.#keys.user(user);
    for (;;) {
      const ids = list(await this.#caller.run(LEFTOVERS, keys, [String(Math.min(limit, CHUNK))])).map(text);
      const swept = ids.length === 0 ? 0 : await this.bury(user, ids);
      // Each of them has left the index, also what is damaged: it must not hide what comes after it.
      if (swept > 0 || ids.length === 0) return swept;
    }
  }

  /** The same, of some documents. */
  async bury(user: string, ids: readonly string[]): Promise<number> {
    const keys = [...this.#keys.user(user), ...ids.flatMap((id) => this.#keys.document({ user, id }))];
    const [swept] = list(await this.#caller.run(SWEEP, keys, ids));
    return number(swept);
  }

  /** The same, of all users; a call that stops at its limit is taken up by the next. */
  async sweepAll(limit: number): Promise<number> {
    const walk = this.#walk ?? { users: this.all() };
    this.#walk = undefined;
    let removed = 0;
    while (removed < limit) {
      if (walk.user === undefined) {
        const next = await walk.users.next();
        if (next.done) return removed;
        walk.user = next.value;
      }
      const swept = await this.sweep(walk.user, limit - removed);
      removed += swept;
      if (swept === 0) walk.user = undefined;
    }
    this.#walk = walk;
    return removed;
  }

  /** Removes everything of a user, some documents at a time. Answers how many were alive. */
  async purge(user: string): Promise<number> {
    const keys = [...this.#keys.user(user), this.#keys.requests(user), ...this.#keys.staged(user)];
    let purged = 0;
    for (;;) {
      const [ids, requests] = list(await this.#caller.run(BELONGINGS, keys, [String(CHUNK)])).map((ids) =>
        list(ids).map(text)
      );
      const documents = ids.flatMap((id) => this.#keys.document({ user, id }));
      const records = requests.map((id) => this.#keys.request(user, id));
      const args = [String(ids.length), ...ids, ...requests];
      const [live, left] = list(await this.#caller.run(PURGE, [...keys, ...documents, ...records], args));
      purged += number(live);
      if (number(left) === 0) return purged;
    }
  }

  /**
   * Part of a page, as of one moment: without `next` there was nothing else in its direction then. Which heads to look at
   * is only known from a look before; meanwhile some may have moved up, but no new ones come in between.
   */
  async page(user: string, direction: ListRange["direction"], from: number, limit: number): Promise<Part> {
    const keys = this.#keys.user(user);
    const look = async (from: number, ids: readonly string[]) => {
      const heads = ids.map((id) => this.#keys.head({ user, id }));
      const args = [direction, String(from), String(limit), ...ids];
      const [seq, forgotten, members, records] = list(await this.#caller.run(PAGE, [...keys, ...heads], args));
      const found = list(members).map(text);
      return { seq: number(seq), forgotten: number(forgotten), records: list(records), ...unzip(found) };
    };
    let part = await look(from, []);
    // What moves above this place later is not looked for further down: who walks down meets it on the way up.
    const { seq } = part;
    const place = direction === "down" ? Math.min(from, seq + 1) : from;
    while (part.ids.length > 0 && part.records.length === 0) part = await look(place, part.ids);
    const { ids, seqs, records, forgotten } = part;
    const isAll = ids.length < limit && records.length === ids.length && (direction === "up" || part.seq === seq);
    return {
      records: records.map((record, i) => toRecord(record, ids[i]) ?? { id: ids[i], unreadable: "is not there" }),
      seq: direction === "down" ? seq : part.seq,
      forgotten,
      latest: part.seq,
      ...(isAll ? {} : { next: seqs[records.length - 1] ?? place }),
    };
  }

  /** All users there are, in no order, some perhaps twice. */
  async *all(): AsyncGenerator<string> {
    for await (const key of scan(this.#caller, this.#keys.pattern("user"))) {
      const parsed = this.#keys.parse(key);
      if (parsed?.name === "user") yield parsed.user;
    }
  }
}

/** Part of a list. */
interface Part extends Omit<ListPage, "documents"> {
  /** What it went through. */
  readonly records: readonly DocumentRecord[];
  /** The user's sequence number as it was last seen; {@link ListPage.seq} is as it was first seen. */
  readonly latest: number;
}

/** Ids and sequence numbers, which come by turns. */
function unzip(members: readonly string[]): { ids: string[]; seqs: number[] } {
  const ids = members.filter((_, i) => i % 2 === 0);
  return { ids, seqs: members.filter((_, i) => i % 2 === 1).map(number) };
}
