/**
 * A store of 10,000 documents with their past: from SQLite over a file to Redis, to Deno KV and back, each move killed half-way
 * and taken up again; beside a plain copy of the same bytes.
 *
 * @module
 */

import { exportStore } from "../src/admin/export.ts";
import { openMaintenance } from "../src/backends/open.ts";
import { HandleStore } from "../src/store/store.ts";
import { type Digest, digestOf } from "../tests/admin/digest.ts";
import { moveAll, moveAndKill } from "../tests/admin/moves.ts";
import { stock } from "../tests/admin/stock.ts";
import { startRedis } from "../tests/redis_server.ts";

const [count = "10000"] = Deno.args;
const documents = Number(count);

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const begun = performance.now();
  const answer = await work();
  console.log(`${what.padEnd(52)} ${((performance.now() - begun) / 1_000).toFixed(2).padStart(8)} s`);
  return answer;
}

async function digestAt(url: string): Promise<Digest> {
  await using source = await openMaintenance(url);
  return await digestOf(source);
}

async function step(what: string, from: string, to: string, wanted: Digest): Promise<void> {
  await timed(`${what}: killed half-way`, () => moveAndKill(from, to, documents / 2, documents - 10));
  const there = await digestAt(to);
  const { adopted, existing } = await timed(`${what}: the rest of it`, () => moveAll(from, to));
  const found = await digestAt(to);
  const isSame = JSON.stringify(found) === JSON.stringify(wanted);
  console.log(
    `  ${there.documents} whole documents after the kill, then ${adopted} new and ${existing} there already; same digest: ${isSame}`,
  );
  if (!isSame) throw new Error(`${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`);
}

if (import.meta.main) {
  const directory = await Deno.makeTempDir();
  try {
    await using server = await startRedis("--appendonly", "yes");
    const [first, kv, last] = [
      `sqlite:///${directory}/first.db`,
      `kv:///${directory}/second.kv`,
      `sqlite:///${directory}/third.db`,
    ];
    await timed("fill SQLite", async () => {
      await using store = await HandleStore.fromUrl(`${first}?synchronous=normal`, { maxHandlesPerUser: documents });
      await using short = await HandleStore.fromUrl(`${first}?synchronous=normal`, { retention: { versions: 10 } });
      await stock(store, short, documents);
    });
    const wanted = await timed("digest", () => digestAt(first));
    console.log(`  ${JSON.stringify(wanted)}`);
    await timed("copy the bytes of the database", () => Deno.copyFile(`${directory}/first.db`, `${directory}/copy.db`));
    console.log(`  ${(await Deno.stat(`${directory}/copy.db`)).size} bytes`);
    const path = `${directory}/export.jsonl`;
    await timed("export to a file", async () => {
      await using source = await openMaintenance(first);
      using file = await Deno.open(path, { write: true, create: true });
      await ReadableStream.from(exportStore(source)).pipeThrough(batched()).pipeTo(file.writable);
    });
    console.log(`  ${(await Deno.stat(path)).size} bytes`);
    await step("the file to Redis", path, server.url, wanted);
    await step("Redis to Deno KV", server.url, kv, wanted);
    await step("Deno KV to SQLite", kv, last, wanted);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** Lines as bytes, many at once. */
function batched(): TransformStream<string, Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  let pending = "";
  return new TransformStream({
    transform(line, controller) {
      pending += `${line}\n`;
      if (pending.length < 65_536) return;
      controller.enqueue(encoder.encode(pending));
      pending = "";
    },
    flush: (controller) => controller.enqueue(encoder.encode(pending)),
  });
}
