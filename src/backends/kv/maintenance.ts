/**
 * The maintenance port of a Deno KV database.
 *
 * @module
 */

import { BackendError } from "../../document/errors.ts";
import type { Entry, Keyframe } from "../../document/journal.ts";
import {
  type Adoption,
  type Derived,
  type DocumentRecord,
  type Fault,
  type Maintenance,
  PAGES,
  type PortableTombstone,
  type TurnEnd,
  type Unreadable,
} from "../maintenance.ts";
import type { DocumentKey, Head } from "../records.ts";
import { adoptDocument } from "./adopt.ts";
import { loadText } from "./bodies.ts";
import type { Connection } from "./connection.ts";
import type { KvKey } from "./database.ts";
import { findFaults } from "./faults.ts";
import { type KvBackendOptions, openDatabase } from "./open.ts";
import { rebuild } from "./repair.ts";
import { idIn, number, type StoredText, toDocument, toEntry, toKeyframe, toLeftover } from "./values.ts";
import { userNames, walk } from "./walk.ts";

/**
 * Opens a Deno KV database for maintenance. Its file is made if it is missing, as a backend would.
 *
 * @throws {BackendError} for a file that is damaged, belongs to another program, or cannot be opened or written.
 */
export async function openKvMaintenance(options: KvBackendOptions = {}): Promise<Maintenance> {
  return new KvMaintenance(await openDatabase(options));
}

class KvMaintenance implements Maintenance {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  users(): AsyncGenerator<string> {
    return userNames(this.#connection);
  }

  async *documents(user: string): AsyncGenerator<DocumentRecord> {
    for await (const { value } of walk(this.#connection, this.#connection.keys.list(user), PAGES.heads)) {
      yield toRecord(value);
    }
  }

  async document(key: DocumentKey): Promise<DocumentRecord | undefined> {
    const { value, versionstamp } = await this.#connection.get(this.#connection.keys.document(key));
    if (versionstamp === null) return undefined;
    const record = toRecord(value);
    return "unreadable" in record ? { ...record, id: key.id } : record;
  }

  entries(key: DocumentKey): AsyncGenerator<Entry | Unreadable> {
    return this.#texts(key, (journal) => this.#connection.keys.entries(journal), toEntry);
  }

  keyframes(key: DocumentKey): AsyncGenerator<Keyframe | Unreadable> {
    return this.#texts(key, (journal) => this.#connection.keys.keyframes(journal), toKeyframe);
  }

  async *turns(key: DocumentKey): AsyncGenerator<TurnEnd | Unreadable> {
    const found = await this.#journalOf(key);
    if (found === undefined) return;
    for await (const row of walk(this.#connection, this.#connection.keys.turns(found.journal), PAGES.turns)) {
      const turn = row.key[row.key.length - 1];
      const end = readable(() => ({
        turn: number({ turn }, "turn"),
        version: number({ version: row.value }, "version"),
      }));
      if ("unreadable" in end || end.version >= found.from) yield end;
    }
  }

  adopt(key: DocumentKey, what: Adoption | PortableTombstone): Promise<"adopted" | "exists"> {
    return adoptDocument(this.#connection, key, what);
  }

  rebuild(key: DocumentKey, expected: Pick<Head, "version" | "writeId">, derived: Derived): Promise<boolean> {
    return rebuild(this.#connection, key, expected, derived);
  }

  faults(): AsyncGenerator<Fault> {
    return findFaults(this.#connection);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#connection.close();
  }

  /** The journal of a document, and its first version: what is before is only still to be deleted. */
  async #journalOf(key: DocumentKey): Promise<{ readonly journal: string; readonly from: number } | undefined> {
    const { keys } = this.#connection;
    const { value } = await this.#connection.get(keys.document(key));
    const journal = typeof value === "object" && value !== null && "journal" in value ? value.journal : undefined;
    if (typeof journal !== "string") return undefined;
    const pruned = await this.#connection.get(keys.leftover(keys.userPart(key.user), journal));
    if (pruned.versionstamp === null) return { journal, from: 0 };
    const leftover = toLeftover(pruned.value);
    return { journal, from: "before" in leftover ? leftover.before : 0 };
  }

  async *#texts<S extends { readonly version: number; readonly body: StoredText }>(
    key: DocumentKey,
    place: (journal: string) => KvKey,
    parse: (value: unknown) => S,
  ): AsyncGenerator<Omit<S, "body"> & { readonly body: string } | Unreadable> {
    const found = await this.#journalOf(key);
    if (found === undefined) return;
    for await (const row of walk(this.#connection, place(found.journal), PAGES.bodies, found.from)) {
      const place = row.key[row.key.length - 1];
      const version = typeof place === "number" ? place : undefined;
      const stored = readable(() => parse(row.value), version);
      if ("unreadable" in stored) {
        yield stored;
        continue;
      }
      if (stored.version !== version) {
        yield { unreadable: `is kept in the place of version ${stored.version}`, version };
        continue;
      }
      const body = await this.#load(stored.body);
      yield typeof body === "string" ? { ...stored, body } : { ...body, version };
    }
  }

  async #load(stored: StoredText): Promise<string | Unreadable> {
    try {
      return await loadText(this.#connection, stored) ?? { unreadable: "has lost a part of its text" };
    } catch (error) {
      if (error instanceof TypeError) return { unreadable: "is not UTF-8" };
      throw error;
    }
  }
}

function toRecord(value: unknown): DocumentRecord {
  const record = readable(() => toDocument(value));
  if ("unreadable" in record) return { id: String(idIn(value) ?? "(unknown)"), unreadable: record.unreadable };
  return "tombstone" in record ? record.tombstone : record.head;
}

function readable<T>(read: () => T, version?: number): T | Unreadable {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof BackendError)) throw error;
    const field = /\((\w+)\)/.exec(error.message)?.[1];
    return {
      unreadable: `is damaged${field === undefined ? "" : ` (${field})`}`,
      ...(version === undefined ? {} : { version }),
    };
  }
}
