/**
 * The way to a server, or to the servers of a cluster: one attempt at a time, each with its own end.
 *
 * @module
 */

import { Deadlines } from "./deadlines.ts";
import { replyCode, Unanswered } from "./errors.ts";

/**
 * A client of your own. Only this is read of it; see the module `redis.ts` for one line per client.
 *
 * It may send a command twice when a connection is lost: every write is recognised by the server.
 */
export interface RedisClient {
  /**
   * Sends a command and answers its reply: text as strings, lists as arrays, nothing as `null`.
   *
   * @param key one of the command's keys, for clusters that want to be told; absent if any server will do.
   */
  sendCommand(args: readonly string[], key?: string): Promise<unknown>;
}

/** A way to Redis. */
export interface Link {
  /**
   * One attempt. Rejects with the server's refusal, or with {@link Unanswered} if none came in time.
   *
   * @param key tells a cluster where to.
   */
  send(args: readonly string[], key: string | undefined, timeoutMs: number): Promise<unknown>;
  /** Every server that holds keys of its own. */
  nodes(timeoutMs: number): Promise<readonly Link[]>;
  /** How long the first attempt may take of all the time that there is. */
  attemptMs(remainingMs: number): number;
  /** Begins anew where a server has turned out to be the wrong one. */
  renew(): void;
  close(): void;
}

/** Settles as the promise does, or rejects with what `late` answers when the time is over. */
export function within<T>(promise: Promise<T>, timeoutMs: number, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), Math.max(0, timeoutMs));
    promise.then((value) => {
      clearTimeout(timer);
      resolve(value);
    }, (error) => {
      clearTimeout(timer);
      reject(error);
    });
  });
}

/** A client that was handed in, opened and closed by its owner. */
export class HandedIn implements Link {
  constructor(
    readonly client: RedisClient,
    readonly others: () => readonly RedisClient[] = () => [client],
    readonly deadlines: Deadlines = new Deadlines(),
  ) {}

  async send(args: readonly string[], key: string | undefined, timeoutMs: number): Promise<unknown> {
    const late = () => new Unanswered("no reply in time", true);
    try {
      return await this.deadlines.within(this.client.sendCommand(args, key), timeoutMs, late);
    } catch (error) {
      if (error instanceof Unanswered || replyCode(error) !== undefined) throw error;
      // What it has sent by then, only its own code knows.
      throw new Unanswered("the client failed", true, { cause: error });
    }
  }

  nodes(): Promise<readonly Link[]> {
    return Promise.resolve(this.others().map((client) => new HandedIn(client, undefined, this.deadlines)));
  }

  /** It keeps the command and goes on trying by itself. */
  attemptMs(remainingMs: number): number {
    return remainingMs;
  }

  renew(): void {}

  close(): void {
    this.deadlines.close();
  }
}
