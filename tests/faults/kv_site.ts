/**
 * A Deno KV database in a directory of its own: its records past the library, and whether they fit together.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { join } from "node:path";
import type { Backend } from "../../src/backends/backend.ts";
import { type KvBackendOptions, openKvBackend } from "../../src/backends/kv.ts";
import type { HandleStoreOptions } from "../../src/store/options.ts";
import { HandleStore } from "../../src/store/store.ts";

/** A record, read past the library. */
export interface Raw {
  /** After the prefix. */
  readonly key: readonly Deno.KvKeyPart[];
  readonly value: unknown;
}

/** A database file; disposing it closes what was opened and removes it. */
export class KvSite implements AsyncDisposable {
  readonly directory: string = Deno.makeTempDirSync();
  readonly path: string = join(this.directory, "state.kv");
  readonly url: string = `kv:///${this.path}`;
  readonly #opened = new AsyncDisposableStack();

  /** A connection, as a backend. */
  async backend(options: KvBackendOptions = {}): Promise<Backend> {
    return this.#opened.use(await openKvBackend({ path: this.path, ...options }));
  }

  /** A store on a connection and a cache of its own. */
  async store(options: HandleStoreOptions = {}, kv: KvBackendOptions = {}): Promise<HandleStore> {
    return this.#opened.use(new HandleStore(await this.backend(kv), options));
  }

  /** All records. */
  async records(): Promise<Raw[]> {
    using kv = await Deno.openKv(this.path);
    return (await Array.fromAsync(kv.list({ prefix: ["mcpstate"] }))).map(({ key, value }) => ({
      key: key.slice(1),
      value,
    }));
  }

  /** Sweeps as somebody an hour later would, so that nothing is too young. */
  async sweepLater(): Promise<void> {
    await using backend = await openKvBackend({ path: this.path, now: () => Date.now() + 3_600_000 });
    for (let swept = Infinity; swept > 0;) swept = await backend.sweep(undefined, 100);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.disposeAsync();
    await Deno.remove(this.directory, { recursive: true });
  }
}

/** The records of one kind, by what follows the kind in their keys. */
export function ofKind(records: readonly Raw[], kind: string): Map<string, unknown> {
  const found = records.filter(({ key }) => key[0] === kind);
  return new Map(found.map(({ key, value }) => [Deno.inspect(key.slice(1)), value]));
}

/** Asserts that every record is reached from another, and every index says the same as what it is of. */
export function assertSound(records: readonly Raw[]): void {
  assertEquals([ofKind(records, "staged").size, ofKind(records, "leftover").size], [0, 0]);
  const documents = records.filter(({ key }) => key[0] === "document").map(({ key, value }) => ({
    user: key[1],
    part: key[2],
    document: value as { journal?: string; head?: Head; tombstone?: { seq: number }; dueAt?: number },
  }));
  const listed = documents.map(({ user, document }) => {
    const { seq } = document.head ?? document.tombstone ?? { seq: NaN };
    return [Deno.inspect([user, seq]), document] as const;
  });
  assertEquals(new Map(listed), ofKind(records, "list"));
  const due = documents.flatMap(({ user, part, document }) => {
    const at = document.head === undefined ? document.dueAt : document.head.expiresAt;
    return at === undefined ? [] : Deno.inspect([user, at, part]);
  });
  assertEquals(due.sort(), [...ofKind(records, "due").keys()].sort());
  const live = documents.flatMap(({ document }) => document.journal ?? []);
  const journals = records.filter(({ key }) => key[0] === "journal");
  assertEquals(new Set(journals.map(({ key }) => key[1])), new Set(live));
  for (const { journal, head } of documents.map(({ document }) => document)) {
    if (head === undefined) continue;
    const entries = journals.filter(({ key }) => key[1] === journal && key[2] === "entry").map(({ value }) =>
      value as { version: number; writeId: string }
    );
    const newest = entries[entries.length - 1];
    assertEquals([newest.version, newest.writeId], [head.version, head.writeId]);
    assertEquals(entries.map(({ version }) => version), entries.map((_, i) => entries[0].version + i));
  }
  const named = records.flatMap(({ key, value }) => key[0] === "requested" ? [] : chunksOf(value));
  assertEquals([...ofKind(records, "chunk").keys()].sort(), named.sort());
  const users = new Map<Deno.KvKeyPart, number>();
  for (const { user, document } of documents) users.set(user, (users.get(user) ?? 0) + (document.head ? 1 : 0));
  for (const [user, count] of users) {
    assertEquals(Object(ofKind(records, "user").get(Deno.inspect([user]))).live, count);
  }
  assertEquals(ofKind(records, "requested").size, ofKind(records, "request").size);
}

interface Head {
  readonly seq: number;
  readonly expiresAt?: number;
  readonly version: number;
  readonly writeId: string;
}

/** The keys of the chunks that a record names. */
function chunksOf(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap((field) => {
    if (typeof field !== "object" || field === null || !("stage" in field)) return [];
    const { stage, from, count } = field;
    return Array.from({ length: count }, (_, i) => Deno.inspect([stage, from + i]));
  });
}

/** Does something just before the n-th commit from now. */
export function beforeCommit(kv: Deno.Kv, commit: number, act: () => Promise<void>): void {
  const begin = kv.atomic.bind(kv);
  let commits = 0;
  kv.atomic = () => {
    const atomic = begin();
    const land = atomic.commit.bind(atomic);
    atomic.commit = async () => {
      if (++commits === commit) await act();
      return await land();
    };
    return atomic;
  };
}
