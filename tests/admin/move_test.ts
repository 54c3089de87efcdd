import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { checkStore } from "../../src/admin/doctor.ts";
import { exportStore } from "../../src/admin/export.ts";
import { openMaintenance } from "../../src/backends/open.ts";
import { HandleStore } from "../../src/store/store.ts";
import { startRedis, startRedisCluster } from "../redis_server.ts";
import { type Digest, digestOf } from "./digest.ts";
import { moveAll, moveAndKill } from "./moves.ts";
import { stock } from "./stock.ts";

const DOCUMENTS = 200;

async function digestAt(url: string): Promise<Digest> {
  await using source = await openMaintenance(url);
  assertEquals(await Array.fromAsync(checkStore(source)), [], url);
  return await digestOf(source);
}

/** From one place to another, killed on the way and taken up again. */
async function moveWithKill(from: string, to: string, wanted: Digest): Promise<void> {
  await moveAndKill(from, to, 40, DOCUMENTS - 40);
  {
    await using target = await openMaintenance(to);
    const { documents } = await digestOf(target); // every document that is there is whole
    assert(documents >= 40 && documents < wanted.documents, `${documents} of ${wanted.documents}`);
    assertEquals(await Array.fromAsync(checkStore(target)), [], to);
  }
  const { adopted, existing, isComplete } = await moveAll(from, to);
  assertEquals([adopted + existing >= wanted.documents, isComplete], [true, true]);
  assertEquals(await digestAt(to), wanted, to);
}

Deno.test("move: from SQLite over a file to Redis, to Deno KV and back, killed at each step, loses and alters nothing", async () => {
  await using server = await startRedis();
  await using cluster = await startRedisCluster();
  const directory = await Deno.makeTempDir();
  try {
    const at = (name: string) => join(directory, name);
    const first = `sqlite:///${at("first.db")}?synchronous=normal`;
    {
      await using store = await HandleStore.fromUrl(first);
      await using short = await HandleStore.fromUrl(first, { retention: { versions: 10 } });
      await stock(store, short, DOCUMENTS);
    }
    const wanted = await digestAt(first);
    assert(wanted.documents > 180 && wanted.tombstones > 5);
    {
      await using source = await openMaintenance(first);
      const lines = await Array.fromAsync(exportStore(source));
      await Deno.writeTextFile(at("export.jsonl"), lines.map((line) => `${line}\n`).join(""));
    }
    await moveWithKill(at("export.jsonl"), server.url, wanted);
    await moveWithKill(server.url, `kv:///${at("second.kv")}`, wanted);
    await moveWithKill(`kv:///${at("second.kv")}`, cluster.url, wanted);
    await moveWithKill(cluster.url, `sqlite:///${at("third.db")}?synchronous=normal`, wanted);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
