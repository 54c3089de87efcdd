/**
 * The maintenance port of a Redis, alone or as a cluster.
 *
 * A document whose time to live has ended is gone from Redis by itself: it comes as what is left of it.
 *
 * @module
 */

import { BackendError } from "../../document/errors.ts";
import type { Entry, Keyframe } from "../../document/journal.ts";
import {
  type Adoption,
  type Derived,
  type DocumentRecord,
  type Fault,
  type Maintenance,
  PAGES,
  type PortableTombstone,
  type TurnEnd,
  type Unreadable,
} from "../maintenance.ts";
import type { DocumentKey, Head } from "../records.ts";
import { adopt } from "./adopt.ts";
import type { Caller } from "./caller.ts";
import { replyCode } from "./errors.ts";
import { findFaults } from "./faults.ts";
import type { Keys } from "./keys.ts";
import { open, type Opened } from "./open.ts";
import type { RedisBackendOptions } from "./options.ts";
import { DOCUMENT } from "./read_scripts.ts";
import { list, number, readable, text, toEntry, toRecord } from "./records.ts";
import { rebuild } from "./repair.ts";
import { scan } from "./scan.ts";
import { Users } from "./users.ts";

/**
 * Opens a Redis for maintenance, under the checks of {@link openRedisBackend}.
 *
 * @throws {InvalidInput} for a URL or a prefix that is not understood.
 * @throws {BackendError} if Redis cannot be reached, refuses the user, or cannot keep state.
 */
export async function openRedisMaintenance(options: RedisBackendOptions = {}): Promise<Maintenance> {
  return new RedisMaintenance(await open(options));
}

class RedisMaintenance implements Maintenance {
  readonly #opened: Opened;
  readonly #caller: Caller;
  readonly #keys: Keys;
  readonly #users: Users;

  constructor(opened: Opened) {
    this.#opened = opened;
    this.#caller = opened.caller;
    this.#keys = opened.keys;
    this.#users = new Users(opened.caller, opened.keys);
  }

