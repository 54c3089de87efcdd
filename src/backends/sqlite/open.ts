/**
 * From a path, or a database of the caller's own, to a connection that is ready.
 *
 * @module
 */

import { BackendError } from "../../document/errors.ts";
import { makeFile, Place } from "../database_file.ts";
import { Connection, type SqliteDatabase, toBackendError } from "./driver.ts";
import { prepareSchema } from "./schema.ts";

/** Options of {@link openSqliteBackend}. */
export interface SqliteBackendOptions {
  /** The file, or `":memory:"` (the default) for state that ends with the process. */
  readonly path?: string;
  /** A database of your own instead, opened by you and closed by the backend. `@db/sqlite` needs `int64: true`. */
  readonly database?: SqliteDatabase;
  /** `"full"` (the default): an acknowledged write survives a power cut. `"normal"`: it survives a crash of the process only, and writes are faster. */
  readonly synchronous?: "full" | "normal";
  /** How long a call may wait for others that hold the database, in milliseconds. Default 5,000. */
  readonly maxContentionMs?: number;
  /** The clock, in milliseconds since 1970. Default `Date.now`. */
  readonly now?: () => number;
}

/** How long SQLite itself waits with the process blocked; longer waits leave the process free. */
const BUSY_TIMEOUT_MS = 20;

/** Opens and prepares a database. @throws {BackendError} if that cannot be done; nothing was overwritten then. */
export async function openDatabase(options: SqliteBackendOptions): Promise<Connection> {
  const { path = ":memory:", synchronous = "full", maxContentionMs = 5000 } = options;
  const database = options.database ?? await openFile(path);
  try {
    const place = options.database === undefined && path !== ":memory:" ? new Place(path) : undefined;
    const connection = new Connection(database, maxContentionMs, place);
    await connection.single(() => {
      connection.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
      checkIntegers(connection);
      connection.exec("PRAGMA journal_mode = WAL");
      // FULL: an acknowledged write survives a power cut.
      connection.exec(`PRAGMA synchronous = ${synchronous === "full" ? "FULL" : "NORMAL"}`);
    });
    await prepareSchema(connection);
    return connection;
  } catch (error) {
    database.close();
    throw error;
  }
}

async function openFile(path: string): Promise<SqliteDatabase> {
  try {
    const { DatabaseSync } = await import("node:sqlite");
    if (path !== ":memory:") await makeFile(path);
    return new DatabaseSync(path);
  } catch (error) {
    throw toBackendError(error);
  }
}

/** `@db/sqlite` cuts integers to 32 bits unless told otherwise, which would damage a journal silently. */
function checkIntegers(connection: Connection): void {
  const row = connection.get("SELECT 4294967296 AS value");
  if (Number(row?.value) !== 4294967296) {
    throw new BackendError("This SQLite driver cuts integers to 32 bits. Open the database with `int64: true`.");
  }
}
