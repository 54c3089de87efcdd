/**
 * What a write costs on bare `Deno.openKv`: a checked step of the keys that a write of the store sets.
 *
 * @module
 */

const user = "alice";
const id = "bench_abcdefgh";
/** The largest part of a text under one key. */
const CHUNK = 60 * 1024;
/** So many go into one commit, which may hold 800 KiB. */
const CHUNKS = 13;

/** One document in a bare store. */
export interface RawKv extends Disposable {
  head(): Promise<unknown>;
  /** One checked step: the head, its place in the list, the user's counters and the entry. A long body goes before it, in chunks. */
  write(body: string): Promise<void>;
}

/** Opens a bare store. */
export async function openRawKv(path: string): Promise<RawKv> {
  const kv = await Deno.openKv(path);
  const journal = crypto.randomUUID();
  let version = 1;
  const step = async (bytes: number, body: string | undefined) => {
    const [document, counters] = await kv.getMany([["document", user, id], ["user", user]]);
    version++;
    const now = Date.now();
    const stamp = { version, writeId: "abcdefghijklmnop", at: now, turn: 0, writer: "unknown", seq: version };
    const head = {
      id,
      kind: "bench",
      version,
      writeId: stamp.writeId,
      createdAt: now,
      updatedAt: now,
      writer: stamp.writer,
      turn: 0,
      firstTurn: 0,
      bytes,
      oldest: 1,
      offset: 40_000,
      base: { version: 1, bytes, offset: 1_000 },
      seq: version,
      createdSeq: 1,
    };
    const { ok } = await kv.atomic().check(document, counters)
      .set(["document", user, id], { journal, head })
      .set(["list", user, version], { journal, head })
      .delete(["list", user, version - 1])
      .set(["user", user], { name: user, seq: version, live: 1, forgotten: 0 })
      .set(["journal", journal, "entry", version], { ...stamp, offset: 40_000, body })
      .commit();
    if (!ok) throw new Error("the raw step lost a race");
  };
  return {
    head: () => kv.get(["document", user, id]),
    async write(body) {
      if (body.length <= CHUNK) return await step(body.length, body);
      for (let from = 0; from < body.length; from += CHUNKS * CHUNK) {
        const atomic = kv.atomic();
        for (let at = from; at < Math.min(body.length, from + CHUNKS * CHUNK); at += CHUNK) {
          atomic.set(["chunk", version + 1, at], body.slice(at, at + CHUNK));
        }
        await atomic.commit();
      }
      await step(body.length, undefined);
    },
    [Symbol.dispose]: () => kv.close(),
  };
}
