/**
 * What puts a Deno KV database right.
 *
 * @module
 */

import type { Derived, Remedy } from "../maintenance.ts";
import type { DocumentKey, Head } from "../records.ts";
import { Stage } from "./bodies.ts";
import type { Connection, Mutation } from "./connection.ts";
import { DELETED_AT_ONCE, type KvEntry, type KvKey } from "./database.ts";
import type { Places } from "./places.ts";
import { findStamp } from "./read.ts";
import { load, runStep, type Step } from "./step.ts";
import { type Live, readDocument, readUser, type UserRecord } from "./values.ts";
import { walk } from "./walk.ts";
import { addKeyframe, putHead } from "./write.ts";

/** How many records are fetched at a time. */
const PAGE = 100;
/** How many rows of an index one step writes. */
const ROWS = 500;

/** One remedy for each kind of fault. */
export class KvRemedies {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  counters(user: string, places: Places): Remedy {
    return this.#remedy("count the user's documents anew", async () => {
      const before = await this.#connection.get(places.user);
      let [live, seq] = [0, 0];
      for await (const { value } of walk(this.#connection, places.documents, PAGE)) {
        const document = readDocument(value);
        if (document === undefined || "head" in document) live++;
        if (document === undefined) continue;
        seq = Math.max(seq, "head" in document ? document.head.seq : document.tombstone.seq);
      }
      const was = readUser(before.value) ?? { name: user, seq: 0, live: 0, forgotten: 0 };
      const value: UserRecord = { ...was, live, seq: Math.max(seq, was.seq) };
      return { checks: [before], mutations: [{ key: places.user, value }] };
    });
  }

  record(places: Places, key: KvKey): Remedy {
    return this.#remedy("put the document into its places in the indices", async () => {
      const entry = await this.#connection.get(key);
      const document = readDocument(entry.value);
      if (document === undefined) return undefined;
      const id = "head" in document ? document.head.id : document.tombstone.id;
      const due = places.dueAt(document, key[key.length - 1]);
      const mutations: Mutation[] = [{ key: places.listedAt(document), value: entry.value }];
      if (due !== undefined) mutations.push({ key: due, value: id });
      return { checks: [entry], mutations };
    });
  }

  row(row: KvEntry): Remedy {
    return this.#remedy(
      "remove the row that leads nowhere",
      () => Promise.resolve({ checks: [row], mutations: [{ deleted: row.key }] }),
      row,
    );
  }

  request(request: KvEntry, index: KvKey): Remedy {
    const [id, meta] = [index[index.length - 1], request.value];
    const chunks = typeof meta === "object" && meta !== null && "meta" in meta ? meta.meta : undefined;
    const value = { id, chunks: chunks instanceof Uint8Array ? undefined : chunks };
    return this.#remedy(
      "put the request into its index",
      () => Promise.resolve({ checks: [request], mutations: [{ key: index, value }] }),
      request,
    );
  }

  chunks(entries: readonly KvEntry[]): Remedy {
    return {
      does: "remove the chunks that belong to nothing",
      apply: async () => {
        for (let i = 0; i < entries.length; i += DELETED_AT_ONCE) {
          const mutations = entries.slice(i, i + DELETED_AT_ONCE).map(({ key }) => ({ deleted: key }));
          await this.#connection.insist(() => this.#connection.commit({ checks: [], mutations }));
        }
      },
    };
  }

  /** @param of What must still be as it was; if it is not, there is nothing to be put right. */
  #remedy(
    does: string,
    decide: () => Promise<Parameters<Connection["commit"]>[0] | undefined>,
    of?: KvEntry,
  ): Remedy {
    const apply = async () => {
      await this.#connection.insist(async () => {
        const change = await decide();
        if (change === undefined || await this.#connection.commit(change) !== undefined) return true;
        if (of === undefined) return undefined;
        const { versionstamp } = await this.#connection.get(of.key);
        return versionstamp === of.versionstamp ? undefined : true;
      });
    };
    return { does, apply };
  }
}

/** See {@link Maintenance.rebuild}. */
export async function rebuild(
  connection: Connection,
  key: DocumentKey,
  expected: Pick<Head, "version" | "writeId">,
  derived: Derived,
): Promise<boolean> {
  const { keys } = connection;
  for (const keyframe of derived.keyframes) {
    await using stage = new Stage(connection, key.user, [keyframe.body]);
    const isKept = await within(connection, key, expected, async (step, { journal }) => {
      if ((await findStamp(connection, journal, keyframe.version))?.writeId !== keyframe.writeId) return;
      const [body] = await stage.join(step);
      addKeyframe(connection, step, journal, keyframe, body);
    });
    if (!isKept) return false;
  }
  const isSettled = await within(connection, key, expected, (step, live) => {
    putHead(connection, step, key.user, { ...live, head: { ...live.head, ...derived.head } }, live.head);
    return Promise.resolve();
  });
  if (!isSettled) return false;
  const { document } = await load(connection, key);
  if (document === undefined || "tombstone" in document) return false;
  const { journal } = document;
  const mutations: Mutation[] = [];
  const versions = new Set(derived.keyframes.map(({ version }) => version));
  for await (const { key } of walk(connection, keys.keyframes(journal), PAGE)) {
    if (!versions.has(Number(key[key.length - 1]))) mutations.push({ deleted: key });
  }
  const turns = new Map(derived.turns.map(({ turn, version }) => [turn, version]));
  for await (const { key, value } of walk(connection, keys.turns(journal), PAGE)) {
    const turn = Number(key[key.length - 1]);
    if (!turns.has(turn)) mutations.push({ deleted: key });
    else if (turns.get(turn) === value) turns.delete(turn);
  }
  for (const [turn, version] of turns) mutations.push({ key: [...keys.turns(journal), turn], value: version });
  for (let i = 0; i < mutations.length; i += ROWS) {
    const part = mutations.slice(i, i + ROWS);
    const isDone = await within(
      connection,
      key,
      expected,
      (step) => Promise.resolve(void step.mutations.push(...part)),
    );
    if (!isDone) return false;
  }
  return true;
}

/** One step on a document that is still as expected. */
function within(
  connection: Connection,
  key: DocumentKey,
  { version, writeId }: Pick<Head, "version" | "writeId">,
  write: (step: Step, live: Live) => Promise<void>,
): Promise<boolean> {
  return runStep(connection, key.user, async (step) => {
    const { entry, document } = await load(connection, key);
    if (document === undefined || "tombstone" in document) return false;
    const { head } = document;
    if (head.version !== version || head.writeId !== writeId) return false;
    step.check(entry);
    await write(step, document);
    return true;
  });
}
