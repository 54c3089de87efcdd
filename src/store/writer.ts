/**
 * Writes to one document queue up within the process and go together; a lost race is folded in and planned again.
 *
 * @module
 */

import type { Appended, Backend, DocumentKey, Expected, Head, RequestRecord } from "../backends/backend.ts";
import { expiryOf } from "../backends/records.ts";
import { BackendError, HandleExpired, HandleNotFound, StaleWrite, StateError } from "../document/errors.ts";
import type { Stamp } from "../document/journal.ts";
import type { Snapshot } from "../document/snapshot.ts";
import { isDue, planBatch, type Planned, toAppend, type Write } from "./batch.ts";
import type { Current, FoldCache } from "./cache.ts";
import type { Settings } from "./options.ts";
import { Pace } from "./pace.ts";
import type { Reader } from "./reader.ts";
import { checkSame, replay } from "./requests.ts";
import { isJudgementDue, oldestByAgeAndBytes, oldestByCount } from "./retention.ts";
import { toSnapshot } from "./snapshots.ts";

/** How many lost races are answered at once. A loser holds what it needs to try again; who waits longer only loses more. */
const PATIENT_LOSSES = 16;
/** Then a moment's pause breaks the step of processes that run alike. */
const MOST_PAUSE_MS = 2;

interface Job extends Write {
  readonly resolve: (snapshot: Snapshot) => void;
  readonly reject: (error: unknown) => void;
}

/** Writes to the documents of one backend. */
export class Writer {
  readonly #queues = new Map<string, Job[]>();
  readonly #pace = new Pace();
  readonly #backend: Backend;
  readonly #cache: FoldCache;

  constructor(readonly reader: Reader, readonly settings: Settings) {
    this.#backend = reader.backend;
    this.#cache = reader.cache;
  }

  /** Queues a write. Those that are queued in one turn of the event loop go as one step. */
  write(key: DocumentKey, write: Write): Promise<Snapshot> {
    return new Promise((resolve, reject) => {
      const { plan, writer, turn, title, ttlDays, request } = write;
      const job = { plan, writer, turn, title, ttlDays, request, resolve, reject };
      const name = `${key.user}\0${key.id}`;
      const queue = this.#queues.get(name);
      if (queue !== undefined) queue.push(job);
      else {
        this.#queues.set(name, [job]);
        this.#pace.begin(() => this.#drain(key, name));
      }
    });
  }

