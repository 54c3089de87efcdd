/**
 * One connection to one server, by `@redis/client`. It is made when it is needed, and made anew after it was lost or has
 * fallen silent.
 *
 * @module
 */

import { Deadlines } from "./deadlines.ts";
import { replyCode, Unanswered } from "./errors.ts";
import { type Link, within } from "./link.ts";

/** Where a server is, and how to get in. */
export interface Server {
  readonly host: string;
  readonly port: number;
  readonly username?: string;
  readonly password?: string;
  readonly database?: number;
  /** Absent: no TLS. `ca`: the certificates to trust, as PEM; empty for those that Deno trusts. */
  readonly tls?: { readonly ca?: string };
}

/** The part of `@redis/client` that is used. */
export interface NodeRedis {
  connect(): Promise<unknown>;
  destroy(): void;
  sendCommand(args: readonly string[]): Promise<unknown>;
  subscribe(channel: string, listener: () => void): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  on(event: "error" | "end" | "terminated", listener: () => void): unknown;
}

/**
 * Made once: for each new set of options `createClient` builds a class of some hundred commands anew, which holds the
 * process up for 50 ms and more.
 */
let factory: Promise<(options: object) => NodeRedis> | undefined;

async function load(): Promise<(options: object) => NodeRedis> {
  try {
    const { RedisClient } = await import("@redis/client");
    return RedisClient.factory({ RESP: 2 });
  } catch (error) {
    factory = undefined; // it may be there the next time
    throw new Unanswered("@redis/client could not be loaded", false, { cause: error });
  }
}

/** Loads the client, which takes its time on a busy machine: before a deadline runs. */
export async function prepare(): Promise<void> {
  await (factory ??= load());
}

/** Connects, or rejects with {@link Unanswered} or the server's refusal. */
export async function connect(server: Server, timeoutMs: number): Promise<NodeRedis> {
  factory ??= load();
  const { host, port, username, password, database, tls } = server;
  const client = (await factory)({
    socket: {
      host,
      port,
      connectTimeout: timeoutMs,
      reconnectStrategy: false,
      ...(tls === undefined ? {} : { tls: true, ...(tls.ca === undefined ? {} : { ca: tls.ca }) }),
    },
    username,
    password,
    database,
    RESP: 2,
    // Commands are never queued for a later connection: who sends them decides about that.
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: "disabled",
    commandOptions: { timeout: undefined },
  });
  client.on("error", () => {}); // told by the rejections
  try {
    await within(client.connect(), timeoutMs, () => new Unanswered("no connection in time", false));
    return client;
  } catch (error) {
    client.destroy();
    if (error instanceof Unanswered || replyCode(error) !== undefined) throw error;
    throw new Unanswered("no connection", false, { cause: error });
  }
}

/** A connection that begins anew when it has to. */
export class Connection implements Link {
  readonly #server: Server;
  readonly #connectTimeoutMs: number;
  readonly #deadlines = new Deadlines();
  #client: NodeRedis | undefined;
  #connecting: Promise<NodeRedis> | undefined;
  #closed = false;

  constructor(server: Server, connectTimeoutMs: number) {
    this.#server = server;
    this.#connectTimeoutMs = connectTimeoutMs;
  }

  send(args: readonly string[], _key: string | undefined, timeoutMs: number): Promise<unknown> {
    const client = this.#client;
    return client === undefined ? this.#sendSoon(args, timeoutMs) : this.#sendNow(client, args, timeoutMs);
  }

  /** Sends a command to a server that takes the keys over from another. */
  sendAsking(args: readonly string[], timeoutMs: number): Promise<unknown> {
    return this.#sendSoon(args, timeoutMs, ["ASKING"]);
  }

  nodes(): Promise<readonly Link[]> {
    return Promise.resolve([this]);
  }

  /** Half of the time is for learning, over another connection, what became of a command whose reply was lost. */
  attemptMs(remainingMs: number): number {
    return remainingMs / 2;
  }

  renew(): void {
    this.#drop(this.#client);
  }

  close(): void {
    this.#closed = true;
    this.#drop(this.#client);
    this.#deadlines.close();
  }

  /** Connects first where it has to. */
  async #sendSoon(args: readonly string[], timeoutMs: number, before?: readonly string[]): Promise<unknown> {
    const begun = performance.now();
    const client = this.#client ?? await this.#connected(timeoutMs);
    return await this.#sendNow(client, args, timeoutMs - (performance.now() - begun), before);
  }

  /** Sends a command, right behind another where there is one, and answers its reply. */
  #sendNow(
    client: NodeRedis,
    args: readonly string[],
    timeoutMs: number,
    before?: readonly string[],
  ): Promise<unknown> {
    const late = () => {
      this.#drop(client); // a connection that says nothing is no use to those behind either
      return new Unanswered("no reply in time", true);
    };
    const failed = (error: unknown) => {
      if (replyCode(error) !== undefined) return error;
      this.#drop(client);
      return new Unanswered("the connection was lost", true, { cause: error });
    };
    const led = before === undefined ? undefined : client.sendCommand(before);
    const reply = client.sendCommand(args);
    const both = led === undefined ? reply : Promise.all([led, reply]).then(([, last]) => last);
    return this.#deadlines.within(both, timeoutMs, late, failed);
  }

  async #connected(timeoutMs: number): Promise<NodeRedis> {
    if (this.#closed) throw new Unanswered("closed", false);
    this.#connecting ??= this.#connect();
    return await within(this.#connecting, timeoutMs, () => new Unanswered("no connection in time", false));
  }

  async #connect(): Promise<NodeRedis> {
    try {
      const client = await connect(this.#server, this.#connectTimeoutMs);
      if (this.#closed) {
        client.destroy();
        throw new Unanswered("closed", false);
      }
      client.on("terminated", () => this.#drop(client));
      this.#client = client;
      return client;
    } finally {
      this.#connecting = undefined;
    }
  }

  #drop(client: NodeRedis | undefined): void {
    if (client === undefined) return;
    if (this.#client === client) this.#client = undefined;
    client.destroy();
  }
}
