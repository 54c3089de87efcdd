/**
 * What can be wrong in a Deno KV database beside the journals: counters, places in indices, records of nobody.
 *
 * The store may be written meanwhile, and nothing can be looked at as a whole: what seems wrong is looked at again, together
 * with what it disagrees with, before it is told.
 *
 * @module
 */

import type { Fault } from "../maintenance.ts";
import type { Connection } from "./connection.ts";
import type { KvEntry, KvKey, KvKeyPart } from "./database.ts";
import { findForeign } from "./foreign.ts";
import { findOrphans } from "./orphans.ts";
import { type Places, placesOf, userOf } from "./places.ts";
import { KvRemedies } from "./repair.ts";
import { idIn, readDocument, readUser } from "./values.ts";
import { partsBelow, walk } from "./walk.ts";

/** How many records are fetched at a time. */
const PAGE = 100;
/** How often a user is counted who writes meanwhile. */
const ATTEMPTS = 5;

/** Looks for every kind of fault. The names of all journals are held meanwhile. */
export async function* findFaults(connection: Connection): AsyncGenerator<Fault> {
  const search = new Search(connection);
  const { keys } = connection;
  for (const prefix of [keys.documents(), keys.users()]) {
    for await (const part of partsBelow(connection, prefix)) yield* search.user(part);
  }
  yield* findOrphans(connection);
  yield* findForeign(connection);
}

class Search {
  readonly #connection: Connection;
  readonly #remedies: KvRemedies;
  readonly #seen = new Set<string>();

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#remedies = new KvRemedies(connection);
  }

  /** All that is kept of a user, once. */
  async *user(part: KvKeyPart): AsyncGenerator<Fault> {
    const name = String(part);
    if (this.#seen.has(name)) return;
    this.#seen.add(name);
    const places = placesOf(this.#connection, part);
    const { value } = await this.#connection.get(places.user);
    const user = userOf(part, value);
    for await (const entry of walk(this.#connection, places.documents, PAGE)) {
      yield* this.#document(user, places, entry);
    }
    for await (const row of walk(this.#connection, places.list, PAGE)) yield* this.#row(user, places, row, "list");
    for await (const row of walk(this.#connection, places.dues, PAGE)) yield* this.#row(user, places, row, "due");
    yield* this.#requests(user, places);
    yield* this.#counts(user, places); // last, so that what was put right before is counted
  }

  /** The user's record, compared with what it counts. A user who writes all the time is not counted. */
  async *#counts(user: string | undefined, places: Places): AsyncGenerator<Fault> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const before = await this.#connection.get(places.user);
      let [live, newest, documents] = [0, 0, 0];
      for await (const { value } of walk(this.#connection, places.documents, PAGE)) {
        documents++;
        const document = readDocument(value);
        if (document === undefined || "head" in document) live++;
        if (document !== undefined) newest = Math.max(newest, seqOf(document));
      }
      const after = await this.#connection.get(places.user);
      if (before.versionstamp !== after.versionstamp) continue;
      const record = readUser(after.value);
      const remedy = user === undefined ? undefined : this.#remedies.counters(user, places);
      const fault = (problem: string): Fault => ({ user, problem, remedy });
      if (record === undefined) {
        if (after.versionstamp !== null) yield fault("The record of the user is damaged.");
        else if (documents > 0) yield fault("The user has documents and no counters.");
        return;
      }
      if (record.live !== live) {
        yield fault(`The user has ${live} live documents and is counted to have ${record.live}.`);
      }
      if (record.seq < newest) {
        yield fault(`The user's documents have sequence numbers up to ${newest}, and only ${record.seq} were taken.`);
      }
      return;
    }
  }

  /** A document, compared with its places in the list and among what ends. */
  async *#document(user: string | undefined, places: Places, { key, value }: KvEntry): AsyncGenerator<Fault> {
    const document = readDocument(value);
    if (document === undefined) return; // that is told of the document
    const [listed, due] = [places.listedAt(document), places.dueAt(document, key[key.length - 1])];
    const [now, row, end] = await this.#connection.getMany([key, listed, ...due === undefined ? [] : [due]]);
    if (JSON.stringify(now.value) !== JSON.stringify(value)) return; // written meanwhile, so put in its places meanwhile
    const remedy = this.#remedies.record(places, key);
    const id = idOf(document);
    if (JSON.stringify(row.value) !== JSON.stringify(value)) {
      const problem = row.versionstamp === null
        ? "It is missing from the list."
        : "The list has something else in its place.";
      yield { user, id, problem, remedy };
    }
    if (end !== undefined && end.value !== id) {
      yield {
        user,
        id,
        problem: "No sweep will find it when it ends: the index of what ends says nothing of it.",
        remedy,
      };
    }
  }

  /** A row of an index, compared with the document that it leads to. */
  async *#row(user: string | undefined, places: Places, row: KvEntry, index: "list" | "due"): AsyncGenerator<Fault> {
    const id = index === "due" ? row.value : idIn(row.value);
    if (typeof id !== "string") {
      yield { user, problem: `A row of the index ${index} is damaged.` };
      return;
    }
    const [now, entry] = await this.#settled(row.key, places.document(id));
    if (now.versionstamp !== row.versionstamp) return;
    const document = readDocument(entry.value);
    if (entry.versionstamp !== null && document === undefined) return; // that is told of the document
    const wanted = document === undefined
      ? undefined
      : index === "list"
      ? places.listedAt(document)
      : places.dueAt(document, entry.key[entry.key.length - 1]);
    if (wanted !== undefined && isSame(wanted, row.key)) return;
    const place = index === "list" ? "The list" : "The index of what ends";
    yield { user, id, problem: `${place} names it where it is not.`, remedy: this.#remedies.row(row) };
  }

  /** A row and its document. A purge that is under way removes documents first, and their rows a moment later. */
  async #settled(row: KvKey, document: KvKey): Promise<KvEntry[]> {
    for (let attempt = 1;; attempt++) {
      const entries = await this.#connection.getMany([row, document]);
      if (attempt === ATTEMPTS || entries.every(({ versionstamp }) => versionstamp !== null)) return entries;
      if (entries[0].versionstamp === null) return entries;
      await new Promise((resolve) => setTimeout(resolve, 10 * 3 ** attempt));
    }
  }

  /** Requests, compared with their index. */
  async *#requests(user: string | undefined, places: Places): AsyncGenerator<Fault> {
    for await (const { key, value } of walk(this.#connection, places.requests, PAGE)) {
      const at = typeof value === "object" && value !== null && "at" in value ? value.at : undefined;
      const index = typeof at === "number" ? [...places.requested, at, key[key.length - 1]] : undefined;
      const [now, row] = await this.#connection.getMany([key, ...index === undefined ? [] : [index]]);
      if (now.versionstamp === null || row !== undefined && row.versionstamp !== null) continue;
      const problem = "What is remembered of a request is in no index, so that it is never forgotten.";
      yield { user, problem, ...index === undefined ? {} : { remedy: this.#remedies.request(now, index) } };
    }
  }
}

function seqOf(document: NonNullable<ReturnType<typeof readDocument>>): number {
  return "head" in document ? document.head.seq : document.tombstone.seq;
}

function idOf(document: NonNullable<ReturnType<typeof readDocument>>): string {
  return "head" in document ? document.head.id : document.tombstone.id;
}

function isSame(a: KvKey, b: KvKey): boolean {
  return a.length === b.length && a.every((part, i) => String(part) === String(b[i]) && typeof part === typeof b[i]);
}
