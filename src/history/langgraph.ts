/**
 * Session state for agents on LangGraph.js: what their tools find is kept by key, and the model reads it with one tool,
 * as it is and as it was when an earlier turn ended.
 *
 * ```ts
 * import { SessionStateSchema, withSessionState } from "jsr:@mcpstate/server/langgraph";
 * import { MemorySaver } from "@langchain/langgraph";
 * import { MultiServerMCPClient } from "@langchain/mcp-adapters";
 * import { createAgent } from "langchain";
 *
 * const client = new MultiServerMCPClient({ gazet: { url: "http://127.0.0.1:3000/mcp" } });
 * const checkpointer = new MemorySaver(); // or any other
 * const tools = withSessionState(await client.initializeConnections(), {
 *   checkpointer,
 *   fields: ["gazet/get_aoi/bbox"],
 * });
 * const agent = createAgent({ model: "anthropic:claude", tools, checkpointer, stateSchema: SessionStateSchema });
 * ```
 *
 * This is the only module of the package that loads LangChain.
 *
 * @module
 */

import { ToolMessage } from "@langchain/core/messages";
import { DynamicStructuredTool, type StructuredToolInterface } from "@langchain/core/tools";
import {
  Annotation,
  type AnnotationRoot,
  type BaseChannel,
  Command,
  getCurrentTaskInput,
  type OverwriteValue,
  ReducedValue,
  StateSchema,
} from "@langchain/langgraph";
import { isObject } from "../document/json.ts";
import { type CaptureOptions, captureResult, looksSecret, structuredResult } from "./capture.ts";
import type { CheckpointSource } from "./checkpoint_source.ts";
import { toSession } from "./checkpoint_state.ts";
import { type CheckpointHistory, checkpoints } from "./checkpoints.ts";
import { mergeToolState, type SessionState, type SessionUpdate } from "./entry.ts";
import { type Run, turnOfRun, withRun } from "./running.ts";
import { makeInspectState } from "./tool.ts";

export type { JsonArray, JsonObject, JsonValue } from "../document/json.ts";
export type { CaptureOptions } from "./capture.ts";
export type {
  CheckpointConfig,
  CheckpointSource,
  CheckpointTuple,
  DeltaHistory,
  PendingWrite,
} from "./checkpoint_source.ts";
export type { SessionReducer } from "./checkpoint_state.ts";
export {
  type CheckpointHistory,
  checkpoints,
  type CheckpointSnapshots,
  type CheckpointsOptions,
} from "./checkpoints.ts";
export {
  type EvictedEntry,
  type LostValue,
  mergeToolState,
  type SessionState,
  type SessionUpdate,
  type StateEntry,
  type StateWrite,
} from "./entry.ts";
export type { Snapshots, ThreadHistory, TurnRange } from "./port.ts";

/** How tools are given a session. */
export interface SessionToolsOptions extends CaptureOptions {
  /** The checkpointer of the graph, or a history of it. Without it, turns are not kept. */
  readonly checkpointer?: CheckpointSource | CheckpointHistory;
  /** The channel that holds the session state. Default `tool_state`, as in {@link SessionState}. */
  readonly channel?: string;
  /** The channel that holds the messages. Default `messages`. */
  readonly messages?: string;
  /** The server of tools that come as a list and have none in their name (`server__tool`). Default `tools`. */
  readonly server?: string;
}

/** Tools of one server, or of several by name, as `MultiServerMCPClient.initializeConnections` answers them. */
export type ServerTools<T extends StructuredToolInterface = StructuredToolInterface> =
  | readonly T[]
  | Readonly<Record<string, readonly T[]>>;

/**
 * The tools of an agent, keeping what they find: fields of their structured results go to the channel under
 * `server/tool/field` if they are declared or large, and never if their names look like those of secrets. One tool more,
 * `inspect_state`, reads it.
 *
 * The graph's state needs the channel: {@link SessionStateAnnotation} or {@link SessionStateSchema}. What a tool answers
 * reaches the model unchanged.
 */