  /** Redis tells its keys in no order, and some twice: the names of all users are held meanwhile. */
  async *users(): AsyncGenerator<string> {
    const users = new Set<string>();
    for await (const key of scan(this.#caller, this.#keys.pattern("documents"))) {
      const parsed = this.#keys.parse(key);
      if (parsed?.name === "documents") users.add(parsed.user);
    }
    yield* [...users].sort();
  }

  async *documents(user: string): AsyncGenerator<DocumentRecord> {
    for (let from: number | undefined = 0; from !== undefined;) {
      const { records, next }: { records: readonly DocumentRecord[]; next?: number } = await this.#page(user, from);
      yield* records;
      from = next;
    }
  }

  async document(key: DocumentKey): Promise<DocumentRecord | undefined> {
    const names = [...this.#keys.user(key.user), ...this.#keys.document(key)];
    try {
      return toRecord(await this.#caller.run(DOCUMENT, names, [key.id]), key.id);
    } catch (error) {
      return { id: key.id, ...toForeign(error) };
    }
  }

  async *entries(key: DocumentKey): AsyncGenerator<Entry | Unreadable> {
    const [, journal] = this.#keys.document(key);
    for (let after = "-";;) {
      const page = await this.#ask(["XRANGE", journal, after, "+", "COUNT", String(PAGES.bodies)]);
      if ("unreadable" in page) return yield page;
      const items = list(page.reply);
      for (const item of items) yield readable(() => toEntry(item), versionOf(item));
      if (items.length < PAGES.bodies) return;
      after = `(${text(list(items[items.length - 1])[0])}`;
    }
  }

  async *keyframes(key: DocumentKey): AsyncGenerator<Keyframe | Unreadable> {
    const [, , frames, states] = this.#keys.document(key);
    for (let after = "-inf";;) {
      const page = await this.#ask(["ZRANGEBYSCORE", frames, after, "+inf", "LIMIT", "0", String(PAGES.bodies)]);
      if ("unreadable" in page) return yield page;
      const rows = list(page.reply).map(text);
      if (rows.length === 0) return;
      const versions = rows.map((row) => row.split(" ")[0]);
      const bodies = await this.#ask(["HMGET", states, ...versions]);
      if ("unreadable" in bodies) return yield bodies;
      for (const [i, body] of list(bodies.reply).entries()) yield toKeyframe(rows[i], body);
      after = `(${versions[versions.length - 1]}`;
    }
  }

  async *turns(key: DocumentKey): AsyncGenerator<TurnEnd | Unreadable> {
    const [, , , , turns] = this.#keys.document(key);
    for (let after = "-inf";;) {
      const page = await this.#ask([
        "ZRANGEBYSCORE",
        turns,
        after,
        "+inf",
        "WITHSCORES",
        "LIMIT",
        "0",
        String(PAGES.turns),
      ]);
      if ("unreadable" in page) return yield page;
      const rows = list(page.reply).map(text);
      for (let i = 0; i < rows.length; i += 2) {
        yield readable(() => ({ turn: number(rows[i + 1]), version: number(rows[i]) }));
      }
      if (rows.length < 2 * PAGES.turns) return;
      after = `(${rows[rows.length - 1]}`;
    }
  }

  adopt(key: DocumentKey, what: Adoption | PortableTombstone): Promise<"adopted" | "exists"> {
    return adopt(this.#caller, this.#keys, key, what);
  }

  rebuild(key: DocumentKey, expected: Pick<Head, "version" | "writeId">, derived: Derived): Promise<boolean> {
    return rebuild(this.#caller, this.#keys, key, expected, derived);
  }

  faults(): AsyncGenerator<Fault> {
    return findFaults(this.#caller, this.#keys);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#opened.ears.close();
    this.#caller.close();
    return Promise.resolve();
  }

  /** Documents from a place on; one by one where a key among them is of another type. */
  async #page(user: string, from: number): Promise<{ records: readonly DocumentRecord[]; next?: number }> {
    try {
      return await this.#users.page(user, "up", from, PAGES.heads);
    } catch (error) {
      toForeign(error);
    }
    const [, documents] = this.#keys.user(user);
    const command = ["ZRANGEBYSCORE", documents, `(${from}`, "+inf", "WITHSCORES", "LIMIT", "0", String(PAGES.heads)];
    const rows = list(await this.#caller.ask(command, documents)).map(text);
    const records: DocumentRecord[] = [];
    for (let i = 0; i < rows.length; i += 2) {
      const record = await this.document({ user, id: rows[i] });
      if (record !== undefined) records.push(record);
    }
    return { records, ...(rows.length < 2 * PAGES.heads ? {} : { next: number(rows[rows.length - 1]) }) };
  }

  async #ask(command: readonly string[]): Promise<{ readonly reply: unknown } | Unreadable> {
    try {
      return { reply: await this.#caller.ask(command, command[1]) };
    } catch (error) {
      return toForeign(error);
    }
  }
}

/** What to say of a key that holds something of another type. @throws any other error. */
function toForeign(error: unknown): Unreadable {
  if (error instanceof BackendError && replyCode(error.cause) === "WRONGTYPE") {
    return { unreadable: "is kept under a key that holds something of another program" };
  }
  throw error;
}

function versionOf(reply: unknown): number | undefined {
  const id = Array.isArray(reply) ? String(reply[0]) : "";
  return /^\d+-0$/.test(id) ? parseInt(id) : undefined;
}

function toKeyframe(row: string, body: unknown): Keyframe | Unreadable {
  const [, version, bytes, writeId] = /^(\d+) (\d+) (.*)$/s.exec(row) ?? [];
  if (version === undefined) return { unreadable: "is damaged" };
  if (typeof body !== "string") return { unreadable: "has lost its state", version: Number(version) };
  return { version: Number(version), bytes: Number(bytes), writeId, body };
}
