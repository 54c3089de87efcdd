/**
 * The tables, and how a database file becomes ours: never by taking over what belongs to another program.
 *
 * @module
 */

import { BackendError } from "../../document/errors.ts";
import type { Connection } from "./driver.ts";

/** The number of the schema made here. */
export const SCHEMA_VERSION = 1;

/**
 * Names begin with `mcpstate_`, so the table `handles` of the Python package `mcpstate` can live in the same file.
 * Times are REAL milliseconds: some drivers cut integers to 32 bits.
 */
const TABLES = `
CREATE TABLE mcpstate_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE mcpstate_user (
  name TEXT PRIMARY KEY,
  seq INTEGER NOT NULL,
  live INTEGER NOT NULL,
  forgotten INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE TABLE mcpstate_document (
  doc INTEGER PRIMARY KEY,
  user TEXT NOT NULL,
  id TEXT NOT NULL,
  status TEXT NOT NULL,
  kind TEXT NOT NULL,
  title TEXT,
  version INTEGER NOT NULL,
  write_id TEXT NOT NULL,
  created_at REAL NOT NULL,
  updated_at REAL NOT NULL,
  writer TEXT NOT NULL,
  turn INTEGER NOT NULL,
  first_turn INTEGER NOT NULL,
  ttl_days REAL,
  expires_at REAL,
  due_at REAL,
  bytes INTEGER NOT NULL,
  oldest INTEGER NOT NULL,
  journal_offset INTEGER NOT NULL,
  base_version INTEGER NOT NULL,
  base_bytes INTEGER NOT NULL,
  base_offset INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  created_seq INTEGER NOT NULL,
  first_write_id TEXT NOT NULL
);
CREATE UNIQUE INDEX mcpstate_document_by_id ON mcpstate_document (user, id);
CREATE INDEX mcpstate_document_by_seq ON mcpstate_document (user, seq);
CREATE INDEX mcpstate_document_by_due ON mcpstate_document (user, due_at) WHERE due_at IS NOT NULL;
CREATE TABLE mcpstate_entry (
  doc INTEGER NOT NULL,
  version INTEGER NOT NULL,
  write_id TEXT NOT NULL,
  at REAL NOT NULL,
  turn INTEGER NOT NULL,
  writer TEXT NOT NULL,
  seq INTEGER NOT NULL,
  journal_offset INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (doc, version)
) WITHOUT ROWID;
CREATE TABLE mcpstate_turn (
  doc INTEGER NOT NULL,
  turn INTEGER NOT NULL,
  version INTEGER NOT NULL,
  PRIMARY KEY (doc, turn)
) WITHOUT ROWID;
CREATE TABLE mcpstate_keyframe (
  doc INTEGER NOT NULL,
  version INTEGER NOT NULL,
  write_id TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (doc, version)
);
CREATE TABLE mcpstate_request (
  user TEXT NOT NULL,
  id TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  meta TEXT NOT NULL,
  document_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  write_id TEXT NOT NULL,
  at REAL NOT NULL,
  turn INTEGER NOT NULL,
  ttl_days REAL,
  expires_at REAL,
  PRIMARY KEY (user, id)
) WITHOUT ROWID;
CREATE INDEX mcpstate_request_by_at ON mcpstate_request (user, at);
`;

/** The table of the Python package, which may stand beside ours. */
const PYTHON_TABLE = "handles";

/**
 * Makes the tables, or finds them as they should be.
 *
 * @throws {BackendError} for a database of another program, or of a newer schema. Nothing was changed then.
 */
export async function prepareSchema(connection: Connection): Promise<void> {
  if (await connection.read(() => schemaVersion(connection)) === SCHEMA_VERSION) return;
  await connection.write(() => {
    if (schemaVersion(connection) === SCHEMA_VERSION) return; // another process was faster
    for (const statement of TABLES.split(";\n")) if (statement.trim() !== "") connection.run(statement);
    connection.run("INSERT INTO mcpstate_meta (name, value) VALUES ('schema', ?)", String(SCHEMA_VERSION));
  });
}

function schemaVersion(connection: Connection): number | undefined {
  const tables = connection.all("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .map(({ name }) => String(name));
  if (!tables.includes("mcpstate_meta")) {
    if (tables.every((name) => name === PYTHON_TABLE)) return undefined;
    throw new BackendError("The database belongs to another program. Nothing was changed; name another file.");
  }
  const version = Number(connection.get("SELECT value FROM mcpstate_meta WHERE name = 'schema'")?.value);
  if (version === SCHEMA_VERSION) return version;
  throw new BackendError(
    `The database has schema ${version}, and this version of the library reads ${SCHEMA_VERSION}. Nothing was changed; use the version that wrote it, or export and import.`,
  );
}
