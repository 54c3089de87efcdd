/**
 * One atomic step: what it looked at and what it writes, put together from reads that are checked when it commits.
 *
 * Whatever takes a sequence number, counts documents or remembers a request checks and writes the user's record. So steps
 * of one user that could meet are ordered by that one check, and request ids need none of their own.
 *
 * @module
 */

import { BackendError } from "../../document/errors.ts";
import type { DocumentKey, RequestDraft } from "../records.ts";
import type { Replayed } from "../backend.ts";
import { loadRequest } from "./bodies.ts";
import type { Connection, Mutation } from "./connection.ts";
import { type KvEntry, type KvKey, MOST_KEYS } from "./database.ts";
import { cleanUpQuietly } from "./leftovers.ts";
import { type Buried, type Leftover, type Live, toDocument, toUser, type UserRecord } from "./values.ts";

/** What will be written if all that was checked is still as it was. */
export class Step {
  readonly checks: KvEntry[] = [];
  readonly mutations: Mutation[] = [];
  /** What becomes invisible with this step, to be deleted after it. */
  readonly leftovers: { readonly key: KvKey; readonly value: Leftover }[] = [];
  /** Whether it writes the user's record. */
  isCounted = false;
  /** Called once it has landed. */
  onLanded: () => void = () => {};

  readonly #clock: () => number;
  #now: number | undefined;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** The time of all that it does: later than whatever it has read by the time when it is first asked for. */
  get now(): number {
    return this.#now ??= this.#clock();
  }

  /** Makes the step fail if the record is no longer as it was read. */
  check(entry: KvEntry): void {
    if (!this.checks.includes(entry)) this.checks.push(entry);
  }

  set(key: KvKey, value: unknown): void {
    this.mutations.push({ key, value });
  }

  delete(key: KvKey): void {
    this.mutations.push({ deleted: key });
  }

  /** Leaves something to be deleted once the step has landed. */
  leave(key: KvKey, value: Leftover): void {
    this.set(key, value);
    this.leftovers.push({ key, value });
  }
}

/** The user's record within a step. */
export class Counter {
  readonly #entry: KvEntry;
  readonly #name: string;
  #record: UserRecord;

  constructor(name: string, entry: KvEntry) {
    this.#name = name;
    this.#entry = entry;
    this.#record = entry.versionstamp === null ? { name, seq: 0, live: 0, forgotten: 0 } : toUser(entry.value);
  }

  get live(): number {
    return this.#record.live;
  }

  /** Takes the next sequence numbers, and counts live documents. Answers the first of them. */
  take(count: number, live: number): number {
    const { seq } = this.#record;
    this.#record = { ...this.#record, seq: seq + count, live: this.#record.live + live };
    return seq + 1;
  }

  /** Counts live documents. */
  count(live: number): void {
    this.take(0, live);
  }

  /** Remembers that a tombstone is no longer kept. */
  forget(seq: number): void {
    this.#record = { ...this.#record, forgotten: Math.max(this.#record.forgotten, seq) };
  }

  /** Orders the step among the user's others. The last thing that a step does. */
  save(step: Step, connection: Connection): void {
    step.check(this.#entry);
    step.set(connection.keys.user(this.#name), this.#record);
    step.isCounted = true;
  }
}

/** A document as a step found it. */
export interface Loaded {
  readonly entry: KvEntry;
  readonly document: Live | Buried | undefined;
  readonly counter: Counter;
  /** The answer, if one of the requests was seen before. */
  readonly replayed?: Replayed;
}

/** Reads what every step begins with. The requests are read no earlier than the document, so that what another step has done with it is seen with its request. */
export async function load(
  connection: Connection,
  key: DocumentKey,
  drafts: readonly (RequestDraft | undefined)[] = [],
): Promise<Loaded> {
  const { keys } = connection;
  const wanted = drafts.flatMap((draft) => draft === undefined ? [] : [keys.request(key.user, draft.id)]);
  const first = MOST_KEYS - 2;
  const [entry, user, ...requests] = await connection.getMany([
    keys.document(key),
    keys.user(key.user),
    ...wanted.slice(0, first),
  ]);
  if (wanted.length > first) requests.push(...await connection.getMany(wanted.slice(first)));
  const seen = requests.find(({ versionstamp }) => versionstamp !== null);
  const record = seen && await loadRequest(connection, seen);
  return {
    entry,
    document: entry.versionstamp === null ? undefined : toDocument(entry.value),
    counter: new Counter(key.user, user),
    ...(record === undefined ? {} : { replayed: { outcome: "replayed", record } }),
  };
}

/** How much trouble a step is worth. */
export interface Effort {
  /** Whether to try again while others are faster or hold the database. */
  readonly isPatient: boolean;
  /** How much of what it leaves to delete at once, in pages. */
  readonly pages: number;
}

/** For what somebody waits for. */
const ASKED: Effort = { isPatient: true, pages: 8 };
/** For what can as well be done later. */
export const PASSING: Effort = { isPatient: false, pages: 8 };
/** For a sweep, after which nothing may be left. */
export const THOROUGH: Effort = { isPatient: true, pages: Infinity };

/** Runs `decide` until its step lands, or until it needs none; then deletes what the step has left. */
export async function runStep<T>(
  connection: Connection,
  user: string,
  decide: (step: Step) => Promise<T>,
  { isPatient, pages }: Effort = ASKED,
): Promise<T> {
  const since = isPatient ? Date.now() : -Infinity;
  let isUncertain = false;
  const { answer, left } = await connection.inTurn(user, () =>
    connection.insist(async () => {
      const step = new Step(connection.now);
      const answer = await decide(step);
      if (step.mutations.length === 0) return { answer, left: [] };
      const versionstamp = await connection.commit(step);
      if (versionstamp === undefined) {
        isUncertain = connection.mayResend;
        return undefined;
      }
      step.onLanded();
      if (step.isCounted) connection.onWrite(user, versionstamp);
      return { answer, left: step.leftovers.map((leftover) => ({ ...leftover, versionstamp })) };
    }, since)).catch((error) => {
      throw isUncertain ? asUncertain(error) : error;
    });
  for (const leftover of left) await cleanUpQuietly(connection, leftover, pages);
  return answer;
}

/** A commit that was refused may be the second of one that landed: then nobody knows until the document is looked at. */
function asUncertain(error: unknown): unknown {
  if (!(error instanceof BackendError) || error.outcomeUnknown) return error;
  return new BackendError("The database failed in the middle of a write. Load to see whether the write landed.", {
    cause: error,
    outcomeUnknown: true,
  });
}
