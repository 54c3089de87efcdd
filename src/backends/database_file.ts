/**
 * The file of an engine that is embedded.
 *
 * @module
 */

import { dirname } from "node:path";

/**
 * Makes a database file that is missing, with mode 0600 from its start; SQLite gives `-wal` and `-shm` the same. One that
 * is there is not opened: to close it would drop the locks that this process holds on it through another connection
 * (https://sqlite.org/howtocorrupt.html, section 2.2), and another process would take itself for the last one.
 */
export async function makeFile(path: string): Promise<void> {
  await Deno.mkdir(dirname(path), { recursive: true, mode: 0o700 });
  try {
    (await Deno.open(path, { write: true, createNew: true, mode: 0o600 })).close();
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  }
}
