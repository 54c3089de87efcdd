import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import { tool } from "@langchain/core/tools";
import {
  type BaseCheckpointSaver,
  END,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { loadMcpTools } from "@langchain/mcp-adapters";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { createAgent } from "langchain";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import type { SessionState } from "../../src/history/entry.ts";
import {
  checkpoints,
  SessionStateAnnotation,
  SessionStateSchema,
  type SessionToolsOptions,
  withSessionState,
} from "../../src/history/langgraph.ts";
import { startPostgres } from "../postgres_server.ts";

const KEY = "gazet/get_aoi/bbox";
const BOXES: Readonly<Record<string, number[]>> = {
  Copenhagen: [12.4, 55.5, 12.7, 55.8],
  Aarhus: [9.9, 56.1, 10.3, 56.2],
};

/** A gazetteer behind MCP, and its tools as LangChain has them. */
async function gazetteer() {
  const server = new McpServer({ name: "gazet", version: "1.0.0" });
  const outputSchema = { bbox: z.array(z.number()), coast: z.string(), api_token: z.string() };
  server.registerTool(
    "get_aoi",
    { description: "Finds the bounding box of a place.", inputSchema: { place: z.string() }, outputSchema },
    ({ place }: { place: string }) => {
      if (BOXES[place] === undefined) return { isError: true, content: [{ type: "text", text: "no such place" }] };
      const structuredContent = { bbox: BOXES[place], coast: "~".repeat(3_000), api_token: "t0k3n".repeat(800) };
      return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
    },
  );
  const client = new Client({ name: "agent", version: "1.0.0" });
  const [one, other] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(one), client.connect(other)]);
  const tools = await loadMcpTools("gazet", client);
  return { tools: { gazet: tools }, [Symbol.asyncDispose]: () => client.close() };
}

/** What a scripted model does when a human says `get_aoi {"place": "Aarhus"}`: it calls the tool, then repeats the answer. */
function answer(messages: readonly BaseMessage[]): AIMessage {
  const last = messages[messages.length - 1];
  if (!HumanMessage.isInstance(last)) return new AIMessage(String(ToolMessage.isInstance(last) ? textOf(last) : ""));
  const [name, ...args] = String(last.content).split(" ");
  const call = { name, args: JSON.parse(args.join(" ")), id: crypto.randomUUID(), type: "tool_call" as const };
  return new AIMessage({ content: "", tool_calls: [call] });
}

function textOf({ content }: BaseMessage): string {
  return typeof content === "string" ? content : JSON.stringify(content);
}

class ScriptedModel extends BaseChatModel {
  _llmType() {
    return "scripted";
  }
  override bindTools() {
    return this;
  }
  _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const message = answer(messages);
    return Promise.resolve({ generations: [{ message, text: textOf(message) }] });
  }
}

type Asked = { readonly text: string; readonly state: SessionState };
type Ask = (text: string, config?: Record<string, unknown>) => Promise<Asked>;
type MakeAgent = (tools: ReturnType<typeof withSessionState>, checkpointer?: BaseCheckpointSaver) => Ask;

/** As with LangGraph alone. */
const stateGraph: MakeAgent = (tools, checkpointer) => {
  const graph = new StateGraph({ ...MessagesAnnotation.spec, ...SessionStateAnnotation.spec })
    .addNode("model", ({ messages }) => ({ messages: [answer(messages)] }))
    .addNode("tools", new ToolNode(tools))
    .addEdge(START, "model").addConditionalEdges("model", toolsCondition, ["tools", END]).addEdge("tools", "model")
    .compile(checkpointer === undefined ? {} : { checkpointer });
  return async (text, config) => {
    const { messages, tool_state } = await graph.invoke({ messages: [new HumanMessage(text)] }, config);
    return { text: textOf(messages[messages.length - 1]), state: tool_state };
  };
};

/** As with LangChain's agent. */
const langchainAgent: MakeAgent = (tools, checkpointer) => {
  const agent = createAgent({
    model: new ScriptedModel({}),
    tools,
    stateSchema: SessionStateSchema,
    ...(checkpointer === undefined ? {} : { checkpointer }),
  });
  return async (text, config) => {
    const { messages, tool_state } = await agent.invoke({ messages: [new HumanMessage(text)] }, config);
    return { text: textOf(messages[messages.length - 1]), state: tool_state };
  };
};

