/**
 * The maintenance port of a SQLite database.
 *
 * @module
 */

import type { Entry, Keyframe } from "../../document/journal.ts";
import { type Relaid, relay } from "../../document/relay.ts";
import {
  type Adoption,
  type Derived,
  type DocumentRecord,
  type Fault,
  type Maintenance,
  PAGES,
  type PortableHead,
  type PortableTombstone,
  type TurnEnd,
  type Unreadable,
} from "../maintenance.ts";
import { type DocumentKey, type Head, TOMBSTONE_MS } from "../records.ts";
import type { Connection, SqliteRow, SqliteValue } from "./driver.ts";
import { findFaults } from "./faults.ts";
import { openDatabase, type SqliteBackendOptions } from "./open.ts";
import { DamagedRow, number, STAMP_COLUMNS, toDocument, toEntry, toKeyframe } from "./rows.ts";
import { userNames } from "./users.ts";
import { insertEntry, insertHead, insertKeyframe, takeSeq } from "./write.ts";

/**
 * Opens a SQLite database for maintenance. Its file is made if it is missing, as a backend would.
 *
 * @throws {BackendError} for a file that is damaged, belongs to another program, or cannot be opened or written.
 */
export async function openSqliteMaintenance(options: SqliteBackendOptions = {}): Promise<Maintenance> {
  return new SqliteMaintenance(await openDatabase(options), options.now ?? Date.now);
}

class SqliteMaintenance implements Maintenance {
  readonly #connection: Connection;
  readonly #now: () => number;
  #closed = false;

  constructor(connection: Connection, now: () => number) {
    this.#connection = connection;
    this.#now = now;
  }

  users(): AsyncGenerator<string> {
    return userNames(this.#connection);
  }

  async *documents(user: string): AsyncGenerator<DocumentRecord> {
    const page = "SELECT * FROM mcpstate_document WHERE user = ? AND (seq, doc) > (?, ?) ORDER BY seq, doc";
    const rows = this.#pages(page, PAGES.heads, [user], ["seq", "doc"]);
    for await (const row of rows) yield toRecord(row);
  }

  async document({ user, id }: DocumentKey): Promise<DocumentRecord | undefined> {
    const row = await this.#get("SELECT * FROM mcpstate_document WHERE user = ? AND id = ?", user, id);
    return row && toRecord(row);
  }

  async *entries(key: DocumentKey): AsyncGenerator<Entry | Unreadable> {
    const page = `SELECT ${STAMP_COLUMNS}, body FROM mcpstate_entry WHERE doc = ? AND version > ? ORDER BY version`;
    for await (const row of this.#pages(page, PAGES.bodies, await this.#docOf(key), ["version"])) {
      yield readable(row, toEntry);
    }
  }

  async *keyframes(key: DocumentKey): AsyncGenerator<Keyframe | Unreadable> {
    const page = "SELECT * FROM mcpstate_keyframe WHERE doc = ? AND version > ? ORDER BY version";
    for await (const row of this.#pages(page, PAGES.bodies, await this.#docOf(key), ["version"])) {
      yield readable(row, toKeyframe);
    }
  }

  async *turns(key: DocumentKey): AsyncGenerator<TurnEnd | Unreadable> {
    const page = "SELECT turn, version FROM mcpstate_turn WHERE doc = ? AND turn > ? ORDER BY turn";
    for await (const row of this.#pages(page, PAGES.turns, await this.#docOf(key), ["turn"])) {
      yield readable(row, (row) => ({ turn: number(row, "turn"), version: number(row, "version") }));
    }
  }

  async adopt(key: DocumentKey, what: Adoption | PortableTombstone): Promise<"adopted" | "exists"> {
    const connection = this.#connection;
    const adopt = "status" in what
      ? () => insertTombstone(connection, key, what, this.#now())
      : adopting(connection, key, what.head, relay(what.entries, what.keyframe, what.head.oldest));
    return await connection.write(() => {
      const there = connection.get("SELECT doc FROM mcpstate_document WHERE user = ? AND id = ?", key.user, key.id);
      if (there !== undefined) return "exists";
      adopt();
      return "adopted";
    });
  }

  async rebuild(
    { user, id }: DocumentKey,
    { version, writeId }: Pick<Head, "version" | "writeId">,
    { keyframes, turns, head: { bytes, offset, base } }: Derived,
  ): Promise<boolean> {
    const connection = this.#connection;
    return await connection.write(() => {
      const row = connection.get(
        "UPDATE mcpstate_document SET bytes = ?, journal_offset = ?, base_version = ?, base_bytes = ?, base_offset = ? " +
          "WHERE user = ? AND id = ? AND status = 'live' AND version = ? AND write_id = ? RETURNING doc",
        ...[bytes, offset, base.version, base.bytes, base.offset, user, id, version, writeId],
      );
      if (row === undefined) return false;
      const doc = number(row, "doc");
      for (const table of ["keyframe", "turn"]) connection.run(`DELETE FROM mcpstate_${table} WHERE doc = ?`, doc);
      for (const keyframe of keyframes) insertKeyframe(connection, doc, keyframe);
      for (const { turn, version } of turns) {
        connection.run("INSERT INTO mcpstate_turn (doc, turn, version) VALUES (?, ?, ?)", doc, turn, version);
      }
      return true;
    });
  }

  faults(): AsyncGenerator<Fault> {
    return findFaults(this.#connection, this.#now);
  }

  [Symbol.asyncDispose](): Promise<void> {
    if (!this.#closed) {
      this.#closed = true;
      this.#connection.close();
    }
    return Promise.resolve();
  }

  #get(sql: string, ...parameters: SqliteValue[]): Promise<SqliteRow | undefined> {
    return this.#connection.single(() => this.#connection.get(sql, ...parameters));
  }

  /** The key of a document's other tables, even where its head cannot be read; nothing has the key that is none. */
  async #docOf({ user, id }: DocumentKey): Promise<SqliteValue[]> {
    const row = await this.#get("SELECT doc FROM mcpstate_document WHERE user = ? AND id = ?", user, id);
    return [row === undefined ? null : number(row, "doc")];
  }

  /** All rows of a query, some at a time, each page beginning after the `cursor` columns of the row before. */
  async *#pages(
    sql: string,
    size: number,
    parameters: readonly SqliteValue[],
    cursor: readonly string[],
  ): AsyncGenerator<SqliteRow> {
    let after: SqliteValue[] = cursor.map(() => Number.MIN_SAFE_INTEGER);
    for (;;) {
      const rows = await this.#connection.single(() =>
        this.#connection.all(`${sql} LIMIT ${size}`, ...parameters, ...after)
      );
      yield* rows;
      if (rows.length < size) return;
      // As it is kept, whatever that is: every value has its place in the order.
      after = cursor.map((column) => rows[rows.length - 1][column] as SqliteValue);
    }
  }
}

