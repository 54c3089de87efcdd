/**
 * What a write costs on the bare Redis client: one script that sets the head's fields and adds an entry.
 *
 * @module
 */

import { createClient } from "@redis/client";

const WRITE = `
redis.call('HSET', KEYS[1], 'version', ARGV[1], 'writeId', ARGV[2], 'at', ARGV[3], 'writer', ARGV[4])
redis.call('XADD', KEYS[2], '*', 'writeId', ARGV[2], 'body', ARGV[5])
return ARGV[1]`;

/** Documents on a bare client. */
export interface RawRedis extends Disposable {
  /** Reads a head, which is one round trip. */
  head(document?: string): Promise<unknown>;
  /** One script call with a body of the same bytes as the store's entry. */
  write(body: string, document?: string): Promise<unknown>;
}

/** Connects a client of its own. */
export async function openRawRedis(url: string): Promise<RawRedis> {
  const client = createClient({ url, RESP: 2, maintNotifications: "disabled" });
  await client.connect();
  const sha = String(await client.sendCommand(["SCRIPT", "LOAD", WRITE]));
  const headOf = (document: string) => `raw:{alice}:head:${document}`;
  return {
    head: (document = "bench") => client.sendCommand(["HGETALL", headOf(document)]),
    write(body, document = "bench") {
      const keys = [headOf(document), `raw:{alice}:journal:${document}`];
      return client.sendCommand(
        ["EVALSHA", sha, "2", ...keys, "7", "abcdefghijklmnop", String(Date.now()), "unknown", body],
      );
    },
    [Symbol.dispose]: () => client.destroy(),
  };
}