export function withSessionState<T extends StructuredToolInterface>(
  tools: ServerTools<T>,
  options: SessionToolsOptions = {},
): (T | DynamicStructuredTool)[] {
  const { channel = "tool_state", messages = "messages", server: listServer = "tools", checkpointer } = options;
  const history = historyOf(checkpointer, channel, messages);
  const channels = { channel, messages };
  const capturing = [...withServers(tools)].map(([server, tool]) => {
    const name = nameOf(tool.name, server, listServer);
    return withInvoke(tool, async (input, config) => {
      if (!isToolCall(input)) return await tool.invoke(input, config);
      const run = runOf(config, channels);
      // Before the call: a history that fails then does not hide what the call has done.
      const turn = await currentTurn(history, run, messages);
      const output: unknown = await tool.invoke(input, config);
      if (!ToolMessage.isInstance(output) || output.status === "error") return output;
      const result = structuredResult(output.content, output.artifact);
      if (result === undefined) return output;
      const writes = captureResult({ ...name, inputs: input.args, result }, options);
      if (Object.keys(writes).length === 0) return output;
      const update = Object.entries(writes).map((
        [key, write],
      ) => [key, turn === undefined ? write : { ...write, turn }]);
      return new Command({ update: { [channel]: Object.fromEntries(update), [messages]: [output] } });
    });
  });
  return [...capturing, inspectTool(history, channels)];
}

/** The state channel `tool_state` for `Annotation.Root({...MessagesAnnotation.spec, ...SessionStateAnnotation.spec})`. */
export const SessionStateAnnotation: AnnotationRoot<
  { tool_state: BaseChannel<SessionState, SessionUpdate | OverwriteValue<SessionState>> }
> = Annotation.Root({
  tool_state: Annotation<SessionState, SessionUpdate>({ reducer: reduceSession, default: () => ({}) }),
});

/** The same as a `StateSchema`, for `createAgent({ stateSchema })` and `new StateGraph(schema)`. */
export const SessionStateSchema: StateSchema<{ tool_state: ReducedValue<SessionState, SessionUpdate> }> =
  new StateSchema({
    tool_state: new ReducedValue<SessionState, SessionUpdate>(anyObject<SessionState>(), {
      inputSchema: anyObject<SessionUpdate>(),
      reducer: reduceSession,
    }),
  });

function* withServers<T extends StructuredToolInterface>(
  tools: ServerTools<T>,
): Generator<readonly [server: string | undefined, tool: T]> {
  if (isList(tools)) { for (const tool of tools) yield [undefined, tool]; }
  else for (const [server, list] of Object.entries(tools)) for (const tool of list) yield [server, tool];
}

function isList<T extends StructuredToolInterface>(tools: ServerTools<T>): tools is readonly T[] {
  return Array.isArray(tools);
}

interface Channels {
  readonly channel: string;
  readonly messages: string;
}

/** LangGraph calls reducers with two arguments, and other callers might with more. */
function reduceSession(current: SessionState, update: SessionUpdate): SessionState {
  return mergeToolState(current, update);
}

function historyOf(
  checkpointer: CheckpointSource | CheckpointHistory | undefined,
  channel: string,
  messages: string,
): CheckpointHistory | undefined {
  if (checkpointer === undefined) return undefined;
  return "snapshots" in checkpointer ? checkpointer : checkpoints(checkpointer, { channel, messages });
}

