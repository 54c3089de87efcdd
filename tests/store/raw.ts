/**
 * A store on a database file of its own, and the file's tables as they are.
 *
 * @module
 */

import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import type { Backend } from "../../src/backends/backend.ts";
import { openSqliteBackend, type SqliteBackendOptions } from "../../src/backends/sqlite.ts";
import type { HandleStoreOptions } from "../../src/store/options.ts";
import { HandleStore } from "../../src/store/store.ts";

/** A database file in a directory of its own; disposing it closes what was opened and removes both. */
export class Site implements AsyncDisposable {
  readonly directory = Deno.makeTempDirSync();
  readonly path = join(this.directory, "state.db");
  readonly url = `sqlite:///${this.path}`;
  readonly #opened = new AsyncDisposableStack();

  /** A connection, as a backend. */
  async backend(options: SqliteBackendOptions = {}): Promise<Backend> {
    return this.#opened.use(await openSqliteBackend({ path: this.path, synchronous: "normal", ...options }));
  }

  /** A store on a connection and a cache of its own. */
  async store(options: HandleStoreOptions = {}, sqlite: SqliteBackendOptions = {}): Promise<HandleStore> {
    return this.#opened.use(new HandleStore(await this.backend(sqlite), options));
  }

  /** Rows, read past the library. */
  rows(sql: string, ...parameters: SQLInputValue[]): Record<string, unknown>[] {
    using database = new DatabaseSync(this.path);
    return database.prepare(sql).all(...parameters).map((row) => ({ ...row }));
  }

  /** The only number of the only row. */
  number(sql: string, ...parameters: SQLInputValue[]): number {
    return Number(Object.values(this.rows(sql, ...parameters)[0])[0]);
  }

  /** Damages or changes rows, past the library. */
  run(sql: string, ...parameters: SQLInputValue[]): void {
    using database = new DatabaseSync(this.path);
    database.prepare(sql).run(...parameters);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.disposeAsync();
    await Deno.remove(this.directory, { recursive: true });
  }
}
