/**
 * Finds journals that no document has, and chunks that no record names.
 *
 * @module
 */

import type { Fault } from "../maintenance.ts";
import type { Connection } from "./connection.ts";
import type { KvEntry } from "./database.ts";
import { KvRemedies } from "./repair.ts";
import { type Chunks, chunksOf, readDocument } from "./values.ts";
import { walk } from "./walk.ts";

/** How many records are fetched at a time. Their values come along, up to 64 KiB each. */
const PAGE = 128;

/** Everything that nothing leads to. It is looked at twice, since what is made meanwhile is not known the first time. */
export async function* findOrphans(connection: Connection): AsyncGenerator<Fault> {
  const first = await lookAround(connection);
  const chunks = await strayChunks(connection, first);
  if (first.strays.size === 0 && chunks.length === 0) return;
  const second = await lookAround(connection);
  for (const journal of first.strays) {
    if (!second.strays.has(journal)) continue;
    yield { problem: `The journal ${journal} belongs to no document.` }; // what was written is removed by nobody
  }
  const strays = chunks.filter(({ key }) => !isNamed(second, key));
  const byStage = Map.groupBy(strays, ({ key }) => String(key[key.length - 2]));
  for (const [stage, entries] of byStage) {
    const still = (await connection.getMany(entries.map(({ key }) => key))).filter(({ versionstamp }) =>
      versionstamp !== null
    );
    if (still.length === 0) continue;
    const problem = `${still.length} chunks of ${stage} belong to nothing.`;
    yield { problem, remedy: new KvRemedies(connection).chunks(still) };
  }
}

interface Surroundings {
  /** Chunks that records name, by their stage. */
  readonly named: ReadonlyMap<string, readonly Chunks[]>;
  /** Journals that no document has, nor anybody who brings them in or removes them. */
  readonly strays: ReadonlySet<string>;
}

async function lookAround(connection: Connection): Promise<Surroundings> {
  const { keys } = connection;
  const named = new Map<string, Chunks[]>();
  const name = (value: unknown) => {
    for (const chunks of chunksOf({ value, ...typeof value === "object" ? value : {} })) {
      named.set(chunks.stage, [...named.get(chunks.stage) ?? [], chunks]);
    }
  };
  const strays = new Set<string>();
  for await (const { key, value } of walk(connection, keys.journals(), PAGE)) {
    strays.add(String(key[keys.journals().length]));
    name(value);
  }
  for (const prefix of [keys.allRequests(), keys.allRequestTimes()]) {
    for await (const { value } of walk(connection, prefix, PAGE)) name(value);
  }
  // Last, since whoever makes a journal visible or removes it leaves its name here in the same step.
  for await (const { value } of walk(connection, keys.documents(), PAGE)) {
    const document = readDocument(value);
    if (document !== undefined && "journal" in document) strays.delete(document.journal);
    else if (typeof value === "object" && value !== null && "journal" in value) strays.delete(String(value.journal));
  }
  for await (const { key, value } of walk(connection, keys.intents(), PAGE)) {
    strays.delete(String(key[key.length - 1]));
    const count = typeof value === "object" && value !== null && "count" in value ? Number(value.count) : 0;
    name({ stage: String(key[key.length - 1]), from: 0, count });
  }
  for await (const { value } of walk(connection, keys.leftovers(), PAGE)) {
    name(value);
    if (typeof value === "object" && value !== null && "journal" in value) strays.delete(String(value.journal));
  }
  return { named, strays };
}

async function strayChunks(connection: Connection, around: Surroundings): Promise<KvEntry[]> {
  const strays: KvEntry[] = [];
  for await (const entry of walk(connection, connection.keys.chunks(), PAGE)) {
    if (!isNamed(around, entry.key)) strays.push({ ...entry, value: undefined });
  }
  return strays;
}

function isNamed({ named }: Surroundings, key: KvEntry["key"]): boolean {
  const [stage, number] = [String(key[key.length - 2]), Number(key[key.length - 1])];
  return named.get(stage)?.some(({ from, count }) => from <= number && number < from + count) ?? false;
}
