import type { RunnableConfig } from "@langchain/core/runnables";
import { type BaseCheckpointSaver, emptyCheckpoint, MemorySaver } from "@langchain/langgraph";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { MARKS_KEPT } from "../../src/history/checkpoint_branch.ts";
import type { CheckpointSource } from "../../src/history/checkpoint_source.ts";
import { checkpoints } from "../../src/history/checkpoints.ts";
import { readTurn } from "../../src/history/port.ts";
import { makeInspectState } from "../../src/history/tool.ts";
import { startPostgres } from "../postgres_server.ts";
import { checkpointCases, forkCases, KEY, placesOf, say, simpleGraph, valueIn } from "./checkpoint_cases.ts";

const openMemory = () => Promise.resolve<BaseCheckpointSaver>(new MemorySaver());
checkpointCases("MemorySaver", openMemory);
forkCases("MemorySaver", openMemory);

const server = await startPostgres();
Deno.test.afterAll(async () => await server[Symbol.asyncDispose]());

async function openPostgres(saver: PostgresSaver = PostgresSaver.fromConnString(server.url)) {
  await saver.setup();
  return Object.assign(saver, { [Symbol.asyncDispose]: () => saver.end() });
}
checkpointCases("PostgresSaver", openPostgres);
forkCases("PostgresSaver", () => openPostgres(withOwnVersions(PostgresSaver.fromConnString(server.url))));

/**
 * PostgresSaver 1.0 numbers the values of two branches alike and keeps only the first (langgraphjs#1812): a graph that
 * was forked reads back what the abandoned branch wrote. With numbers that no two branches share it does not.
 */
function withOwnVersions(saver: PostgresSaver): PostgresSaver {
  saver.getNextVersion = (current) => Math.floor(current ?? 0) + 1 + Math.random();
  return saver;
}

Deno.test("checkpoints on PostgresSaver as it is: a fork reads what the graph itself reads", async () => {
  const saver = await openPostgres();
  try {
    const graph = simpleGraph(saver);
    const config = { configurable: { thread_id: crypto.randomUUID() } };
    await graph.invoke(say("Copenhagen"), config);
    const { config: end } = await graph.getState(config);
    await graph.invoke(say("Aarhus"), config);
    await graph.invoke(say("Odense"), { configurable: { ...config.configurable, ...end.configurable } });
    const { total, at } = await checkpoints(saver).snapshots(config.configurable.thread_id);
    const { values } = await graph.getState(config);
    assertEquals<unknown>([total, await at(1), await at(2)], [
      2,
      (await graph.getState(end)).values.tool_state,
      values.tool_state,
    ]);
  } finally {
    await saver.end();
  }
});

/** Deletes the first checkpoints of a thread, as a retention of the saver's own would. */
function prune(saver: MemorySaver, threadId: string, keep: number): void {
  const stored = saver.storage[threadId][""];
  for (const id of Object.keys(stored).sort().slice(0, -keep)) delete stored[id];
}

Deno.test("checkpoints: turns whose checkpoints were deleted are no longer retained, and the others keep their numbers", async () => {
  const saver = new MemorySaver();
  const graph = simpleGraph(saver);
  const thread = "compare-across-turns";
  const history = checkpoints(saver);
  for (const place of ["Copenhagen", "Aarhus", "Odense", "Aalborg"]) {
    await graph.invoke(say(place), { configurable: { thread_id: thread } });
  }
  await history.snapshots(thread);
  prune(saver, thread, 5); // three of each turn: of the third, its beginning is gone
  for (const each of [history, checkpoints(saver)]) {
    const { total, retained, at } = await each.snapshots(thread);
    assertEquals([total, retained], [4, [{ from: 3, to: 4 }]]);
    assertEquals(readTurn({ total, retained }, 1).outcome, "pruned");
    assertEquals([valueIn(await at(3)), valueIn(await at(4))], ["Odense", "Aalborg"]);
  }
  const { handler } = makeInspectState({ allowedKeys: [KEY], history });
  const { at } = await history.snapshots(thread);
  assertStringIncludes(
    await handler({ key: KEY, turn: 1 }, { state: await at(4), threadId: thread }),
    "Turn 1 is no longer retained. Turns that can be read: 3 to 4.",
  );
  prune(saver, thread, 1);
  assertEquals((await history.snapshots(thread)).retained, [{ from: 4, to: 4 }]);
  await saver.deleteThread(thread);
  assertEquals((await history.snapshots(thread)).total, 0);
  await graph.invoke(say("Esbjerg"), { configurable: { thread_id: thread } });
  assertEquals(await placesOf(saver, thread), ["Esbjerg"]);
});

Deno.test("checkpoints: a long thread is walked once, with what is remembered of it bounded", async () => {
  const saver = new MemorySaver();
  const turns = 2 * MARKS_KEPT;
  let config: RunnableConfig = { configurable: { thread_id: "long", checkpoint_ns: "" } };
  for (let turn = 1; turn <= turns; turn++) {
    // As a graph leaves a turn that is kept at its exit only.
    const tool_state = { [KEY]: { value: `place ${turn}`, tool: "get_aoi", seq: turn } };
    const versions = { __start__: 2 * turn, tool_state: 2 * turn };
    const checkpoint = { ...emptyCheckpoint(), channel_values: { tool_state }, channel_versions: versions };
    config = await saver.put(config, checkpoint, { source: "loop", step: 2 * turn, parents: {} });
  }
  let reads = 0;
  const source: CheckpointSource = { getTuple: (wanted) => (reads++, saver.getTuple(wanted)) };
  const history = checkpoints(source);
  assertEquals((await history.snapshots("long")).total, turns);
  assertEquals(reads, turns + 1);
  for (const turn of [3, turns >> 1, turns - 1]) {
    reads = 0;
    assertEquals(valueIn(await (await history.snapshots("long")).at(turn)), `place ${turn}`);
    // The head, the oldest, and from the nearest mark back: every fourth turn has one, at the least every eighth.
    assert(reads <= 2 + 8, `${reads} reads for turn ${turn}`);
  }
});

Deno.test("checkpoints: what a host asks its saver for", async () => {
  const saver = new MemorySaver();
  await simpleGraph(saver).invoke(say("Copenhagen"), { configurable: { thread_id: "alice/1" } });
  const asked: unknown[] = [];
  const source: CheckpointSource = { getTuple: (wanted) => (asked.push(wanted.configurable), saver.getTuple(wanted)) };
  const history = checkpoints(source, { configurable: (id) => ({ thread_id: `alice/${id}`, tenant: "alice" }) });
  assertEquals((await history.snapshots("1")).total, 1);
  assertEquals(asked[0], { thread_id: "alice/1", tenant: "alice", checkpoint_ns: "" });
});
