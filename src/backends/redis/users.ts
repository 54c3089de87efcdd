/**
 * What concerns a user as a whole, or all of them: the list, leftovers, and the end of everything.
 *
 * Scripts take their keys beforehand, so each of these first asks what there is, and the script that acts looks again.
 *
 * @module
 */

import type { ListPage, ListRange } from "../backend.ts";
import type { Head, Tombstone } from "../records.ts";
import { BackendError } from "../../document/errors.ts";
import type { Caller } from "./caller.ts";
import type { Keys } from "./keys.ts";
import { list, number, text, toHead, toTombstone } from "./records.ts";
import { BELONGINGS, HEADS, LEFTOVERS, PAGE, PURGE, SWEEP } from "./user_scripts.ts";

/** How many documents one script looks at, so that others can come between. */
const CHUNK = 256;
/** How many keys a scan looks at in one step. */
const SCAN_STEP = 1_000;

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
    const keys = this.#keys.user(user);
    const [seq, forgotten, found] = list(await this.#caller.run(PAGE, keys, [direction, String(from), String(limit)]));
    const members = list(found).map(text);
    const documents: (Head | Tombstone)[] = [];
    for (let i = 0; i < members.length; i += 2 * CHUNK) {
      const chunk = members.slice(i, i + 2 * CHUNK);
      const ids = chunk.filter((_, index) => index % 2 === 0);
      const heads = ids.map((id) => this.#keys.head({ user, id }));
      const records = list(await this.#caller.run(HEADS, [...keys, ...heads], chunk));
      for (const [index, record] of records.entries()) {
        const document = readable(record, ids[index]);
        if (document !== undefined && (tombstones || !("status" in document))) documents.push(document);
      }
    }
    const page = { documents, seq: number(seq), forgotten: number(forgotten) };
    return members.length < 2 * limit ? page : { ...page, next: number(members[members.length - 1]) };
  }

  /** Buries past due documents and forgets old tombstones of a user. Answers how many. Redis forgets requests by itself. */
  async sweep(user: string, limit: number): Promise<number> {
    const keys = this.#keys.user(user);
    const ids = list(await this.#caller.run(LEFTOVERS, keys, [String(Math.min(limit, CHUNK))])).map(text);
    return ids.length === 0 ? 0 : await this.bury(user, ids);
  }

  /** The same, of some documents. */
  async bury(user: string, ids: readonly string[]): Promise<number> {
    const keys = [...this.#keys.user(user), ...ids.flatMap((id) => this.#keys.document({ user, id }))];
    const [swept] = list(await this.#caller.run(SWEEP, keys, ids));
    return number(swept);
  }

  /** The same, of all users; a call that stops at its limit is taken up by the next. */
  async sweepAll(limit: number): Promise<number> {
    const walk = this.#walk ?? { users: this.#all() };
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
    const keys = [...this.#keys.user(user), this.#keys.requests(user)];
    let purged = 0;
    for (;;) {
      const [ids, requests] = list(await this.#caller.run(BELONGINGS, keys, [String(CHUNK)])).map((ids) =>
        list(ids).map(text)
      );
      const documents = ids.flatMap((id) => [...this.#keys.document({ user, id }), this.#keys.removed({ user, id })]);
      const records = requests.map((id) => this.#keys.request(user, id));
      const args = [String(ids.length), ...ids, ...requests];
      const [live, left] = list(await this.#caller.run(PURGE, [...keys, ...documents, ...records], args));
      purged += number(live);
      if (number(left) === 0) return purged;
    }
  }

  /** All users there are, some perhaps twice. */
  async *#all(): AsyncGenerator<string> {
    for (const node of await this.#caller.nodes()) {
      let cursor = "0";
      do {
        const command = ["SCAN", cursor, "MATCH", this.#keys.users, "COUNT", String(SCAN_STEP)];
        const [next, names] = list(await this.#caller.ask(command, undefined, node));
        cursor = text(next);
        for (const name of list(names)) {
          const user = this.#keys.userOf(text(name));
          if (user !== undefined) yield user;
        }
      } while (cursor !== "0");
    }
  }
}

/** A document that has not moved on. A damaged record must not hide the others. */
function readable(record: unknown, id: string): Head | Tombstone | undefined {
  try {
    const [outcome, ...rest] = list(record);
    if (outcome === "found") return toHead(rest[0], id);
    return outcome === "gone" ? toTombstone(rest, id) : undefined;
  } catch (error) {
    if (error instanceof BackendError) return undefined;
    throw error;
  }
}