/** Copenhagen in turn 1, Aarhus in turn 2, both compared in turn 3. */
async function compareAcrossTurns(makeAgent: MakeAgent, checkpointer: BaseCheckpointSaver, durability: string) {
  await using mcp = await gazetteer();
  const agent = makeAgent(withSessionState(mcp.tools, { checkpointer, fields: [KEY] }), checkpointer);
  const thread_id = crypto.randomUUID();
  const ask = (text: string) => agent(text, { configurable: { thread_id }, durability });
  await ask('get_aoi {"place":"Copenhagen"}');
  const second = await ask('get_aoi {"place":"Aarhus"}');
  const { value, tool: writer, inputs, turn, turnsChanged, versions } = Object(second.state[KEY]);
  assertEquals<unknown>([value, writer, inputs, turn, turnsChanged, versions], [
    BOXES.Aarhus,
    "get_aoi",
    { place: "Aarhus" },
    2,
    [1, 2],
    2,
  ]);
  const note = "rewritten, 2 versions (turns 1, 2), last by get_aoi";
  const listed = await ask("inspect_state {}");
  assertStringIncludes(listed.text, `${KEY}: list[4] of 9.9 — ${note}; turn=1 reads the earlier`);
  const both = await ask(`inspect_state {"key":"${KEY}","turn":1,"compare_turn":2,"path":null}`);
  assertMatch(both.text, /^As turn 1 ended:\n\[12\.4[^]*As turn 2 ended:\n\[9\.9[^]*as a JSON Patch/);
  const soFar = await ask(`inspect_state {"key":"${KEY}","turn":5}`);
  assertStringIncludes(soFar.text, "As of turn 5 so far:\n[9.9");
  assertStringIncludes(
    (await ask('inspect_state {"turn":9}')).text,
    "There is no turn 9: the turns so far are 1 to 6.",
  );
  const { total, at } = await checkpoints(checkpointer).snapshots(thread_id);
  assertEquals([total, Object((await at(1))[KEY]).value], [6, BOXES.Copenhagen]);
}

for (const [name, makeAgent] of Object.entries({ StateGraph: stateGraph, createAgent: langchainAgent })) {
  for (const durability of ["sync", "async", "exit"]) {
    Deno.test(`withSessionState: ${name} compares two turns on MemorySaver, durability ${durability}`, async () => {
      await compareAcrossTurns(makeAgent, new MemorySaver(), durability);
    });
  }
}

Deno.test("withSessionState: agents compare two turns on PostgresSaver", async () => {
  await using server = await startPostgres();
  const saver = PostgresSaver.fromConnString(server.url);
  try {
    await saver.setup();
    for (const makeAgent of [stateGraph, langchainAgent]) {
      for (const durability of ["sync", "async", "exit"]) await compareAcrossTurns(makeAgent, saver, durability);
    }
  } finally {
    await saver.end();
  }
});

async function keysAfter(options: SessionToolsOptions): Promise<readonly string[]> {
  await using mcp = await gazetteer();
  const ask = stateGraph(withSessionState(mcp.tools, options));
  return Object.keys((await ask('get_aoi {"place":"Aarhus"}')).state);
}

Deno.test("withSessionState: large and declared fields are kept, secrets never", async () => {
  assertEquals(await keysAfter({}), ["gazet/get_aoi/coast"]);
  assertEquals(await keysAfter({ fields: [KEY] }), [KEY, "gazet/get_aoi/coast"]);
  assertEquals(await keysAfter({ fields: ["gazet/get_aoi/*"], largeChars: 1 }), [KEY, "gazet/get_aoi/coast"]);
  assertEquals(await keysAfter({ largeChars: Infinity }), []);
});

Deno.test("withSessionState: without a checkpointer turns are not kept here, and all else is as before", async () => {
  await using mcp = await gazetteer();
  const tools = withSessionState(mcp.tools, { fields: [KEY] });
  const ask = stateGraph(tools);
  const { state, text } = await ask('get_aoi {"place":"Aarhus"}');
  assertStringIncludes(text, "9.9");
  assertEquals(Object(state[KEY]).turn, undefined);
  assertStringIncludes((await ask('inspect_state {"turn":1}')).text, "Turns are not kept here");
  assertStringIncludes((await ask("inspect_state {}")).text, "There are no keys.");
  // With a checkpointer and no thread, as where a tool is tried out by itself.
  const inspect = withSessionState(mcp.tools, { checkpointer: new MemorySaver() }).at(-1);
  assertStringIncludes(String(await inspect?.invoke({ turn: 1 })), "Turns are not kept here");
});

Deno.test("withSessionState: what a tool answers, its errors included, reaches the model unchanged", async () => {
  await using mcp = await gazetteer();
  const ask = stateGraph(withSessionState(mcp.tools, { fields: [KEY] }));
  const failed = await ask('get_aoi {"place":"Atlantis"}');
  assertStringIncludes(failed.text, "no such place");
  assertEquals(failed.state, {});
  const plain = tool(() => "just text", { name: "web__say", description: "", schema: z.object({}) });
  const [say] = withSessionState([plain]);
  assertEquals([say.name, await Object(say).invoke({})], ["web__say", "just text"]);
  const call = { name: "web__say", args: {}, id: "1", type: "tool_call" as const };
  assertEquals(textOf(await Object(say).invoke(call)), "just text");
});

Deno.test("withSessionState: the server of a tool from its name, its text as a result", async () => {
  const text = tool(({ q }) => JSON.stringify({ hits: [q, "x".repeat(3_000)] }), {
    name: "mcp__web__search",
    description: "",
    schema: z.object({ q: z.string() }),
  });
  const { state } = await stateGraph(withSessionState([text]))('mcp__web__search {"q":"Aarhus"}');
  assertEquals(Object.keys(state), ["web/search/hits"]);
});

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

async function sources(folder = "src"): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(`${ROOT}${folder}`));
  const found = entries.map(({ name, isDirectory }) =>
    isDirectory ? sources(`${folder}/${name}`) : [`${folder}/${name}`]
  );
  return (await Promise.all(found)).flat();
}

