/**
 * Redis Cluster: which server holds a key, and following keys that move. Each server has one {@link Connection}.
 *
 * @module
 */

import { Connection, type Server } from "./connection.ts";
import { replyCode, Unanswered } from "./errors.ts";
import { type Link, within } from "./link.ts";
import { list, number } from "./records.ts";

const SLOTS = 16_384;
/** How often one attempt follows keys that have moved. */
const MOST_HOPS = 5;

/** A cluster that is known by some of its servers. */
export class Cluster implements Link {
  readonly #seeds: readonly Server[];
  readonly #connectTimeoutMs: number;
  readonly #connections = new Map<string, Connection>();
  #owners: (string | undefined)[] = [];
  #isKnown = false;
  #learning: Promise<void> | undefined;
  #closed = false;

  constructor(seeds: readonly Server[], connectTimeoutMs: number) {
    this.#seeds = seeds;
    this.#connectTimeoutMs = connectTimeoutMs;
  }

  /** Every server that is known. */
  get servers(): readonly Server[] {
    const addresses = new Set([...this.#seeds.map(addressOf), ...this.#connections.keys()]);
    return [...addresses].map((address) => this.#serverAt(address));
  }

  async send(args: readonly string[], key: string | undefined, timeoutMs: number): Promise<unknown> {
    const until = performance.now() + timeoutMs;
    const left = () => until - performance.now();
    if (!this.#isKnown) await this.#learn(left());
    const slot = key === undefined ? this.#owners.findIndex((owner) => owner !== undefined) : slotOf(key);
    let address = this.#owners[slot];
    let isAsking = false;
    for (let hops = 0;; hops++) {
      if (address === undefined) throw new Unanswered("nobody holds the slot", false);
      const connection = this.#connectionTo(address);
      try {
        return await (isAsking ? connection.sendAsking(args, left()) : connection.send(args, key, left()));
      } catch (error) {
        if (error instanceof Unanswered) this.#isKnown = false; // another may take its place
        const target = redirection(error, address);
        if (target === undefined || hops === MOST_HOPS) throw error;
        address = target;
        isAsking = replyCode(error) === "ASK";
        if (!isAsking) this.#owners[slot] = target;
      }
    }
  }

  async nodes(timeoutMs: number): Promise<readonly Link[]> {
    await this.#learn(timeoutMs);
    return [...new Set(this.#owners)].flatMap((owner) => owner === undefined ? [] : this.#connectionTo(owner));
  }

  attemptMs(remainingMs: number): number {
    return remainingMs / 2;
  }

  renew(): void {
    this.#isKnown = false;
    for (const connection of this.#connections.values()) connection.renew();
  }

  close(): void {
    this.#closed = true;
    for (const connection of this.#connections.values()) connection.close();
  }

  /** Asks all servers at once who holds what; the first to answer is believed. */
  async #learn(timeoutMs: number): Promise<void> {
    if (this.#closed) throw new Unanswered("closed", false);
    this.#learning ??= this.#ask(timeoutMs).finally(() => this.#learning = undefined);
    await within(this.#learning, timeoutMs, () => new Unanswered("nobody tells the slots in time", false));
  }

  async #ask(timeoutMs: number): Promise<void> {
    const asked = this.servers.map(async (server) => {
      const connection = this.#connectionTo(addressOf(server));
      return toOwners(await connection.send(["CLUSTER", "SLOTS"], undefined, timeoutMs), server.host);
    });
    try {
      this.#owners = await Promise.any(asked);
      this.#isKnown = true;
    } catch (error) {
      const errors = error instanceof AggregateError ? error.errors : [error];
      const refusal = errors.find((each) => replyCode(each) !== undefined);
      throw refusal ?? new Unanswered("no server of the cluster answers", false, { cause: error });
    }
  }

  #connectionTo(address: string): Connection {
    let connection = this.#connections.get(address);
    if (connection === undefined) {
      connection = new Connection(this.#serverAt(address), this.#connectTimeoutMs);
      this.#connections.set(address, connection);
      if (this.#closed) connection.close();
    }
    return connection;
  }

  /** Whoever it is, the same credentials let in. */
  #serverAt(address: string): Server {
    const colon = address.lastIndexOf(":");
    return { ...this.#seeds[0], host: address.slice(0, colon), port: Number(address.slice(colon + 1)) };
  }
}

function addressOf({ host, port }: Server): string {
  return `${host}:${port}`;
}

/** The reply of CLUSTER SLOTS as an address for each slot. A server without a name is the one that was asked. */
function toOwners(reply: unknown, asked: string): string[] {
  const owners: string[] = [];
  for (const range of list(reply)) {
    const [from, to, primary] = list(range);
    const [host, port] = list(primary);
    for (let slot = number(from); slot <= number(to); slot++) {
      owners[slot] = `${host === "" || host === null ? asked : host}:${number(port)}`;
    }
  }
  return owners;
}

/** Where a server says that the keys are: `MOVED 3999 127.0.0.1:6381`. */
function redirection(error: unknown, asked: string): string | undefined {
  const code = replyCode(error);
  if (code !== "MOVED" && code !== "ASK") return undefined;
  const address = /(?:MOVED|ASK) \d+ (\S+)/.exec(String(error))?.[1];
  return address?.startsWith(":") ? asked.slice(0, asked.lastIndexOf(":")) + address : address;
}

/** The slot of a key: CRC-16/XMODEM of its hash tag. */
export function slotOf(key: string): number {
  const open = key.indexOf("{");
  const close = key.indexOf("}", open + 1);
  const tag = open !== -1 && close > open + 1 ? key.slice(open + 1, close) : key;
  let crc = 0;
  for (const byte of new TextEncoder().encode(tag)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) !== 0 ? (crc << 1) ^ 0x1021 : crc << 1;
  }
  return (crc & 0xffff) % SLOTS;
}
