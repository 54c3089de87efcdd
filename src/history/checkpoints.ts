/**
 * The turns of threads that LangGraph.js keeps, read from any of its checkpointers.
 *
 * ```ts ignore
 * const history = checkpoints(new MemorySaver());
 * const { total, retained, at } = await history.snapshots("thread-1");
 * ```
 *
 * @module
 */

import { TurnPruned } from "../document/errors.ts";
import { jsonBytes } from "../document/json.ts";
import { type Branch, findEnd, followBranch, type TurnHints } from "./checkpoint_branch.ts";
import type { CheckpointConfig, CheckpointSource, CheckpointTuple } from "./checkpoint_source.ts";
import { lastTurnNamed, readSession, type SessionReducer } from "./checkpoint_state.ts";
import { isEvicted, mergeToolState, type SessionState } from "./entry.ts";
import { Lru } from "../document/lru.ts";
import { countHumanMessages } from "./messages.ts";
import type { Snapshots, ThreadHistory } from "./port.ts";

/** How the threads of a checkpointer are read. */
export interface CheckpointsOptions {
  /** The channel that holds the session state. Default `tool_state`. */
  readonly channel?: string;
  /** The channel that holds the messages. Default `messages`. */
  readonly messages?: string;
  /** The reducer of the session's channel. Default {@link mergeToolState}. */
  readonly reduce?: SessionReducer;
  /** What the checkpointer is asked for a thread. Default `{ thread_id }`. */
  readonly configurable?: (threadId: string) => Record<string, unknown>;
  /** How much of the states of ended turns is kept in memory, in bytes of JSON. Default 32 MiB. */
  readonly cacheBytes?: number;
}

/** The past of a thread, with the checkpoint that it ends at. */
export interface CheckpointSnapshots extends Snapshots {
  /** The newest checkpoint. Absent where there is none. */
  readonly head?: CheckpointTuple;
}

/** The turns of threads in a checkpointer. */
export interface CheckpointHistory extends ThreadHistory {
  /**
   * What is known of a thread's past.
   *
   * The first time each checkpoint of the live branch is read once, one at a time; after that only what is new, and two
   * more. Where the first checkpoints were deleted, turns keep their numbers as far as entries and messages tell them.
   */
  snapshots(threadId: string): Promise<CheckpointSnapshots>;
}

const CACHE_BYTES = 32 * 1024 * 1024;
/** Marks of turns, over all threads. */
const MARKS = 100_000;

/** The history of the threads of a LangGraph.js checkpointer. Nothing is written to it. */
export function checkpoints(source: CheckpointSource, options: CheckpointsOptions = {}): CheckpointHistory {
  return new Checkpoints(source, options);
}

class Checkpoints implements CheckpointHistory {
  readonly #source: CheckpointSource;
  readonly #channel: string;
  readonly #reduce: SessionReducer;
  readonly #configurable: (threadId: string) => Record<string, unknown>;
  readonly #hints: TurnHints;
  readonly #branches = new Lru<Branch>(MARKS);
  /** Ended turns never change. */
  readonly #ended: Lru<SessionState>;
  /** The last look at a thread: the next one waits for it, so that no checkpoint is read by both. */
  readonly #looks = new Map<string, Promise<unknown>>();

  constructor(source: CheckpointSource, options: CheckpointsOptions) {
    const { channel = "tool_state", messages = "messages", reduce = mergeToolState, cacheBytes = CACHE_BYTES } =
      options;
    this.#source = source;
    this.#channel = channel;
    this.#reduce = reduce;
    this.#configurable = options.configurable ?? ((threadId) => ({ thread_id: threadId }));
    this.#ended = new Lru(cacheBytes);
    this.#hints = {
      turnNamed: (tuple) => lastTurnNamed(tuple, channel),
      humanMessages: ({ checkpoint }) => countHumanMessages(checkpoint.channel_values?.[messages]),
    };
  }

  async snapshots(threadId: string): Promise<CheckpointSnapshots> {
    const before = this.#looks.get(threadId);
    const look = (before ?? Promise.resolve()).catch(() => {}).then(() => this.#look(threadId));
    this.#looks.set(threadId, look);
    try {
      return await look;
    } finally {
      if (this.#looks.get(threadId) === look) this.#looks.delete(threadId);
    }
  }

  async #look(threadId: string): Promise<CheckpointSnapshots> {
    const head = await this.#read(threadId);
    if (head === undefined) {
      this.#branches.delete(threadId);
      return { total: 0, retained: [], at: (turn) => Promise.reject(new RangeError(`There is no turn ${turn}.`)) };
    }
    const read = (id: string) => this.#read(threadId, id);
    const followed = await followBranch(head, this.#branches.get(threadId), read, this.#hints);
    const branch = await withoutPruned(followed, read);
    this.#branches.set(threadId, branch, 1 + branch.ends.length);
    const retained = branch.head.turn === 0 ? [] : [{ from: branch.oldest, to: branch.head.turn }];
    return { total: branch.head.turn, retained, head, at: (turn) => this.#at(threadId, branch, head, turn) };
  }

  async #at(
    threadId: string,
    branch: Branch,
    head: CheckpointTuple,
    turn: number,
  ): Promise<SessionState> {
    if (turn === branch.head.turn) return await this.#session(threadId, head);
    const mark = branch.ends.find((end) => end.turn >= turn) ?? branch.head;
    const name = JSON.stringify([threadId, mark.id, mark.turn - turn]);
    const cached = this.#ended.get(name);
    if (cached !== undefined) return cached;
    const tuple = await findEnd(mark, turn, (id) => this.#read(threadId, id));
    if (tuple === undefined) {
      throw new TurnPruned(turn, { from: Math.max(branch.oldest, turn + 1), to: branch.head.turn });
    }
    const session = await this.#session(threadId, tuple);
    this.#ended.set(name, session, bytesOf(session));
    return session;
  }

  async #session(threadId: string, tuple: CheckpointTuple): Promise<SessionState> {
    const config = this.#config(threadId, tuple.checkpoint.id);
    return await readSession(this.#source, config, tuple, this.#channel, this.#reduce);
  }

  async #read(threadId: string, id?: string): Promise<CheckpointTuple | undefined> {
    return await this.#source.getTuple(this.#config(threadId, id));
  }

  #config(threadId: string, id?: string): CheckpointConfig {
    const which = id === undefined ? {} : { checkpoint_id: id };
    // The namespace of the graph itself: those of its subgraphs are not empty.
    return { configurable: { ...this.#configurable(threadId), checkpoint_ns: "", ...which } };
  }
}

/** Finds out which of the ends of turns have been deleted meanwhile, by halving: the oldest go first. */
async function withoutPruned(
  branch: Branch,
  read: (id: string) => Promise<CheckpointTuple | undefined>,
): Promise<Branch> {
  const { ends, head } = branch;
  const isThere = async (at: number) => at >= ends.length || await read(ends[at].id) !== undefined;
  if (await isThere(0)) return branch;
  let [gone, there] = [0, ends.length];
  while (there - gone > 1) {
    const middle = (gone + there) >> 1;
    if (await isThere(middle)) there = middle;
    else gone = middle;
  }
  return { head, oldest: ends[there]?.turn ?? head.turn, ends: ends.slice(there) };
}

function bytesOf(session: SessionState): number {
  let bytes = 0;
  for (const [key, entry] of Object.entries(session)) {
    bytes += 200 + key.length + (isEvicted(entry) ? 0 : jsonBytes(entry.value ?? null));
  }
  return bytes;
}
