/**
 * Deletes what no reader can reach any more: journals of documents that are gone, pruned entries, chunks that nobody used.
 *
 * The step that made it unreachable has left a record that names it, so it is found again whoever is killed meanwhile.
 *
 * @module
 */

import type { Connection } from "./connection.ts";
import { DELETED_AT_ONCE, type KvEntry, type KvKey, type KvSelector } from "./database.ts";
import { type Chunks, chunksOf, type Leftover, toLeftover } from "./values.ts";

/** How many records a page has. Their values come along, up to 64 KiB each. */
const PAGE = 128;

/** Deletes what a leftover names, up to so many pages of it. Answers whether all of it is gone, the leftover included. */
export async function cleanUp(connection: Connection, entry: KvEntry, pages = Infinity): Promise<boolean> {
  const leftover = toLeftover(entry.value);
  const remover = new Remover(connection);
  if (!await removeAll(connection, remover, leftover, pages)) return false;
  await remover.finish(entry);
  return true;
}

/** The same after a step that has landed, so nothing may fail any more: what is left is found by a sweep. */
export async function cleanUpQuietly(connection: Connection, entry: KvEntry, pages: number): Promise<void> {
  try {
    await cleanUp(connection, entry, pages);
  } catch {
    // The leftover is still there.
  }
}

async function removeAll(
  connection: Connection,
  remover: Remover,
  leftover: Leftover,
  pages: number,
): Promise<boolean> {
  if ("stage" in leftover) {
    await remover.addChunks(leftover);
    return true;
  }
  const { journal, before } = leftover;
  const { keys } = connection;
  const budget = { pages };
  if (before === Infinity) return await removeRange(connection, remover, { prefix: keys.journal(journal) }, budget);
  for (const prefix of [keys.entries(journal), keys.keyframes(journal)]) {
    if (!await removeRange(connection, remover, { prefix, end: [...prefix, before] }, budget)) return false;
  }
  // Turns and their last versions grow together.
  const isPruned = ({ value }: KvEntry) => typeof value !== "number" || value < before;
  return await removeRange(connection, remover, { prefix: keys.turns(journal) }, budget, isPruned);
}

/** Deletes from the start of a range, as long as `isWanted` says so. Answers whether it came to an end. */
async function removeRange(
  connection: Connection,
  remover: Remover,
  selector: KvSelector,
  budget: { pages: number },
  isWanted: (entry: KvEntry) => boolean = () => true,
): Promise<boolean> {
  while (budget.pages-- > 0) {
    const page = await connection.list(selector, PAGE);
    for (const entry of page) {
      if (!isWanted(entry)) return true;
      for (const chunks of chunksOf(entry.value)) await remover.addChunks(chunks);
      await remover.add(entry.key);
    }
    if (page.length < PAGE) return true;
    await remover.flush();
  }
  return false;
}

/** Deletes keys, many at once. */
class Remover {
  readonly #connection: Connection;
  #keys: KvKey[] = [];

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async add(key: KvKey): Promise<void> {
    this.#keys.push(key);
    if (this.#keys.length === DELETED_AT_ONCE) await this.flush();
  }

  async addChunks({ stage, from, count }: Chunks): Promise<void> {
    for (let i = from; i < from + count; i++) await this.add(this.#connection.keys.chunk(stage, i));
  }

  async flush(): Promise<void> {
    const mutations = this.#keys.map((deleted) => ({ deleted }));
    this.#keys = [];
    if (mutations.length > 0) await this.#connection.insist(() => this.#connection.commit({ checks: [], mutations }));
  }

  /** Deletes the last keys and with them the record that led to them; unless somebody has written a new one, and so has more to delete. */
  async finish(entry: KvEntry): Promise<void> {
    const mutations = [...this.#keys, entry.key].map((deleted) => ({ deleted }));
    await this.#connection.insist(async () => {
      if (await this.#connection.commit({ checks: [entry], mutations }) !== undefined) return true;
      const { versionstamp } = await this.#connection.get(entry.key);
      return versionstamp === entry.versionstamp ? undefined : true;
    });
  }
}
