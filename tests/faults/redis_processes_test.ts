import { assert, assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { openRedisBackend } from "../../src/backends/redis.ts";
import { HandleStore } from "../../src/store/store.ts";
import { find } from "../contract/drafts.ts";
import { type RedisServer, startRedis } from "../redis_server.ts";

const WORKER = fileURLToPath(new URL("redis_worker.ts", import.meta.url));

function startWorker({ url, port }: RedisServer, handle: string, name: string, count: number): Deno.ChildProcess {
  const flags = ["run", "-q", "--no-lock", "--no-prompt", `--allow-net=127.0.0.1:${port}`];
  const args = [...flags, WORKER, url, handle, name, String(count)];
  return new Deno.Command(Deno.execPath(), { args, stdin: "null", stdout: "piped", stderr: "inherit" }).spawn();
}

/** What a worker has said in whole lines, until it ended. Kills it once it has said so many. */
async function listen(worker: Deno.ChildProcess, killAfter = Infinity): Promise<string[]> {
  let text = "";
  for await (const chunk of worker.stdout.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.split("\n").length > killAfter) kill(worker);
  }
  return text.split("\n").slice(0, -1);
}

function kill(worker: Deno.ChildProcess): void {
  try {
    worker.kill("SIGKILL");
  } catch {
    // it has ended already
  }
}

Deno.test("redis: eight processes append 20 items each, and each lands once; they need the port alone, and end", async () => {
  await using server = await startRedis();
  const backend = await openRedisBackend({ url: server.url, onWarning: () => {} });
  await using store = new HandleStore(backend);
  const handle = await store.mint("cart", { items: [] }, { user: "alice" });
  const names = Array.from({ length: 8 }, (_, i) => `phone${i}`);
  const workers = names.map((name) => startWorker(server, handle, name, 20));
  const said = await Promise.all(workers.map((worker) => listen(worker)));
  assertEquals((await Promise.all(workers.map(({ status }) => status))).map(({ code }) => code), workers.map(() => 0));
  const { state, version } = await store.get(handle, { user: "alice" });
  const wanted = names.flatMap((name) => Array.from({ length: 20 }, (_, i) => `${name}-${i}`));
  assertEquals(said.flat().sort(), wanted.sort());
  assertEquals([...state.items as string[]].sort(), wanted);
  assertEquals(version, 161);
});

Deno.test("redis: of a process that is killed while it writes, all that was acknowledged is there, ten times", async () => {
  await using server = await startRedis();
  const backend = await openRedisBackend({ url: server.url, onWarning: () => {} });
  await using store = new HandleStore(backend);
  const handle = await store.mint("cart", { items: [] }, { user: "alice" });
  const acknowledged: string[] = [];
  for (let round = 0; round < 10; round++) {
    const worker = startWorker(server, handle, `phone${round}`, 1_000_000);
    acknowledged.push(...await listen(worker, 3 + 7 * round));
    await worker.status;
    const { state, version } = await store.get(handle, { user: "alice" });
    const items = new Set(state.items as string[]);
    assertEquals(items.size, version - 1, "each once");
    assertEquals(acknowledged.filter((item) => !items.has(item)), []);
    const { head, target } = await find(backend, { user: "alice", id: handle });
    assert(target !== undefined && target !== "held");
    assertEquals([target.version, target.writeId], [head.version, head.writeId], "the head is the newest entry");
  }
  assert(acknowledged.length > 10);
});
