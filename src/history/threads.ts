/**
 * Threads over a {@link HandleStore}: the session state of an agent host's conversations, with every turn of it.
 *
 * @module
 */

import { checkInteger, checkKind, checkTtl, checkUser, checkWriter } from "../document/checks.ts";
import { HandleExpired } from "../document/errors.ts";
import type { Snapshot } from "../document/snapshot.ts";
import type { GetOptions } from "../store/options.ts";
import type { HandleStore } from "../store/store.ts";
import type { HandleView } from "../store/view.ts";
import { MAX_SESSION_BYTES, type SessionState, type SessionUpdate } from "./entry.ts";
import type { Snapshots, ThreadHistory } from "./port.ts";
import { checkForkPoint, checkThreadId, checkThreadPoint, checkUpdate } from "./thread_checks.ts";
import { type ForkPoint, type ForkSource, planFork, startOf } from "./thread_fork.ts";
import { threadPast } from "./thread_past.ts";
import { readThread, type ThreadPoint, type ThreadReading } from "./thread_reading.ts";
import { planSession, toSession } from "./thread_state.ts";

/** Options of {@link openThreads}. */
export interface ThreadsOptions {
  /** Whose threads these are. */
  readonly user: string;
  /** The kind of their documents. Default `"thread"`. */
  readonly kind?: string;
  /** How long a thread lives after its last write, in days. Default: for ever. */
  readonly ttlDays?: number;
  /** How many bytes of JSON a session may hold; beyond it the entries written longest ago are dropped, and remembered as evicted. Default 8 MiB; never more than the store's `maxStateBytes`, which is 1 MiB unless the store was opened with more. */
  readonly maxBytes?: number;
  /** Who is recorded as the writer of a version. Default: the store's. */
  readonly writer?: string;
}

/** Options of {@link Threads.publish}. */
export interface PublishOptions {
  /** The turn of the conversation, a positive integer. One older than the thread's is filed under the thread's; default: the thread's. */
  readonly turn?: number;
  /** Makes the call safe to send twice, as in `HandleStore`. */
  readonly requestId?: string;
}

/** A thread as it is. */
export interface ThreadState {
  /** The session. */
  readonly state: SessionState;
  /** The turn that the thread is in; 0 if none was ever named. */
  readonly turn: number;
  /** The version of its document. */
  readonly version: number;
}

/**
 * The threads of one user. A thread is opened by the host's own id, any text of up to 1,024 bytes, and there is no step to
 * create it: the first write does. Its document is a handle of the user's like any other, of that very name.
 */
export interface Threads extends ThreadHistory {
  /**
   * Merges what tools wrote into the session, as `mergeToolState` does: one version, however many keys. A late write of an
   * older turn lands in the turn that the thread is in: how a turn ended never changes.
   *
   * An update that writes nothing begins the turn.
   *
   * @throws {InvalidInput} for an update, a turn or an id that makes no sense; `StateTooLarge` for an entry that is larger
   * than a whole session may be; `QuotaExceeded` where the user holds too many documents.
   */
  publish(threadId: string, update: SessionUpdate, options?: PublishOptions): Promise<ThreadState>;
  /** Begins a turn, without a write. One that is not ahead changes nothing. */
  advance(threadId: string, turn: number): Promise<ThreadState>;
  /** The session as it is now, empty where there is no such thread. */
  state(threadId: string): Promise<ThreadState>;
  /**
   * The session now, or as of a turn or a version: or that this never was, or that it is no longer retained. Turns before
   * the first write are empty sessions.
   *
   * @throws {HandleNotFound | HandleExpired} where there is no such thread.
   */
  read(threadId: string, point?: ThreadPoint): Promise<ThreadReading>;
  /**
   * Makes a thread that begins with what another held as a turn ended, or at a version. It reads its own branch: earlier
   * turns are read where they were written and are not copied, so they live as long as that thread and its retention.
   * Doing the same twice is fine.
   *
   * @throws {InvalidInput} if there is a thread of that name already; `TurnNotFound`, `TurnPruned`, `VersionNotFound` and
   * `VersionPruned` as `HandleStore.get`.
   */
  fork(threadId: string, forkId: string, point: ForkPoint): Promise<ThreadState>;
}

