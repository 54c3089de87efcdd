/**
 * Reads a database of the Python package `mcpstate` as an export, so that it can be imported like any other.
 *
 * @module
 */

import { admitState } from "../document/admit.ts";
import { checkHandle, checkInteger, checkKind, checkTtl, checkUser, checkWriter } from "../document/checks.ts";
import { BackendError, InvalidInput } from "../document/errors.ts";
import type { JsonObject } from "../document/json.ts";
import { advance, EMPTY } from "../document/journal.ts";
import { encodeKeyframe } from "../document/keyframe.ts";
import { documentLines, endLine, headerLine, type Portable, unreadableLine } from "./format.ts";

/** A row of the table, every column unchecked. */
type Row = Readonly<Record<string, unknown>>;

/** How many rows are fetched at a time; each may be as large as a state. */
const ROWS = 16;
/** The writer of a row that names none: what a store records where a call names none. */
const UNKNOWN_WRITER = "unknown";
const DAY_MS = 86_400_000;

/** In the order of updates, so that lists keep theirs. Rows are found by what the last one holds, whatever that is. */
const PAGE = "SELECT rowid AS row, coalesce(updated_at, 0) AS place, * FROM handles " +
  `WHERE (coalesce(updated_at, 0), rowid) > (?, ?) ORDER BY place, rowid LIMIT ${ROWS}`;

/**
 * The lines of an export, without line ends: each row of the table `handles` as a document with one retained version, of
 * the number it had, with its kind, expiry and writer. A row that is not a document under our rules comes as one that
 * could not be read, with the reason; nothing is altered to make it fit, but that times are cut to milliseconds.
 *
 * The file is opened read-only. It may be the one that our own tables are in, and be written meanwhile.
 *
 * @throws {BackendError} if the file cannot be read, or has no such table.
 */
export async function* readPythonDatabase(path: string): AsyncGenerator<string> {
  using table = await openTable(path);
  const counts = { documents: 0, tombstones: 0, unreadable: 0 };
  yield headerLine(Date.now());
  for (let rows = table.first(); rows.length > 0; rows = table.after(rows[rows.length - 1])) {
    for (const row of rows) {
      const lines = toLines(row);
      if (typeof lines === "string") {
        counts.unreadable++;
        yield unreadableLine(String(row.user), String(row.handle), lines);
      } else {
        counts.documents++;
        yield* lines;
      }
    }
  }
  yield endLine(counts);
}

interface Table extends Disposable {
  first(): readonly Row[];
  after(last: Row): readonly Row[];
}

async function openTable(path: string): Promise<Table> {
  const { DatabaseSync } = await import("node:sqlite");
  const database = reading(() => new DatabaseSync(path, { readOnly: true, timeout: 5_000 }));
  try {
    const page = reading(() => database.prepare(PAGE));
    page.setReadBigInts(true); // a number beyond 2^53 would throw, and hide the rows beside it
    return {
      first: () => reading(() => page.all(-Infinity, 0)),
      after: ({ place, row }) => reading(() => page.all(place as number, row as bigint)),
      [Symbol.dispose]: () => database.close(),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new BackendError(
      error instanceof Error && /no such (table|column)/.test(error.message)
        ? "The database has no table of the Python package mcpstate."
        : "The database of the Python package could not be read.",
      { cause: error },
    );
  }
}

/** The lines of a row's document, or why it is none, in one sentence. */
function toLines(row: Row): readonly string[] | string {
  try {
    return documentLines(checkUser(row.user), toPortable(row));
  } catch (error) {
    if (error instanceof InvalidInput) return error.message;
    throw error;
  }
}

/** @throws {InvalidInput} if the row is no document under our rules. */
function toPortable(row: Row): Portable {
  const id = checkHandle(row.handle);
  const kind = checkKind(row.kind);
  const version = checkInteger("version", Number(row.version), 1);
  const writer = row.last_writer === null ? UNKNOWN_WRITER : checkWriter(row.last_writer);
  const createdAt = toTime("created_at", row.created_at);
  // Its clock may have gone back.
  const updatedAt = Math.max(toTime("updated_at", row.updated_at), createdAt);
  const expiresAt = row.expires_at === null ? undefined : toTime("expires_at", row.expires_at);
  const ttlDays = expiresAt === undefined ? undefined : checkTtl((expiresAt - createdAt) / DAY_MS);
  const { value: state, bytes } = admitState(parseState(row.state));

  const body = JSON.stringify(state);
  const writeId = crypto.randomUUID();
  const folded = advance({ ...EMPTY, version: version - 1 }, {
    patch: [{ op: "replace", path: "", value: state }],
    after: { state, bytes },
    writeId,
    writer,
    turn: 0,
  });
  const stamp = { version, writeId, writer, turn: 0 };
  return {
    head: { ...stamp, id, kind, createdAt, updatedAt, expiresAt, ttlDays, firstTurn: 0, bytes, oldest: version },
    keyframe: version === 1 ? undefined : encodeKeyframe(folded),
    entries: [{ ...stamp, at: updatedAt, body }],
    folded,
  };
}

function toTime(field: string, seconds: unknown): number {
  const time = typeof seconds === "number" || typeof seconds === "bigint" ? Math.round(Number(seconds) * 1000) : NaN;
  if (!Number.isNaN(new Date(time).getTime())) return time;
  throw new InvalidInput(field, `${field} must be a time in seconds since 1970.`);
}

function parseState(text: unknown): JsonObject {
  if (typeof text !== "string") throw new InvalidInput("state", "state must be a text.");
  // 1e21 and more pass as what they are when written by us; an integer of so many digits was rounded on its way in.
  if (/\d{17}/.test(text) && hasRounded(text)) {
    throw new InvalidInput("state", "state holds an integer beyond 2^53, which would be rounded.");
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidInput("state", "state is not JSON: NaN and Infinity, which Python writes, are not JSON either.");
  }
}

/** Whether a JSON text has an integer, outside of its strings, that a number cannot hold. */
function hasRounded(text: string): boolean {
  for (const [token] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|-?[\d.eE+-]+/g)) {
    if (/^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token))) return true;
  }
  return false;
}