async function deno(cwd: string, ...args: string[]): Promise<{ readonly success: boolean; readonly stdout: string }> {
  const { success, stdout } = await new Deno.Command(Deno.execPath(), {
    args,
    cwd,
    env: { NO_COLOR: "1" },
  }).output();
  return { success, stdout: new TextDecoder().decode(stdout) };
}

Deno.test("langgraph: no other export loads LangChain, and the rest type-checks without it", async () => {
  const config = JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`));
  for (const [name, file] of Object.entries<string>(config.exports)) {
    const { modules } = JSON.parse((await deno(ROOT, "info", "--json", "--no-lock", file)).stdout);
    const isLoading = JSON.stringify(modules).includes("@langchain/");
    assertEquals([name, isLoading], [name, name === "./langgraph"]);
  }
  const imports = Object.fromEntries(
    Object.entries<string>(config.imports).filter(([name]) => !name.includes("langchain")).map(([name, target]) => [
      name,
      target.startsWith("./") ? `${ROOT}${target.slice(2)}` : target,
    ]),
  );
  const directory = await Deno.makeTempDir({ prefix: "mcpstate-imports-" });
  try {
    // A copy: inside of the package its own imports would be found.
    await Deno.writeTextFile(
      `${directory}/deno.json`,
      JSON.stringify({ imports, compilerOptions: config.compilerOptions }),
    );
    for (const name of ["mod.ts", ...await sources()]) {
      await Deno.mkdir(dirname(`${directory}/${name}`), { recursive: true });
      await Deno.copyFile(`${ROOT}${name}`, `${directory}/${name}`);
    }
    const check = (...files: string[]) => deno(directory, "check", "-q", "--no-lock", ...files);
    const others = Object.entries<string>(config.exports).filter(([name]) => name !== "./langgraph");
    assert((await check(...others.map(([, file]) => file))).success);
    assert(!(await check(config.exports["./langgraph"])).success);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
