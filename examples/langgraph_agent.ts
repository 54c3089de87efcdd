/**
 * An agent on LangGraph.js that compares two turns of its own conversation.
 *
 * The model is scripted, so nothing is asked of a network; graph, tools and checkpointer are real.
 *
 * ```sh
 * deno run --allow-env --allow-sys=homedir examples/langgraph_agent.ts
 * ```
 *
 * @module
 */

import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { END, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { SessionStateAnnotation, withSessionState } from "@mcpstate/server/langgraph";

const BOXES: Readonly<Record<string, readonly number[]>> = {
  Copenhagen: [12.4, 55.5, 12.7, 55.8],
  Aarhus: [9.9, 56.1, 10.3, 56.2],
};
const KEY = "gazet/get_aoi/bbox";

/** The tool of a gazetteer, as it would come from an MCP server. */
const getAoi = tool(({ place }) => JSON.stringify({ bbox: BOXES[place] }), {
  name: "get_aoi",
  description: "Finds the bounding box of a place.",
  schema: { type: "object", properties: { place: { type: "string" } }, required: ["place"] },
});

/** What the model does when it is asked something: the tool that it calls. */
function decide(asked: string): { name: string; args: Record<string, unknown> } {
  if (asked.startsWith("Find ")) return { name: "get_aoi", args: { place: asked.slice(5) } };
  return { name: "inspect_state", args: { key: KEY, turn: 1, compare_turn: 2 } };
}

/** The scripted model: calls a tool, then says what it came to. */
function model({ messages }: { readonly messages: readonly BaseMessage[] }): { messages: BaseMessage[] } {
  const last = messages[messages.length - 1];
  if (HumanMessage.isInstance(last)) {
    const call = { ...decide(String(last.content)), id: crypto.randomUUID(), type: "tool_call" as const };
    return { messages: [new AIMessage({ content: "", tool_calls: [call] })] };
  }
  return { messages: [new AIMessage(ToolMessage.isInstance(last) ? String(last.content) : "Nothing to say.")] };
}

const checkpointer = new MemorySaver();
const tools = withSessionState({ gazet: [getAoi] }, { checkpointer, fields: [KEY] });
const State = { ...MessagesAnnotation.spec, ...SessionStateAnnotation.spec };
const agent = new StateGraph(State)
  .addNode("model", model)
  .addNode("tools", new ToolNode(tools))
  .addEdge(START, "model")
  .addConditionalEdges("model", toolsCondition, ["tools", END])
  .addEdge("tools", "model")
  .compile({ checkpointer });

const thread = "compare-across-turns";

async function ask(text: string): Promise<void> {
  console.log(`> ${text}`);
  const { messages } = await agent.invoke({ messages: [new HumanMessage(text)] }, {
    configurable: { thread_id: thread },
  });
  console.log(`${messages[messages.length - 1].content}\n`);
}

await ask("Find Copenhagen");
await ask("Find Aarhus");
await ask("How do they compare?");

// A host that keeps only what is recent: what the first turn left behind goes.
const kept = checkpointer.storage[thread][""];
for (const id of Object.keys(kept).toSorted().slice(0, -9)) delete kept[id];
await ask("And once more?");
