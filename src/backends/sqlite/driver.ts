/**
 * The few methods of a SQLite driver that the adapter uses, transactions that never wait with the process blocked, and
 * what becomes of a driver's errors.
 *
 * @module
 */

import { BackendError } from "../../document/errors.ts";
import type { Place } from "../database_file.ts";
import { TIDY_EVERY } from "../records.ts";
import { WriteGroup } from "./write_group.ts";

/** What goes into a statement and comes out of a row. */
export type SqliteValue = null | number | bigint | string | Uint8Array;
/** A row by column names. */
export type SqliteRow = Readonly<Record<string, unknown>>;

/** A prepared statement, with positional parameters. */
export interface SqliteStatement {
  /** The first row, or nothing. */
  get(...parameters: SqliteValue[]): unknown;
  /** All rows. */
  all(...parameters: SqliteValue[]): unknown[];
  /** No rows. */
  run(...parameters: SqliteValue[]): unknown;
}

/** A database: the part of `node:sqlite` and `@db/sqlite` (opened with `int64: true`) that is read here. */
export interface SqliteDatabase {
  /** Runs statements without parameters. */
  exec(sql: string): unknown;
  /** Prepares one statement. */
  prepare(sql: string): SqliteStatement;
  /** Closes it. */
  close(): unknown;
}

/** One connection, with its statements prepared once. */
export class Connection {
  readonly #statements = new Map<string, SqliteStatement>();
  readonly #database: SqliteDatabase;
  readonly #maxContentionMs: number;
  readonly #place: Place | undefined;
  readonly #writes = new WriteGroup((step) => this.#retrying(() => this.#transaction("BEGIN IMMEDIATE", step)));
  #steps = 0;

  /** @param place where the file was opened, if there is one. */
  constructor(database: SqliteDatabase, maxContentionMs: number, place?: Place) {
    this.#database = database;
    this.#place = place;
    this.#maxContentionMs = maxContentionMs;
  }

  /** The row, if there is one. */
  get(sql: string, ...parameters: SqliteValue[]): SqliteRow | undefined {
    // A missing row is undefined in node:sqlite and may be null elsewhere.
    return (this.#statement(sql).get(...parameters) ?? undefined) as SqliteRow | undefined;
  }

  /**
   * All rows. A bound limit is written `LIMIT +?`: by a bare one SQLite plans, and so would prepare the statement anew at
   * each use.
   */
  all(sql: string, ...parameters: SqliteValue[]): readonly SqliteRow[] {
    return this.#statement(sql).all(...parameters) as SqliteRow[];
  }

  run(sql: string, ...parameters: SqliteValue[]): void {
    this.#statement(sql).run(...parameters);
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  /** Writes that were begun are done first. */
  close(): void {
    this.#writes.flush();
    this.#database.close();
  }

  /** True for every so many calls. */
  isTurnToTidy(): boolean {
    return this.#steps++ % TIDY_EVERY === 0;
  }

  /** Runs `step` as one atomic write. It is synchronous, so nothing of this process can come between. */
  write<T>(step: () => T): Promise<T> {
    return this.#writes.add(step);
  }

  /** Runs `step` as one atomic write if that can be done at once: for what can as well be done later. */
  tryWrite(step: () => void): void {
    try {
      this.#transaction("BEGIN IMMEDIATE", step);
    } catch (error) {
      // Busy, read-only, full: whoever reads has no part in that.
      if (codeOf(error) === undefined) throw toBackendError(error);
    }
  }

  /** Runs `step` on one consistent view of the database. */
  async read<T>(step: () => T): Promise<T> {
    this.#writes.flush();
    this.#place?.lookNowAndThen();
    return await this.#retrying(() => this.#transaction("BEGIN", step));
  }

  /** Runs a single statement, which is consistent by itself. */
  async single<T>(step: () => T): Promise<T> {
    this.#writes.flush();
    this.#place?.lookNowAndThen();
    return await this.#retrying(step);
  }

  #transaction<T>(begin: string, step: () => T): T {
    if (begin !== "BEGIN") this.#place?.look();
    this.run(begin);
    let committing = false;
    try {
      const result = step();
      committing = true;
      this.run("COMMIT");
      return result;
    } catch (error) {
      try {
        this.run("ROLLBACK");
      } catch {
        // SQLite has rolled back by itself already, as it does when the disk is full.
      }
      if (committing && begin !== "BEGIN" && codeOf(error) === SQLITE_IOERR) {
        throw new BackendError("The disk failed while a write was being committed. Load to see whether it landed.", {
          cause: error,
          outcomeUnknown: true,
        });
      }
      throw error;
    }
  }

  async #retrying<T>(step: () => T): Promise<T> {
    const deadline = Date.now() + this.#maxContentionMs;
    for (let pauseMs = 1;; pauseMs = Math.min(pauseMs * 2, 50)) {
      try {
        return step();
      } catch (error) {
        if (!isBusy(error)) throw toBackendError(error);
        if (Date.now() >= deadline) {
          throw new BackendError(
            `The database was held by others for ${this.#maxContentionMs} ms. Nothing was changed: try again.`,
            { cause: error, busy: true },
          );
        }
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs * Math.random()));
    }
  }

  #statement(sql: string): SqliteStatement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) this.#statements.set(sql, statement = this.#database.prepare(sql));
    return statement;
  }
}

const SQLITE_IOERR = 10;

/** What each primary result code (https://www.sqlite.org/rescode.html) means to a caller. */
const MESSAGES: Readonly<Record<number, string>> = {
  8: "The database cannot be written: it, or its directory, is read-only.",
  [SQLITE_IOERR]: "The disk failed while the database was being read or written.",
  11: "The database file is damaged. Nothing was overwritten; restore it from a backup.",
  13: "The disk is full, or the database has reached its size limit. Nothing was changed.",
  14: "The database file cannot be opened.",
  23: "Access to the database file was denied.",
  26: "The file is not a SQLite database. Nothing was overwritten; name another file.",
};

/** The primary result code. `exec` of node:sqlite sets none, so its message is looked at too. */
function codeOf(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  if ("errcode" in error && typeof error.errcode === "number") return error.errcode & 0xff;
  const { message } = error;
  if (/database (table )?is locked|database schema is locked/.test(message)) return 5;
  if (/readonly database/.test(message)) return 8;
  if (/disk I\/O error/.test(message)) return SQLITE_IOERR;
  if (/malformed/.test(message)) return 11;
  if (/database or disk is full/.test(message)) return 13;
  if (/unable to open database/.test(message)) return 14;
  if (/not a database/.test(message)) return 26;
  return undefined;
}

function isBusy(error: unknown): boolean {
  const code = codeOf(error);
  return code === 5 || code === 6;
}

/** Wraps a driver's error once. The message never holds a path; the `cause` may. */
export function toBackendError(error: unknown): unknown {
  if (error instanceof BackendError) return error;
  const code = codeOf(error);
  if (code !== undefined) {
    return new BackendError(MESSAGES[code] ?? `SQLite failed with code ${code}.`, { cause: error });
  }
  if (error instanceof Deno.errors.NotCapable) {
    return new BackendError("Deno was not given permission to read and write the database.", { cause: error });
  }
  if (error instanceof Deno.errors.PermissionDenied) {
    return new BackendError(
      "The system does not let this user read and write the database: check the owner and the mode of it and its directory.",
      { cause: error },
    );
  }
  if (error instanceof Error && /not open|closed/.test(error.message)) {
    return new BackendError("The store is closed.", { cause: error });
  }
  return new BackendError("The database could not be used.", { cause: error });
}
