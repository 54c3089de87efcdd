/**
 * Stores to export from and import into, and what they are filled with.
 *
 * @module
 */

import { DatabaseSync } from "node:sqlite";
import type { Adoption, Maintenance } from "../../src/backends/maintenance.ts";
import { openSqliteMaintenance } from "../../src/backends/sqlite/maintenance.ts";
import { entryBytes } from "../../src/document/journal.ts";
import { append, increment, setKey } from "../../src/document/ops.ts";
import type { HandleStoreOptions } from "../../src/store/options.ts";
import type { HandleStore } from "../../src/store/store.ts";
import { exportStore } from "../../src/admin/export.ts";
import { seconds, until } from "../contract/drafts.ts";
import { Site } from "../store/raw.ts";

export const alice = { user: "alice" };
export const bob = { user: "bob" };

/** A database file with its maintenance port. */
export class AdminSite extends Site {
  readonly #maintained = new AsyncDisposableStack();

  /** A connection for maintenance. */
  async maintenance(): Promise<Maintenance> {
    return this.#maintained.use(await openSqliteMaintenance({ path: this.path, synchronous: "normal" }));
  }

  /** Closes what is open, so that the file can be copied. */
  async closeAll(): Promise<void> {
    await this.#maintained.disposeAsync();
    using database = new DatabaseSync(this.path);
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.#maintained.disposeAsync();
    await super[Symbol.asyncDispose]();
  }
}

/** Where stores are opened on the same data, each with a cache of its own. */
export interface Stores {
  store(options?: HandleStoreOptions): Promise<HandleStore>;
}

/** What {@link fill} made. */
export interface Filled {
  readonly trip: string;
  readonly cart: string;
  readonly log: string;
  readonly notes: string;
  readonly deleted: string;
  readonly expired: string;
}

/** A research session, a cart, a long log of which 5 of 20 versions are kept, large notes; one deleted, one expired. */
export async function fill(site: Stores): Promise<Filled> {
  const store = await site.store({ writer: "laptop" });
  const trip = await store.mint("trip", { city: "Copenhagen", stops: [] }, { ...alice, ttlDays: 7.000_000_1, turn: 1 });
  await store.patch(trip, [append("stops", "Nyhavn")], { ...alice, writer: "phone", turn: 2 });
  await store.save(trip, { city: "Aarhus", stops: ["ARoS"] }, {
    ...alice,
    expectVersion: 2,
    turn: 2,
    title: "Jutland",
  });
  await store.patch(trip, [setKey("", "days", 3)], { ...alice, turn: 4 });
  await store.touch(trip, { ...alice, ttlDays: 3, turn: 6 });

  const cart = await store.mint("cart", { items: [], total: 0 }, bob);
  for (let i = 0; i < 3; i++) await store.patch(cart, [increment("total", 9.9), append("items", "æble 🍎")], bob);

  const short = await site.store({ retention: { versions: 5 } });
  const log = await short.mint("log", { n: 1, pad: "" }, { ...alice, title: "A log" });
  for (let n = 2; n <= 20; n++) {
    await short.save(log, { n, pad: `${n}`.repeat(5_000), [`k${n % 3}`]: n }, {
      ...alice,
      expectVersion: n - 1,
      turn: n,
    });
  }

  const notes = await store.mint("notes", { text: "n".repeat(40_000) }, bob);
  for (let i = 0; i < 40; i++) await store.patch(notes, [setKey("", "text", `${i}`.repeat(2_000))], bob);

  const deleted = await store.mint("cart", { items: ["gone"] }, alice);
  await store.revoke(deleted, alice);
  const expired = await store.mint("cart", { items: ["gone"] }, { ...alice, ttlDays: seconds(0.05) });
  await until(async () => (await store.list("alice")).handles.every(({ handle }) => handle !== expired), "it expires");
  await store.sweep("alice");
  return { trip, cart, log, notes, deleted, expired };
}

/** All lines of an export. */
export async function exported(source: Maintenance, user?: string): Promise<string[]> {
  return await Array.fromAsync(exportStore(source, { user }));
}

/** What is in the lines apart from when they were written. */
export function timeless([header, ...rest]: readonly string[]): string[] {
  return [header.replace(/"exported_at":"[^"]*"/, ""), ...rest];
}

/** Lines as they come. */
export async function* asLines(lines: Iterable<string>): AsyncGenerator<string> {
  yield* lines;
}

/** Every reading of a document: each version, turn and change, and what the list says of it. */
export async function readings(store: HandleStore, handle: string, user: string): Promise<unknown> {
  const head = await store.get(handle, { user });
  const versions = [];
  for (let version = 1; version <= head.version; version++) {
    versions.push(await store.get(handle, { user, version }).catch((error) => error.toPayload()));
  }
  const turns = [];
  for (let turn = 0; turn <= head.turn + 1; turn++) {
    turns.push(await store.get(handle, { user, turn }).catch((error) => error.toPayload()));
  }
  const times = [];
  for (const { updatedAt } of versions.filter((each) => "updatedAt" in each)) {
    times.push(await store.get(handle, { user, at: updatedAt }));
  }
  const changes = await store.changes(handle, { user, since: head.oldestVersion });
  return { head, versions, turns, times, changes: changes.changes };
}

/** A journal of one entry. */
export function adoption(id: string, state: Record<string, unknown>): Adoption {
  const body = JSON.stringify(state);
  const stamp = { version: 1, writeId: crypto.randomUUID(), writer: "laptop", turn: 0 };
  const at = Date.parse("2026-07-28T09:30:00.123Z");
  const bytes = entryBytes(body) - entryBytes("");
  const times = { createdAt: at, updatedAt: at };
  return {
    head: { ...stamp, ...times, id, kind: "trip", firstTurn: 0, bytes, oldest: 1 },
    entries: [{ ...stamp, at, body }],
  };
}

/** Every method of a maintenance port, so that a test can put its own in the place of one. */
export function forward(maintenance: Maintenance): Maintenance {
  return {
    users: () => maintenance.users(),
    documents: (user) => maintenance.documents(user),
    document: (key) => maintenance.document(key),
    entries: (key) => maintenance.entries(key),
    keyframes: (key) => maintenance.keyframes(key),
    turns: (key) => maintenance.turns(key),
    adopt: (key, what) => maintenance.adopt(key, what),
    rebuild: (key, expected, derived) => maintenance.rebuild(key, expected, derived),
    faults: () => maintenance.faults(),
    [Symbol.asyncDispose]: () => maintenance[Symbol.asyncDispose](),
  };
}
