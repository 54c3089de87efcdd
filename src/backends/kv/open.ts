/**
 * From a path, or a database of the caller's own, to a connection that is ready.
 *
 * @module
 */

import { BackendError } from "../../document/errors.ts";
import { makeFile, Place } from "../database_file.ts";
import { Connection } from "./connection.ts";
import type { KvDatabase } from "./database.ts";
import { isBusy, toBackendError } from "./errors.ts";

/** Options of {@link openKvBackend}. */
export interface KvBackendOptions {
  /**
   * A file, `":memory:"` for state that ends with the process, or the `https://` address of a KV Connect server, whose
   * token is in `DENO_KV_ACCESS_TOKEN`. Absent: the default database, which on Deno Deploy is the app's own.
   */
  readonly path?: string;
  /** A database of your own instead, opened by you and closed by the backend. */
  readonly kv?: KvDatabase;
  /** What all keys begin with, so that several stores can share a database. At most 64 bytes. Default `"mcpstate"`. */
  readonly prefix?: string;
  /** How long a call may wait for others that hold the database or keep writing, in milliseconds. Default 5,000. */
  readonly maxContentionMs?: number;
  /**
   * The clock, in milliseconds since 1970. Default `Date.now`. Deno KV has none of its own, so what has expired is judged
   * by each process's clock: one that is ahead ends lives early.
   */
  readonly now?: () => number;
}

/** The number of the layout of keys and records written here. */
export const KV_FORMAT = 1;

const MOST_PREFIX_BYTES = 64;

/** Opens and prepares a database. @throws {BackendError} if that cannot be done; nothing was overwritten then. */
export async function openDatabase(options: KvBackendOptions): Promise<Connection> {
  const { path, prefix = "mcpstate", maxContentionMs = 5000, now = Date.now } = options;
  if (prefix === "" || new TextEncoder().encode(prefix).length > MOST_PREFIX_BYTES) {
    throw new RangeError(`the prefix must have 1 to ${MOST_PREFIX_BYTES} bytes`);
  }
  const { kv, place }: Opened = options.kv === undefined
    ? await patiently(maxContentionMs, () => openKv(path))
    : { kv: options.kv };
  const mayResend = options.kv !== undefined || !isLocal(path);
  const connection = new Connection(kv, { prefix, maxContentionMs, now, mayResend, place });
  try {
    await checkFormat(connection);
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Whether the database is in this process, so that a commit is sent just once. */
function isLocal(path: string | undefined): path is string {
  return path !== undefined && !/^https?:/i.test(path);
}

interface Opened {
  readonly kv: KvDatabase;
  readonly place?: Place;
}

async function openKv(path: string | undefined): Promise<Opened> {
  // Unstable, so it may be missing, whatever its type says.
  if (!("openKv" in Deno)) {
    throw new BackendError(
      'Deno KV is unstable: run Deno with --unstable-kv, or put "kv" into "unstable" in deno.json.',
    );
  }
  if (!isLocal(path) || path === ":memory:") return { kv: await Deno.openKv(path) };
  await prepareFile(path);
  const place = new Place(path);
  return { kv: await Deno.openKv(path), place };
}

/** Makes a file that is missing, and refuses one that is another program's: Deno would put its tables beside the others. */
async function prepareFile(path: string): Promise<void> {
  await makeFile(path);
  if ((await Deno.stat(path)).size === 0) return;
  const { DatabaseSync } = await import("node:sqlite");
  const database = new DatabaseSync(path);
  try {
    const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
      .map(({ name }) => String(name));
    if (tables.length > 0 && !["migration_state", "data_version", "kv"].every((name) => tables.includes(name))) {
      throw new BackendError("The file belongs to another program. Nothing was changed; name another file.");
    }
  } finally {
    database.close();
  }
}

/** Repeats what meets a lock: several processes may open a new file at once. */
async function patiently<T>(maxContentionMs: number, open: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + maxContentionMs;
  for (;;) {
    try {
      return await open();
    } catch (error) {
      if (!isBusy(error)) throw toBackendError(error);
      if (Date.now() >= deadline) {
        const message = `The database was held by others for ${maxContentionMs} ms. Try again.`;
        throw new BackendError(message, { cause: error, busy: true });
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 50 * Math.random()));
  }
}

/** Leaves the number of the layout in a new database, and refuses one of another. */
async function checkFormat(connection: Connection): Promise<void> {
  const key = connection.keys.format();
  const found = await connection.insist(async () => {
    const entry = await connection.get(key);
    if (entry.versionstamp !== null) return entry.value;
    const versionstamp = await connection.commit({ checks: [entry], mutations: [{ key, value: KV_FORMAT }] });
    return versionstamp === undefined ? undefined : KV_FORMAT;
  });
  if (found === KV_FORMAT) return;
  throw new BackendError(
    `The database has format ${found}, and this version of the library reads ${KV_FORMAT}. Nothing was changed; use the version that wrote it, or export and import.`,
  );
}
