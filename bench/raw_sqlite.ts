/**
 * What a write costs on bare `node:sqlite`: read the head, insert an entry, update the head, commit.
 *
 * @module
 */

import { DatabaseSync } from "node:sqlite";

/** One document in a bare database, at the same `synchronous` as the store. */
export interface RawDocument extends Disposable {
  /** Looks up the head. */
  head(): unknown;
  /** One transaction with a body of the same bytes as the store's entry. */
  write(body: string): void;
}

/** Opens a bare database with one document. */
export function openRaw(path: string): RawDocument {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  database.exec(`
    CREATE TABLE head (doc INTEGER PRIMARY KEY, user TEXT, id TEXT, version INTEGER, write_id TEXT, updated_at REAL, writer TEXT, bytes INTEGER, UNIQUE (user, id));
    CREATE TABLE entry (doc INTEGER, version INTEGER, write_id TEXT, at REAL, writer TEXT, body TEXT, PRIMARY KEY (doc, version)) WITHOUT ROWID;
    INSERT INTO head VALUES (1, 'alice', 'bench_abcdefgh', 1, 'aaaaaaaaaaaaaaaa', 0, 'unknown', 1000);
  `);
  const begin = database.prepare("BEGIN IMMEDIATE");
  const commit = database.prepare("COMMIT");
  const head = database.prepare("SELECT * FROM head WHERE user = ? AND id = ?");
  const insert = database.prepare("INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?)");
  const update = database.prepare(
    "UPDATE head SET version = ?, write_id = ?, updated_at = ?, writer = ?, bytes = ? WHERE doc = ? AND version = ?",
  );
  return {
    head: () => head.get("alice", "bench_abcdefgh"),
    write(body) {
      begin.run();
      const { doc, version } = head.get("alice", "bench_abcdefgh") as { doc: number; version: number };
      const now = Date.now();
      insert.run(doc, version + 1, "abcdefghijklmnop", now, "unknown", body);
      update.run(version + 1, "abcdefghijklmnop", now, "unknown", body.length, doc, version);
      commit.run();
    },
    [Symbol.dispose]: () => database.close(),
  };
}
