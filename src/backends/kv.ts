/**
 * State in Deno KV: for Deno Deploy, and for a `denokv` server of your own. Deno KV is unstable, so Deno must be run with
 * `--unstable-kv`.
 *
 * ```ts
 * import { HandleStore } from "jsr:@mcpstate/server";
 * import { openKvBackend } from "jsr:@mcpstate/server/kv";
 *
 * await using store = new HandleStore(await openKvBackend({ path: "/tmp/state.kv" }));
 * ```
 *
 * @module
 */

import type { Keyframe, Stamp } from "../document/journal.ts";
import type {
  Absent,
  Append,
  Appended,
  Backend,
  Creation,
  DocumentKey,
  Exists,
  Expected,
  Found,
  Gone,
  Held,
  ListPage,
  ListRange,
  Lost,
  Place,
  QuotaReached,
  Removal,
  Removed,
  Replayed,
  RequestRecord,
  Touch,
  Touched,
  Want,
} from "./backend.ts";
import { loadRequest } from "./kv/bodies.ts";
import type { Connection } from "./kv/connection.ts";
import { removeDocument, touchDocument, trimDocument, tryToBury } from "./kv/ends.ts";
import { type KvBackendOptions, openDatabase } from "./kv/open.ts";
import { alreadyHeld, findEntries, findPlace, isWhole, leadTo } from "./kv/read.ts";
import { appendEntries, createDocument } from "./kv/steps.ts";
import { sweepAll, sweepUser, tidy } from "./kv/sweep.ts";
import { listDocuments, purgeUser } from "./kv/users.ts";
import { toDocument } from "./kv/values.ts";
import { userNames } from "./kv/walk.ts";
import { Watcher } from "./kv/watcher.ts";
import { isPastDue, LEFTOVERS, toExpired } from "./records.ts";

export type { KvBackendOptions } from "./kv/open.ts";
export type { KvAtomic, KvDatabase, KvEntry, KvKey, KvKeyPart, KvSelector } from "./kv/database.ts";

/** How often a reader looks again because what it was reading changed meanwhile. */
const ATTEMPTS = 4;

/**
 * Opens a Deno KV database as a backend, making its file (mode 0600) and directory (0700) if they are missing.
 *
 * Needs `--unstable-kv`, and `--allow-read` and `--allow-write` for the file's directory; nothing in memory.
 *
 * @throws {BackendError} for a file that is damaged, belongs to another program, or cannot be opened or written.
 */
export async function openKvBackend(options: KvBackendOptions = {}): Promise<Backend> {
  return new KvBackend(await openDatabase(options));
}

class KvBackend implements Backend {
  readonly #connection: Connection;
  readonly #watcher: Watcher;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#watcher = new Watcher(connection);
  }

  async create(key: DocumentKey, creation: Creation): Promise<Appended | Exists | Gone | QuotaReached | Replayed> {
    for (;;) {
      const answer = await this.#tidied(key.user, createDocument(this.#connection, key, creation));
      // Past due documents do not count.
      if (answer.outcome !== "quota" || await sweepUser(this.#connection, key.user, LEFTOVERS) === 0) return answer;
    }
  }

  async read(key: DocumentKey, want: Want, held?: Held): Promise<Found | Absent | Gone> {
    const connection = this.#connection;
    const name = connection.keys.document(key);
    let seen = await connection.get(name);
    for (let attempt = 1;; attempt++) {
      if (seen.versionstamp === null) return { outcome: "absent" };
      const document = toDocument(seen.value);
      if ("tombstone" in document) return { outcome: "gone", tombstone: document.tombstone };
      const { head } = document;
      const { versionstamp } = seen;
      if (isPastDue(head, connection.now())) {
        await tryToBury(connection, key);
        seen = await connection.get(name);
        const isBuried = seen.versionstamp !== versionstamp;
        if (isBuried || !isPastDue(head, connection.now())) continue; // or the clock was set back meanwhile
        return { outcome: "gone", tombstone: toExpired(head) };
      }
      // The common case needs no more than the head.
      if (want.as === "head" && held?.version === head.version && held.writeId === head.writeId) {
        return alreadyHeld(head);
      }
      const found = await leadTo(connection, document, want, held);
      if (isWhole(found, held) || attempt === ATTEMPTS) return found;
      seen = await connection.get(name);
      if (seen.versionstamp === versionstamp) return found;
    }
  }

  async entries(key: DocumentKey, after: number | undefined, limit: number): Promise<Found | Absent | Gone> {
    const connection = this.#connection;
    const seen = await connection.get(connection.keys.document(key));
    if (seen.versionstamp === null) return { outcome: "absent" };
    const document = toDocument(seen.value);
    if ("tombstone" in document) return { outcome: "gone", tombstone: document.tombstone };
    const { head, journal } = document;
    if (isPastDue(head, connection.now())) return { outcome: "gone", tombstone: toExpired(head) };
    const from = Math.max(after === undefined ? head.version - limit + 1 : after + 1, head.oldest);
    const entries = await findEntries(connection, journal, from, Math.min(from + limit - 1, head.version));
    return { outcome: "found", head, onto: "nothing", entries };
  }

  append(
    key: DocumentKey,
    expected: Expected,
    append: Append,
  ): Promise<Appended | Lost | Absent | Gone | Replayed> {
    return this.#tidied(key.user, appendEntries(this.#connection, key, expected, append));
  }

  touch(key: DocumentKey, touch: Touch): Promise<Touched | Absent | Gone> {
    return touchDocument(this.#connection, key, touch);
  }

  remove(key: DocumentKey, removal: Removal): Promise<Removed | Lost | Absent | Gone | Replayed> {
    return this.#tidied(key.user, removeDocument(this.#connection, key, removal));
  }

  async locate(key: DocumentKey, place: Place): Promise<Stamp | undefined> {
    const seen = await this.#connection.get(this.#connection.keys.document(key));
    if (seen.versionstamp === null) return undefined;
    const document = toDocument(seen.value);
    return "tombstone" in document ? undefined : await findPlace(this.#connection, document, place);
  }

  trim(key: DocumentKey, oldest: Held, keyframe: Keyframe): Promise<void> {
    return trimDocument(this.#connection, key, oldest, keyframe);
  }

  async list(user: string, range: ListRange): Promise<ListPage> {
    return await this.#tidied(user, listDocuments(this.#connection, user, range));
  }

  async findRequest(user: string, id: string): Promise<RequestRecord | undefined> {
    return await loadRequest(this.#connection, await this.#connection.get(this.#connection.keys.request(user, id)));
  }

  users(): AsyncIterable<string> {
    return userNames(this.#connection);
  }

  sweep(user: string | undefined, limit: number): Promise<number> {
    return user === undefined ? sweepAll(this.#connection, limit) : sweepUser(this.#connection, user, limit);
  }

  subscribe(user: string, notify: () => void): Promise<AsyncDisposable> {
    return this.#watcher.subscribe(user, notify);
  }

  purge(user: string): Promise<number> {
    return purgeUser(this.#connection, user);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#watcher.close();
    await this.#connection.close();
  }

  async #tidied<T>(user: string, step: Promise<T>): Promise<T> {
    const answer = await step;
    await tidy(this.#connection, user);
    return answer;
  }
}