  async #drain(key: DocumentKey, name: string): Promise<void> {
    const queue = this.#queues.get(name) ?? [];
    while (queue.length > 0) {
      const asked = queue.length;
      try {
        await this.#round(key, queue);
      } catch (error) {
        // What concerns the backend concerns everyone who waits. That the document is gone may be an answer from before
        // the latest of them asked, and it may be there again.
        const isGone = error instanceof HandleNotFound || error instanceof HandleExpired;
        for (const job of queue.splice(0, isGone ? asked : queue.length)) await this.#fail(key, job, error);
      }
    }
    this.#queues.delete(name);
  }

  /** Settles at least one job, or throws. Settled jobs leave the queue. */
  async #round(key: DocumentKey, queue: Job[]): Promise<void> {
    const deadline = Date.now() + this.settings.maxContentionMs;
    const seen = this.#cache.current(key);
    // What the cache holds may be old: it serves for a write, which checks it, but not for a refusal.
    let isFresh = seen === undefined;
    if (seen !== undefined) this.reader.counts.cacheHits++;
    let base = seen ?? await this.#read(key);
    for (let losses = 0;; losses++) {
      const pending = planBatch(queue, base, this.settings.maxStateBytes);
      const batch = pending instanceof Promise ? await pending : pending;
      if (batch.planned.length === 0) {
        if (!isFresh) {
          base = await this.#read(key);
          isFresh = true;
          continue;
        }
        const job = queue.shift();
        if (job === undefined) return;
        if (batch.refused !== undefined) return await this.#fail(key, job, batch.refused.error);
        return job.resolve(toSnapshot(base.head, base.folded, base.stamp));
      }
      const { planned } = batch;
      const oldest = this.#oldest(key, base, planned);
      const append = toAppend(planned, base, typeof oldest === "number" ? oldest : await oldest);
      const answer = await this.#backend.append(key, toExpected(base), append);
      switch (answer.outcome) {
        case "appended":
          return this.#settle(key, queue, planned, base, answer);
        case "replayed":
          return await this.#settleReplay(key, queue, answer.record);
        case "absent":
        case "gone":
          this.#cache.delete(key);
          throw await this.reader.gone(key, answer, true);
      }
      this.reader.counts.retries++;
      const version = this.reader.follow(answer.found, base);
      base = version === undefined ? await this.#read(key) : { ...version, head: answer.found.head };
      this.#cache.setCurrent(key, base);
      isFresh = true;
      if (Date.now() > deadline) {
        throw new BackendError(
          `Others kept writing to this document for ${this.settings.maxContentionMs} ms. Nothing was changed: try again.`,
          { busy: true },
        );
      }
      if (losses >= PATIENT_LOSSES) await pause();
    }
  }

  async #read(key: DocumentKey): Promise<Current> {
    try {
      return await this.reader.current(key);
    } catch (error) {
      if (error instanceof HandleNotFound) throw new HandleNotFound(error.handle, error.didYouMean, true);
      if (error instanceof HandleExpired) throw new HandleExpired(error.handle, error.expiredAt, error.ttlDays, true);
      throw error;
    }
  }

  #settle(key: DocumentKey, queue: Job[], planned: readonly Planned<Job>[], base: Current, answer: Appended): void {
    const stamps = answer.stamps.values();
    let { stamp } = base;
    // Others may have renewed it since the cache was told: where no write of the batch did, its life is the head's.
    const isRenewed = planned.some(({ step }) => step.entry?.ttlDays !== undefined);
    const { ttlDays, expiresAt } = isRenewed ? base.head : answer.head;
    let head: Head = { ...base.head, ttlDays, expiresAt };
    for (const { write, folded, facts, step } of planned) {
      const next = step.entry === undefined ? undefined : stamps.next().value;
      if (next !== undefined) stamp = next;
      head = toHeadOf(answer.head, head, stamp, step.entry);
      write.resolve(toSnapshot(head, folded, stamp, facts));
    }
    queue.splice(0, planned.length);
    const last = planned[planned.length - 1].folded;
    // Answered to a write that was sent twice, the head may be further already.
    if (last.version === answer.head.version) this.#cache.setCurrent(key, { head: answer.head, folded: last, stamp });
  }

  async #settleReplay(key: DocumentKey, queue: Job[], record: RequestRecord): Promise<void> {
    const index = queue.findIndex(({ request }) => request?.id === record.id);
    const [job] = queue.splice(index, 1);
    try {
      if (job.request !== undefined) checkSame(record, job.request);
      job.resolve(await replay(this.reader, key.user, record));
    } catch (error) {
      job.reject(error);
    }
  }

  /** A refusal stands only if the request was not answered before. */
  async #fail(key: DocumentKey, job: Job, error: unknown): Promise<void> {
    try {
      const { request } = job;
      const record = request === undefined || !(error instanceof StateError)
        ? undefined
        : await this.#backend.findRequest(key.user, request.id);
      if (record === undefined || request === undefined) {
        if (error instanceof StaleWrite) this.reader.counts.conflicts++;
        return job.reject(error);
      }
      checkSame(record, request);
      job.resolve(await replay(this.reader, key.user, record));
    } catch (failure) {
      job.reject(failure instanceof BackendError ? toUnanswered(error, failure) : failure);
    }
  }

  #oldest(key: DocumentKey, base: Current, planned: readonly Planned<Job>[]): number | Promise<number> {
    const { retention } = this.settings;
    const { version } = planned[planned.length - 1].folded;
    const oldest = oldestByCount(base.head, version, retention);
    if (!isJudgementDue(version, isDue(planned, base), retention)) return oldest;
    return oldestByAgeAndBytes(this.#backend, key, base.head, Date.now(), retention)
      .then((other) => Math.max(oldest, other));
  }
}

function toExpected({ head, folded }: Current): Expected {
  return { version: folded.version, writeId: folded.writeId, turn: head.turn, head };
}

/** The head as one write of a batch left it: title and expiry of the whole batch are those of its last. */
function toHeadOf(after: Head, before: Head, stamp: Stamp, entry: Planned<Job>["step"]["entry"]): Head {
  if (entry === undefined) return before;
  const title = entry.title ?? before.title;
  if (stamp.version === after.version) return title === after.title ? after : { ...after, title };
  if (entry.ttlDays === undefined) return { ...after, title, ttlDays: before.ttlDays, expiresAt: before.expiresAt };
  const ttlDays = entry.ttlDays ?? undefined;
  return { ...after, title, ttlDays, expiresAt: expiryOf(ttlDays, stamp.at) };
}

/** What a write ended with that cannot be looked up: a failure says itself what may have landed, a refusal no longer stands. */
function toUnanswered(error: unknown, failure: BackendError): BackendError {
  if (error instanceof BackendError) return error;
  return new BackendError(
    "The database failed while it was asked for an earlier call with this request id. Repeat the call, or load to see whether it has landed.",
    { cause: failure, outcomeUnknown: true, busy: failure.busy },
  );
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.random() * MOST_PAUSE_MS));
}
