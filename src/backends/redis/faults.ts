/**
 * What can be wrong in a Redis beside the journals: counters, indices, keys of nobody.
 *
 * @module
 */

import { BackendError } from "../../document/errors.ts";
import type { Fault } from "../maintenance.ts";
import type { Caller } from "./caller.ts";
import { replyCode } from "./errors.ts";
import { disagreements, toFacts } from "./facts.ts";
import { COUNTS, FACTS, FIRST_PART, INDEX_STRAYS, STRAYS } from "./fault_scripts.ts";
import type { Keys } from "./keys.ts";
import { list, number, text } from "./records.ts";
import { type RedisRemedies, remediesOf } from "./repair.ts";
import { scanPages } from "./scan.ts";

/** How many documents one script looks at. */
const CHUNK = 50;
/** How many members of an index are fetched at a time. */
const MEMBERS = 500;

/** What keys of a document are called, in the order of {@link Keys.document}. */
const PARTS = ["head", "journal", "frames", "states", "turns"];
/** What other keys are called. */
const OTHERS = ["user", "documents", "expiry", "marks", "graves", "requests", "staged"];
/** Where the indices are among a user's keys, and what they are called. */
const INDICES: readonly (readonly [at: number, command: string, name: string])[] = [
  [2, "ZSCAN", "what ends"],
  [3, "HSCAN", "what tombstones tell"],
  [4, "ZSCAN", "tombstones"],
];

/** Looks for every kind of fault. The names of all users are held meanwhile. */
export async function* findFaults(caller: Caller, keys: Keys): AsyncGenerator<Fault> {
  const search = new Search(caller, keys);
  const users = new Set<string>();
  yield* search.strays(users);
  for (const user of [...users].sort()) {
    yield* search.documents(user);
    for (const index of INDICES) yield* search.index(user, index);
    yield* search.counts(user); // last, so that what was put right before is counted
  }
}

class Search {
  readonly #caller: Caller;
  readonly #keys: Keys;
  readonly #remedies: RedisRemedies;

  constructor(caller: Caller, keys: Keys) {
    this.#caller = caller;
    this.#keys = keys;
    this.#remedies = remediesOf(caller, keys);
  }