/** The model's tool: its past ends with the run that it is called in. */
function inspectTool(history: CheckpointHistory | undefined, channels: Channels): DynamicStructuredTool {
  const allowedKeys = (key: string) => !looksSecret(key);
  const { name, description, schema } = makeInspectState({
    allowedKeys,
    ...(history === undefined ? {} : { history }),
  });
  const tool: DynamicStructuredTool = new DynamicStructuredTool({
    name,
    description,
    schema: { ...schema },
    func: async (args: unknown, _manager, config): Promise<string> => {
      const { threadId, ...run } = runOf(config, channels);
      const past = history === undefined ? undefined : {
        snapshots: async (id: string) => {
          const snapshots = await history.snapshots(id);
          return withRun(snapshots, run, turnOfRun(snapshots, run, channels.messages));
        },
      };
      const { handler } = makeInspectState({ allowedKeys, ...(past === undefined ? {} : { history: past }) });
      return await handler(args, { state: run.session, ...(threadId === undefined ? {} : { threadId }) });
    },
  });
  return withInvoke(
    tool,
    (input, config) => tool.invoke(isToolCall(input) ? { ...input, args: withoutNulls(input.args) } : input, config),
  );
}

/** A tool in all but what happens when it is invoked. */
function withInvoke<T extends StructuredToolInterface>(
  tool: T,
  invoke: (input: Parameters<T["invoke"]>[0], config: Parameters<T["invoke"]>[1]) => Promise<unknown>,
): T {
  return new Proxy(tool, {
    get: (target, property) => property === "invoke" ? invoke : Reflect.get(target, property, target),
  });
}

interface ToolCall {
  readonly type: "tool_call";
  readonly args: Record<string, unknown>;
}

function isToolCall(input: unknown): input is ToolCall {
  return isObject(input) && input.type === "tool_call" && isObject(input.args);
}

/** Models send `null` for what they leave out. */
function withoutNulls(args: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
}

async function currentTurn(
  history: CheckpointHistory | undefined,
  run: RunOfThread,
  messages: string,
): Promise<number | undefined> {
  if (history === undefined || run.threadId === undefined) return undefined;
  return turnOfRun(await history.snapshots(run.threadId), run, messages);
}

interface RunOfThread extends Run {
  readonly threadId: string | undefined;
}

function runOf(config: unknown, { channel, messages }: Channels): RunOfThread {
  const given = isObject(config) ? config : {};
  const state = stateOf(given);
  const configurable = isObject(given.configurable) ? given.configurable : {};
  const { thread_id: threadId, checkpoint_map: map } = configurable;
  const checkpointId = isObject(map) ? map[""] : undefined;
  return {
    session: toSession(state[channel]),
    messages: state[messages],
    threadId: typeof threadId === "string" ? threadId : undefined,
    checkpointId: typeof checkpointId === "string" ? checkpointId : undefined,
  };
}

/** The state as the node of the tool was given it. Outside of a graph there is none. */
function stateOf(config: Record<string, unknown>): Record<string, unknown> {
  if (isObject(config.state)) return config.state;
  try {
    const input: unknown = getCurrentTaskInput(config);
    return isObject(input) ? input : {};
  } catch {
    return {};
  }
}

/** `gazet__get_aoi` and `mcp__gazet__get_aoi` name the server as well. */
function nameOf(name: string, server: string | undefined, listServer: string): { server: string; tool: string } {
  const [prefix, ...rest] = name.replace(/^mcp__/, "").split("__");
  if (server !== undefined) return { server, tool: prefix === server && rest.length > 0 ? rest.join("__") : name };
  return rest.length === 0 ? { server: listServer, tool: name } : { server: prefix, tool: rest.join("__") };
}

/** A schema (Standard Schema) that takes any object: the reducer is what checks. */
function anyObject<T>(): ConstructorParameters<typeof ReducedValue<T, T>>[0] {
  const toJsonSchema = () => ({ type: "object" });
  return {
    "~standard": {
      version: 1,
      vendor: "mcpstate",
      // Without a value there is an empty session: LangGraph asks for the default so, and reduces onto it.
      validate: (value = {}) => isObjectOf<T>(value) ? { value } : { issues: [{ message: "This is no object." }] },
      jsonSchema: { input: toJsonSchema, output: toJsonSchema },
    },
  };
}

function isObjectOf<T>(value: unknown): value is T {
  return isObject(value);
}