function toRecord(row: SqliteRow): DocumentRecord {
  const record = readable(row, (row) => toDocument(row).record);
  return "unreadable" in record ? { id: String(row.id), unreadable: record.unreadable } : record;
}

function readable<T>(row: SqliteRow, parse: (row: SqliteRow) => T): T | Unreadable {
  try {
    return parse(row);
  } catch (error) {
    if (!(error instanceof DamagedRow)) throw error;
    const unreadable = `is damaged (${error.column})`;
    return typeof row.version === "number" ? { unreadable, version: row.version } : { unreadable };
  }
}

/** The step that puts a journal in. */
function adopting(
  connection: Connection,
  key: DocumentKey,
  head: PortableHead,
  { entries, keyframes, base, folded }: Relaid,
): () => void {
  return () => {
    const createdSeq = takeSeq(connection, key.user, entries.length, 1);
    const seq = createdSeq + entries.length - 1;
    const { offset } = entries[entries.length - 1];
    const adopted = { ...head, id: key.id, bytes: folded.bytes, offset, base, seq, createdSeq };
    const doc = insertHead(connection, key.user, adopted, "");
    for (const [i, { body, ...stamp }] of entries.entries()) {
      insertEntry(connection, doc, { ...stamp, seq: createdSeq + i }, body);
    }
    for (const keyframe of keyframes) insertKeyframe(connection, doc, keyframe);
  };
}

function insertTombstone(connection: Connection, key: DocumentKey, tombstone: PortableTombstone, now: number): void {
  const seq = takeSeq(connection, key.user, 1, 0);
  connection.run(
    "INSERT INTO mcpstate_document (user, id, status, kind, version, write_id, created_at, updated_at, writer, turn, first_turn, " +
      "ttl_days, due_at, bytes, oldest, journal_offset, base_version, base_bytes, base_offset, seq, created_seq, first_write_id) " +
      "VALUES (?, ?, ?, ?, 0, ?, ?, ?, '', 0, 0, ?, ?, 0, 0, 0, 0, 0, 0, ?, ?, '')",
    key.user,
    key.id,
    tombstone.status,
    tombstone.kind,
    crypto.randomUUID(),
    tombstone.goneAt,
    tombstone.goneAt,
    tombstone.ttlDays ?? null,
    now + TOMBSTONE_MS,
    seq,
    seq,
  );
}
