/**
 * State in a SQLite database: the default. On the built-in `node:sqlite`, so Deno's sandbox holds, or on a database of
 * the caller's own.
 *
 * ```ts
 * import { HandleStore } from "jsr:@mcpstate/server";
 * import { openSqliteBackend } from "jsr:@mcpstate/server/sqlite";
 *
 * await using store = new HandleStore(await openSqliteBackend({ path: "/tmp/state.db" }));
 * ```
 *
 * @module
 */

import type { Keyframe, Stamp } from "../document/journal.ts";
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
  Held,
  ListPage,
  ListRange,
  Lost,
  Place,
  QuotaReached,
  Removal,
  Removed,
  Replayed,
  RequestRecord,
  Touch,
  Touched,
  Want,
} from "./backend.ts";
import type { Connection } from "./sqlite/driver.ts";
import { openDatabase, type SqliteBackendOptions } from "./sqlite/open.ts";
import { alreadyHeld, findDocument, findEntries, findPlace, leadTo } from "./sqlite/read.ts";
import { Watcher } from "./sqlite/watcher.ts";
import { findRequest } from "./sqlite/write.ts";
import { isPastDue, isTombstone, LEFTOVERS, toExpired } from "./records.ts";
import { appendStep, createStep, removeStep, touchStep, trimStep } from "./sqlite/steps.ts";
import { countedNames, listDocuments, purgeUser, sweepUser, userNames } from "./sqlite/users.ts";

export type { SqliteBackendOptions } from "./sqlite/open.ts";
export type { SqliteDatabase, SqliteRow, SqliteStatement, SqliteValue } from "./sqlite/driver.ts";

/**
 * Opens a SQLite database as a backend, making its file (mode 0600) and directory (0700) if they are missing.
 *
 * Needs `--allow-read` and `--allow-write` for the file's directory; nothing in memory.
 *
 * @throws {BackendError} for a file that is damaged, belongs to another program, or cannot be opened or written.
 */
export async function openSqliteBackend(options: SqliteBackendOptions = {}): Promise<Backend> {
  return new SqliteBackend(await openDatabase(options), options.now ?? Date.now);
}

class SqliteBackend implements Backend {
  readonly #connection: Connection;
  readonly #now: () => number;
  readonly #watcher: Watcher;
  #closed = false;

  constructor(connection: Connection, now: () => number) {
    this.#connection = connection;
    this.#watcher = new Watcher(connection);
    this.#now = now;
  }

  create(key: DocumentKey, creation: Creation): Promise<Appended | Exists | Gone | QuotaReached | Replayed> {
    return this.#connection.write(() => createStep(this.#connection, key, creation, this.#now()));
  }

  async read(key: DocumentKey, want: Want, held?: Held): Promise<Found | Absent | Gone> {
    const connection = this.#connection;
    let row = await connection.single(() => findDocument(connection, key));
    if (row !== undefined && !isTombstone(row.record) && isPastDue(row.record, this.#now())) {
      connection.tryWrite(() => sweepUser(connection, key.user, this.#now(), 1, key.id));
      row = await connection.single(() => findDocument(connection, key));
    }
    if (row === undefined) return { outcome: "absent" };
    const head = row.record;
    if (isTombstone(head)) return { outcome: "gone", tombstone: head };
    if (isPastDue(head, this.#now())) return { outcome: "gone", tombstone: toExpired(head) };
    // The common case needs no more than the head.
    if (want.as === "head" && held?.version === head.version && held.writeId === head.writeId) return alreadyHeld(head);
    return await connection.read(() => {
      const row = findDocument(connection, key);
      if (row === undefined) return { outcome: "absent" };
      if (isTombstone(row.record)) return { outcome: "gone", tombstone: row.record };
      return leadTo(connection, { doc: row.doc, head: row.record }, want, held);
    });
  }

  entries(key: DocumentKey, after: number | undefined, limit: number): Promise<Found | Absent | Gone> {
    const connection = this.#connection;
    return connection.read(() => {
      const row = findDocument(connection, key);
      if (row === undefined) return { outcome: "absent" };
      const head = row.record;
      if (isTombstone(head)) return { outcome: "gone", tombstone: head };
      if (isPastDue(head, this.#now())) return { outcome: "gone", tombstone: toExpired(head) };
      const from = Math.max(after === undefined ? head.version - limit + 1 : after + 1, head.oldest);
      const entries = findEntries(connection, row.doc, from, from + limit - 1);
      return { outcome: "found", head, onto: "nothing", entries };
    });
  }

  append(key: DocumentKey, expected: Expected, append: Append): Promise<Appended | Lost | Absent | Gone | Replayed> {
    return this.#connection.write(() => appendStep(this.#connection, key, expected, append, this.#now()));
  }

  touch(key: DocumentKey, touch: Touch): Promise<Touched | Absent | Gone> {
    return this.#connection.write(() => touchStep(this.#connection, key, touch, this.#now()));
  }

  remove(key: DocumentKey, removal: Removal): Promise<Removed | Lost | Absent | Gone | Replayed> {
    return this.#connection.write(() => removeStep(this.#connection, key, removal, this.#now()));
  }

  locate(key: DocumentKey, place: Place): Promise<Stamp | undefined> {
    const connection = this.#connection;
    return connection.read(() => {
      const row = findDocument(connection, key);
      return row === undefined || isTombstone(row.record)
        ? undefined
        : findPlace(connection, row.doc, row.record, place);
    });
  }

  trim(key: DocumentKey, oldest: Held, keyframe: Keyframe): Promise<void> {
    return this.#connection.write(() => trimStep(this.#connection, key, oldest, keyframe));
  }

  async list(user: string, range: ListRange): Promise<ListPage> {
    const connection = this.#connection;
    const page = await connection.read(() => listDocuments(connection, user, range, this.#now()));
    if (connection.isTurnToTidy()) {
      connection.tryWrite(() => sweepUser(connection, user, this.#now(), LEFTOVERS));
    }
    return page;
  }

  findRequest(user: string, id: string): Promise<RequestRecord | undefined> {
    return this.#connection.single(() => findRequest(this.#connection, user, id));
  }

  users(): AsyncIterable<string> {
    return userNames(this.#connection);
  }

  async sweep(user: string | undefined, limit: number): Promise<number> {
    let removed = 0;
    for await (const each of user === undefined ? countedNames(this.#connection) : [user]) {
      if (removed >= limit) break;
      removed += await this.#connection.write(() => sweepUser(this.#connection, each, this.#now(), limit - removed));
    }
    return removed;
  }

  subscribe(user: string, notify: () => void): Promise<AsyncDisposable> {
    return Promise.resolve(this.#watcher.subscribe(user, notify));
  }

  purge(user: string): Promise<number> {
    return purgeUser(this.#connection, user);
  }

  [Symbol.asyncDispose](): Promise<void> {
    if (!this.#closed) {
      this.#closed = true;
      this.#watcher.close();
      this.#connection.close();
    }
    return Promise.resolve();
  }
}