/** The threads of a user, kept in a store, which stays the caller's to close. */
export function openThreads(store: HandleStore, options: ThreadsOptions): Threads {
  return new StoreThreads(store, options);
}

class StoreThreads implements Threads, ForkSource {
  readonly #store: HandleStore;
  readonly #user: string;
  readonly #kind: string;
  readonly #ttlDays: number | undefined;
  readonly #maxBytes: number;
  readonly #writer: string | undefined;

  constructor(
    store: HandleStore,
    { user, kind = "thread", ttlDays, maxBytes = MAX_SESSION_BYTES, writer }: ThreadsOptions,
  ) {
    this.#store = store;
    this.#user = checkUser(user);
    this.#kind = checkKind(kind);
    this.#ttlDays = ttlDays === undefined ? undefined : checkTtl(ttlDays);
    this.#maxBytes = Math.min(maxBytes, store.maxStateBytes);
    this.#writer = writer === undefined ? undefined : checkWriter(writer);
  }

  async publish(
    threadId: string,
    update: SessionUpdate,
    { turn, requestId }: PublishOptions = {},
  ): Promise<ThreadState> {
    const id = checkThreadId("thread", threadId);
    const checked = checkUpdate(update);
    if (turn !== undefined && Object.keys(checked).length === 0) return await this.advance(id, turn);
    const snapshot = await this.#store.update(
      id,
      (state, place) => planSession(state, checked, place.turn, this.#maxBytes),
      { ...this.#making(turn), requestId, args: requestId === undefined ? null : JSON.parse(JSON.stringify(checked)) },
    );
    return toThreadState(snapshot);
  }

  async advance(threadId: string, turn: number): Promise<ThreadState> {
    const id = checkThreadId("thread", threadId);
    checkInteger("turn", turn, 1);
    const found = await this.#store.update(id, () => ({}), this.#making(turn));
    // It was there already, in an earlier turn.
    return toThreadState(found.currentTurn < turn ? await this.#store.touch(id, { user: this.#user, turn }) : found);
  }

  async state(threadId: string): Promise<ThreadState> {
    const id = checkThreadId("thread", threadId);
    const found = await unlessExpired(() => this.#store.find(id, { user: this.#user }));
    return found === undefined ? { state: {}, turn: 0, version: 0 } : toThreadState(found);
  }

  async snapshots(threadId: string): Promise<Snapshots> {
    return await threadPast(this, checkThreadId("thread", threadId));
  }

  async read(threadId: string, point: ThreadPoint = {}): Promise<ThreadReading> {
    return await readThread(this, checkThreadId("thread", threadId), checkThreadPoint(point));
  }

  async fork(threadId: string, forkId: string, point: ForkPoint): Promise<ThreadState> {
    const [from, to] = [checkThreadId("thread", threadId), checkThreadId("fork", forkId)];
    const { state, turn } = await startOf(this, from, checkForkPoint(point));
    const options = this.#making(turn === 0 ? undefined : turn);
    return toThreadState(
      await this.#store.update(to, (before, { version }) => planFork(before, version, state, to), options),
    );
  }

  /** A thread's document; `undefined` if there is none (any more). */
  async view(threadId: string): Promise<HandleView | undefined> {
    return await unlessExpired(() => this.#store.findView(threadId, { user: this.#user }));
  }

  /** The session as a turn ended, of a thread that has not been pruned that far. */
  async at(threadId: string, turn: number): Promise<SessionState> {
    return toSession((await this.#store.get(threadId, { user: this.#user, turn })).state);
  }

  async viewAt(threadId: string, point: Omit<GetOptions, "user">): Promise<HandleView> {
    return await this.#store.view(threadId, { user: this.#user, ...point });
  }

  #making(turn: number | undefined) {
    return { user: this.#user, create: this.#kind, ttlDays: this.#ttlDays, writer: this.#writer, turn };
  }
}

async function unlessExpired<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof HandleExpired) return undefined;
    throw error;
  }
}

function toThreadState({ state, currentTurn, version }: Snapshot): ThreadState {
  return { state: toSession(state), turn: currentTurn, version };
}
