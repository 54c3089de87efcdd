/**
 * The file of an engine that is embedded.
 *
 * @module
 */

import { dirname } from "node:path";
import { BackendError } from "../document/errors.ts";

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

/** How often a reader looks whether the file is still in its place, in milliseconds. */
const LOOK_EVERY_MS = 100;

/** Where an open database was found: a file that was removed or replaced meanwhile takes writes, and loses them. */
export class Place {
  readonly #path: string;
  /** Where files have no number, there is nothing to compare. */
  readonly #file: Pick<Deno.FileInfo, "dev" | "ino">;
  #seenAt = 0;

  /** @param path leads to the file now. */
  constructor(path: string) {
    this.#path = path;
    this.#file = Deno.statSync(path);
  }

  /** @throws {BackendError} if the path no longer leads to the file. */
  look(): void {
    if (!this.#isKept()) {
      throw new BackendError(
        "The database file was removed or replaced while it was open. Nothing was changed: restart the server.",
      );
    }
    this.#seenAt = Date.now();
  }

  /** The same for a reader, who may be late to notice; a writer may not. */
  lookNowAndThen(): void {
    const sinceMs = Date.now() - this.#seenAt;
    if (sinceMs >= LOOK_EVERY_MS || sinceMs < 0) this.look();
  }

  #isKept(): boolean {
    const { dev, ino } = this.#file;
    if (ino === null) return true;
    try {
      const now = Deno.statSync(this.#path);
      return now.ino === ino && now.dev === dev;
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return false;
      throw error;
    }
  }
}