  /** Keys that belong to no document or request, or are none of the store's. Collects the users. */
  async *strays(users: Set<string>): AsyncGenerator<Fault> {
    const told = new Set<string>();
    for await (const page of scanPages(this.#caller, `${this.#keys.prefix}:*`)) {
      const byUser = new Map<string, Named[]>();
      for (const key of page) {
        const parsed = this.#keys.parse(key);
        const named = parsed === undefined ? undefined : toNamed(parsed.name);
        if (parsed !== undefined) users.add(parsed.user);
        if (named === "other") continue;
        if (parsed === undefined || named === undefined) {
          if (!told.has(key)) yield { user: parsed?.user, problem: `The key ${key} is none of the store's.` };
          told.add(key);
        } else byUser.set(parsed.user, [...byUser.get(parsed.user) ?? [], { ...named, key }]);
      }
      for (const [user, names] of byUser) {
        for (const { id, index } of await this.#straysOf(user, names)) {
          const name = JSON.stringify([user, id, index]);
          const fault = told.has(name) ? undefined : await this.#strayFault(user, id, index);
          told.add(name);
          if (fault !== undefined) yield fault;
        }
      }
    }
  }

  /** Counters, compared with what they count. */
  async *counts(user: string): AsyncGenerator<Fault> {
    const reply = list(await this.#caller.run(COUNTS, this.#keys.user(user), []));
    const [live, seq, documents, tombstones, newest] = reply.map((value) => value === null ? undefined : number(value));
    const held = (documents ?? 0) - (tombstones ?? 0);
    const remedy = this.#remedies.counters(user);
    if (live === undefined) {
      if (documents !== 0) yield { user, problem: "The user has documents and no counters.", remedy };
    } else if (live !== held) {
      yield { user, problem: `The user has ${held} live documents and is counted to have ${live}.`, remedy };
    }
    if (seq !== undefined && newest !== undefined && seq < newest) {
      const problem = `The user's documents have sequence numbers up to ${newest}, and only ${seq} were taken.`;
      yield { user, problem, remedy };
    }
  }

  /** What the records of each document say of each other. */
  async *documents(user: string): AsyncGenerator<Fault> {
    const [, documents] = this.#keys.user(user);
    for (let from = "-inf";;) {
      const command = ["ZRANGEBYSCORE", documents, from, "+inf", "WITHSCORES", "LIMIT", "0", String(CHUNK)];
      const rows = list(await this.#caller.ask(command, documents)).map(text);
      const ids = rows.filter((_, i) => i % 2 === 0);
      if (ids.length === 0) return;
      yield* this.#facts(user, ids);
      if (ids.length < CHUNK) return;
      from = `(${rows[rows.length - 1]}`;
    }
  }

  /** Rows of an index that lead to no document. */
  async *index(user: string, [at, command, name]: typeof INDICES[number]): AsyncGenerator<Fault> {
    const keys = this.#keys.user(user);
    const told = new Set<string>();
    let cursor = "0";
    do {
      const [next, flat] = list(
        await this.#caller.ask([command, keys[at], cursor, "COUNT", String(MEMBERS)], keys[at]),
      );
      cursor = text(next);
      const ids = list(flat).map(text).filter((_, i) => i % 2 === 0);
      for (const id of list(await this.#caller.run(INDEX_STRAYS, keys, [String(at + 1), ...ids])).map(text)) {
        if (told.has(id)) continue;
        told.add(id);
        const problem = `The index of ${name} names it, and there is no such document.`;
        yield { user, id, problem, remedy: this.#remedies.unlist(user, id) };
      }
    } while (cursor !== "0");
  }

  async *#facts(user: string, ids: readonly string[]): AsyncGenerator<Fault> {
    const keys = [...this.#keys.user(user), ...ids.flatMap((id) => this.#keys.document({ user, id }))];
    try {
      const [now, ...facts] = list(await this.#caller.run(FACTS, keys, ids));
      for (const [i, reply] of facts.entries()) {
        for (const { problem, remedy } of disagreements(toFacts(ids[i], number(now), reply))) {
          const key = { user, id: ids[i] };
          yield { ...key, problem, remedy: this.#remedies[remedy](key) };
        }
      }
    } catch (error) {
      if (!(error instanceof BackendError) || ids.length === 1 && isDamage(error)) return; // that is told of the document
      if (!isDamage(error)) throw error;
      for (const id of ids) yield* this.#facts(user, [id]);
    }
  }

  async #straysOf(user: string, names: readonly Named[]): Promise<readonly Named[]> {
    const keys = [...this.#keys.user(user), this.#keys.requests(user), ...names.map(({ key }) => key)];
    const args = names.flatMap(({ index, id }) => [index, id]);
    return list(await this.#caller.run(STRAYS, keys, args)).map((i) => names[number(i)]);
  }

  async #strayFault(user: string, id: string, index: Named["index"]): Promise<Fault | undefined> {
    if (index === "requests") {
      const problem = `What is remembered of the request ${id} is in no index, so a purge would leave it behind.`;
      return { user, problem, remedy: this.#remedies.request(user, id) };
    }
    const key = { user, id };
    const [first] = list(await this.#caller.run(FIRST_PART, this.#keys.document(key), []));
    if (first === undefined) return undefined; // gone meanwhile
    const part = PARTS[number(first) - 1];
    const problem = part === "head"
      ? "It is missing from the index of documents, so no list has it."
      : `Its ${part} are kept, and there is no such document.`.replace("journal are", "journal is");
    if (part === "journal") return { user, id, problem }; // what was written is removed by nobody
    return {
      user,
      id,
      problem,
      remedy: part === "head" ? this.#remedies.record(key) : this.#remedies.unlist(user, id),
    };
  }
}

interface Named {
  readonly key: string;
  /** What it is a part of. */
  readonly index: "documents" | "requests";
  readonly id: string;
}

/** What a key is called after its user: a part of a document, a request, or another of ours. */
function toNamed(name: string): Omit<Named, "key"> | "other" | undefined {
  const colon = name.indexOf(":");
  if (colon === -1) return OTHERS.includes(name) ? "other" : undefined;
  const [part, id] = [name.slice(0, colon), name.slice(colon + 1)];
  if (part === "request") return { index: "requests", id };
  if (part === "removed" || part === "staged") return "other";
  return PARTS.includes(part) ? { index: "documents", id } : undefined;
}

/** Whether a record is damaged, rather than the server at fault. */
function isDamage(error: BackendError): boolean {
  return error.cause === undefined || replyCode(error.cause) === "WRONGTYPE";
}
