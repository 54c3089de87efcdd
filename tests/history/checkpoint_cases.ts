/**
 * What a history over a checkpointer must tell, whichever saver it is: one suite for all of them.
 *
 * @module
 */

import { AIMessage, HumanMessage, RemoveMessage } from "@langchain/core/messages";
import {
  Annotation,
  type BaseCheckpointSaver,
  Command,
  DeltaChannel,
  END,
  interrupt,
  MessagesAnnotation,
  REMOVE_ALL_MESSAGES,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { assertEquals, assertRejects } from "@std/assert";
import { checkpoints } from "../../src/history/checkpoints.ts";
import { isEvicted, mergeToolState, type SessionState, type SessionUpdate } from "../../src/history/entry.ts";
import { SessionStateAnnotation } from "../../src/history/langgraph.ts";

export const KEY = "gazet/get_aoi/place";

/** The state of the graphs here. */
export const State = Annotation.Root({ ...MessagesAnnotation.spec, ...SessionStateAnnotation.spec });
type StateOf = typeof State.State;

/** What a tool writes when it is asked for a place. */
export function placeOf(place: unknown): SessionUpdate {
  return { [KEY]: { value: String(place), tool: "get_aoi" } };
}

/** An agent that looks up the place that it was last asked for. */
export function lookUp({ messages }: StateOf): Partial<StateOf> {
  const asked = messages.findLast((message) => HumanMessage.isInstance(message))?.content;
  return { tool_state: mergeToolState({}, placeOf(asked)), messages: [new AIMessage(`looked up ${asked}`)] };
}

export function say(text: string, id?: string) {
  return { messages: [new HumanMessage({ content: text, ...(id === undefined ? {} : { id }) })] };
}

/** The place in a session. */
export function valueIn(session: SessionState, key: string = KEY): unknown {
  const entry = session[key];
  return entry === undefined || isEvicted(entry) ? undefined : entry.value;
}

/** The place at the end of every turn that can be read. */
export async function placesOf(saver: BaseCheckpointSaver, threadId: string): Promise<unknown[]> {
  const { retained, at } = await checkpoints(saver).snapshots(threadId);
  const places: unknown[] = [];
  for (const { from, to } of retained) for (let turn = from; turn <= to; turn++) places.push(valueIn(await at(turn)));
  return places;
}

export function simpleGraph(checkpointer: BaseCheckpointSaver) {
  return new StateGraph(State).addNode("look", lookUp).addEdge(START, "look").addEdge("look", END)
    .compile({ checkpointer });
}

/** An agent that asks back before it looks for `Aarhus`, and cannot find `nowhere` the first time. */
function carefulGraph(checkpointer: BaseCheckpointSaver) {
  let failures = 0;
  return new StateGraph(State)
    .addNode("look", (state) => {
      const asked = state.messages.findLast((message) => HumanMessage.isInstance(message))?.content;
      if (asked === "Aarhus") return { tool_state: mergeToolState({}, placeOf(interrupt("Which one?"))) };
      return lookUp(state);
    })
    .addNode("weather", ({ messages }) => {
      if (messages.at(-1)?.content === "nowhere" && failures++ === 0) throw new Error("no weather there");
      return { tool_state: mergeToolState({}, { "meteo/now/sky": { value: messages.length, tool: "now" } }) };
    })
    .addEdge(START, "look").addEdge(START, "weather").addEdge("look", END).addEdge("weather", END)
    .compile({ checkpointer });
}

type Open = () => Promise<BaseCheckpointSaver & Partial<AsyncDisposable>>;
type Test = (what: string, body: (saver: BaseCheckpointSaver, thread: string) => Promise<void>) => void;

function testOn(name: string, open: Open): Test {
  return (what, body) =>
    Deno.test(`checkpoints on ${name}: ${what}`, async () => {
      const saver = await open();
      try {
        await body(saver, crypto.randomUUID());
      } finally {
        await saver[Symbol.asyncDispose]?.();
      }
    });
}

/** What holds for a thread that was forked, on savers that keep the branches apart. */
export function forkCases(name: string, open: Open) {
  const test = testOn(name, open);

  test("a fork reads the live branch, where a list has the abandoned one too", async (saver, thread_id) => {
    const graph = simpleGraph(saver);
    const history = checkpoints(saver);
    const ends: string[] = [];
    for (const place of ["Copenhagen", "Aarhus", "Aalborg"]) {
      await graph.invoke(say(place), { configurable: { thread_id } });
      ends.push((await graph.getState({ configurable: { thread_id } })).config.configurable?.checkpoint_id);
      await history.snapshots(thread_id);
    }
    await graph.invoke(say("Odense"), { configurable: { thread_id, checkpoint_id: ends[0] } });
    for (const each of [history, checkpoints(saver)]) {
      const { total, at } = await each.snapshots(thread_id);
      assertEquals([total, valueIn(await at(1)), valueIn(await at(2))], [2, "Copenhagen", "Odense"]);
    }
    const listed: unknown[] = [];
    for await (const { checkpoint } of saver.list({ configurable: { thread_id, checkpoint_ns: "" } })) {
      listed.push(valueIn(checkpoint.channel_values.tool_state as SessionState ?? {}));
    }
    assertEquals(listed.includes("Aalborg"), true);
    await graph.invoke(say("Esbjerg"), { configurable: { thread_id } });
    assertEquals(await placesOf(saver, thread_id), ["Copenhagen", "Odense", "Esbjerg"]);
    // Replayed from the middle: the turn is the same one, and ends anew.
    await graph.invoke(null, { configurable: { thread_id, checkpoint_id: ends[0] } });
    for (const each of [history, checkpoints(saver)]) assertEquals((await each.snapshots(thread_id)).total, 1);
  });
}

/** Runs the suite on savers that `open` opens. */
export function checkpointCases(name: string, open: Open) {
  const test = testOn(name, open);

  test("two turns overwriting one key are read both ways", async (saver, thread_id) => {
    const graph = simpleGraph(saver);
    for (const place of ["Copenhagen", "Aarhus"]) await graph.invoke(say(place), { configurable: { thread_id } });
    const { total, retained, at } = await checkpoints(saver).snapshots(thread_id);
    assertEquals([total, retained], [2, [{ from: 1, to: 2 }]]);
    assertEquals(valueIn(await at(1)), "Copenhagen");
    assertEquals(valueIn(await at(2)), "Aarhus");
    assertEquals((await checkpoints(saver).snapshots("another thread")).total, 0);
  });

  test("a subgraph is not mixed in", async (saver, thread_id) => {
    const inner = new StateGraph(State).addNode("look", () => ({ tool_state: mergeToolState({}, placeOf("inside")) }))
      .addEdge(START, "look").addEdge("look", END).compile({ checkpointer: true });
    const graph = new StateGraph(State).addNode("look", lookUp)
      .addNode("sub", async (_, config) => {
        await inner.invoke(say("inside"), config);
        return {};
      })
      .addEdge(START, "look").addEdge("look", "sub").addEdge("sub", END).compile({ checkpointer: saver });
    for (const place of ["Copenhagen", "Aarhus"]) await graph.invoke(say(place), { configurable: { thread_id } });
    const namespaces = new Set<unknown>();
    for await (const { config } of saver.list({ configurable: { thread_id } })) {
      namespaces.add(config.configurable?.checkpoint_ns);
    }
    assertEquals(namespaces.size > 1, true);
    assertEquals(await placesOf(saver, thread_id), ["Copenhagen", "Aarhus"]);
  });

  test("interrupts, a failed step and a retry equal the history of the graph", async (saver, thread_id) => {
    const graph = carefulGraph(saver);
    const config = { configurable: { thread_id } };
    const ends: string[] = [];
    const end = async () => {
      ends.push((await graph.getState(config)).config.configurable?.checkpoint_id);
    };
    await graph.invoke(say("Copenhagen"), config);
    await end();
    await graph.invoke(say("Aarhus"), config); // interrupted, then resumed in the same turn
    await graph.invoke(new Command({ resume: "Aarhus C" }), config);
    await end();
    await graph.invoke(say("Aarhus"), config); // interrupted, and never resumed
    await end();
    await assertRejects(() => graph.invoke(say("nowhere"), config), Error, "no weather there");
    await end(); // a failed step: what its other task has written is not state
    const failed = await checkpoints(saver).snapshots(thread_id);
    assertEquals([failed.total, valueIn(await failed.at(4))], [4, "Aarhus C"]);
    await graph.invoke(null, config); // the retry stays in the turn
    ends.pop();
    await end();
    await graph.invoke(new Command({ update: { tool_state: placeOf("by hand") } }), config);
    ends.pop();
    await end();
    await graph.invoke(say("Odense"), config);
    await end();

    const values = new Map<string, unknown>();
    for await (const past of graph.getStateHistory(config)) {
      values.set(past.config.configurable?.checkpoint_id, past.values.tool_state);
    }
    const { total, at } = await checkpoints(saver).snapshots(thread_id);
    assertEquals(total, ends.length);
    const read = await Promise.all(ends.map((_, index) => at(index + 1)));
    assertEquals<unknown>(read, ends.map((id) => values.get(id)));
    assertEquals(read.map((session) => valueIn(session)), ["Copenhagen", "Aarhus C", "Aarhus C", "by hand", "Odense"]);
  });

  test(
    "turns are told from inputs, not from messages or from where a graph keeps checkpoints",
    async (saver, thread_id) => {
      const graph = simpleGraph(saver);
      const config = { configurable: { thread_id } };
      await graph.invoke(say("Copenhagen", "same"), config);
      await graph.invoke(say("Aarhus", "same"), config); // replaced in its place
      await graph.updateState(config, { messages: [new RemoveMessage({ id: REMOVE_ALL_MESSAGES })] }, "look");
      await graph.invoke(say("Odense"), { ...config, durability: "exit" });
      await graph.invoke(say("Aalborg"), { ...config, durability: "exit" });
      await graph.invoke({ messages: [new HumanMessage("first"), new HumanMessage("Esbjerg")] }, config);
      assertEquals(await placesOf(saver, thread_id), ["Copenhagen", "Aarhus", "Odense", "Aalborg", "Esbjerg"]);
    },
  );

  test("a missing channel is empty", async (saver, thread_id) => {
    const graph = new StateGraph(State).addNode("chat", () => ({ messages: [new AIMessage("hello")] }))
      .addEdge(START, "chat").addEdge("chat", END).compile({ checkpointer: saver });
    await graph.invoke(say("hello"), { configurable: { thread_id } });
    await graph.invoke(say("hello"), { configurable: { thread_id } });
    const { total, at } = await checkpoints(saver).snapshots(thread_id);
    assertEquals([total, await at(1), await at(2)], [2, {}, {}]);
    const elsewhere = await checkpoints(saver, { channel: "elsewhere" }).snapshots(thread_id);
    assertEquals(await elsewhere.at(1), {});
  });

  test("a delta channel is read through the saver's own method", async (saver, thread_id) => {
    const Delta = Annotation.Root({
      ...MessagesAnnotation.spec,
      tool_state: () =>
        new DeltaChannel<SessionState, SessionUpdate>(
          (session, writes) => writes.reduce<SessionState>((merged, write) => mergeToolState(merged, write), session),
          { initialValueFactory: () => ({}), snapshotFrequency: 3 },
        ),
    });
    const graph = new StateGraph(Delta).addNode("look", (state) => lookUp({ ...state, tool_state: {} }))
      .addEdge(START, "look").addEdge("look", END).compile({ checkpointer: saver });
    const places = ["Copenhagen", "Aarhus", "Odense", "Aalborg", "Esbjerg"];
    for (const place of places) await graph.invoke(say(place), { configurable: { thread_id } });
    assertEquals(await placesOf(saver, thread_id), places);
    const { at } = await checkpoints(saver).snapshots(thread_id);
    const { values } = await graph.getState({ configurable: { thread_id } });
    assertEquals<unknown>(await at(5), values.tool_state);
  });

  test("each checkpoint is read once, later looks read what is new, ended turns are kept", async (saver, thread_id) => {
    const graph = simpleGraph(saver);
    const config = { configurable: { thread_id } };
    for (let turn = 1; turn <= 12; turn++) await graph.invoke(say(`place ${turn}`), config);
    const read: unknown[] = [];
    const history = checkpoints({
      getTuple: async (wanted) => {
        const tuple = await saver.getTuple(wanted);
        read.push(tuple?.checkpoint.id);
        return tuple;
      },
    });
    const all = await Array.fromAsync(saver.list({ configurable: { thread_id, checkpoint_ns: "" } }));
    await Promise.all([history.snapshots(thread_id), history.snapshots(thread_id), history.snapshots(thread_id)]);
    assertEquals(new Set(read).size, all.length);
    // Beyond that each look reads the head and the oldest end of a turn, to know that they are there.
    assertEquals(read.length, all.length + 1 + 2 + 2);
    read.length = 0;
    const { at } = await history.snapshots(thread_id);
    assertEquals(valueIn(await at(3)), "place 3");
    assertEquals(valueIn(await at(3)), "place 3");
    assertEquals(read.length, 3);
    await graph.invoke(say("place 13"), config);
    read.length = 0;
    assertEquals((await history.snapshots(thread_id)).total, 13);
    assertEquals(read.length, 4); // the head, the input of the turn, the step between, the oldest
  });
}
