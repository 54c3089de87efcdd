/**
 * Reads the body of a request within bounds: bytes, time, nesting and number of messages. What the arguments of a tool
 * hold, the tool refuses itself, since it can name the field.
 *
 * @module
 */

import { inTime } from "../deadline.ts";
import { isJsonContentType } from "@modelcontextprotocol/server";
import { isObject } from "../../document/json.ts";
import { Refusal, REFUSED } from "./refusal.ts";

/** The largest body: a state of 4 MiB, which is the most that a server can be told to keep, and what is around it. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024 + 64 * 1024;
/** How long a body may take to arrive. */
const READ_MS = 20_000;
/** How many messages a batch of an older client may hold. */
const MAX_BATCH = 100;
/** What a message may hold around a tool's arguments. */
const MAX_DEPTH = 64;
const MAX_ELEMENTS = 10_000;

/** One JSON-RPC message, as far as it matters before it is served. */
export interface Message {
  readonly id: string | number | undefined;
  /** Empty for a response. */
  readonly method: string;
  /** The tool of a `tools/call`. */
  readonly tool: string | undefined;
}

/** A body, parsed. */
export interface Body {
  /** As it came. */
  readonly json: unknown;
  /** One, unless an older client sent a batch. */
  readonly messages: readonly Message[];
  /** Which request an answer is to, where it is one. */
  readonly id: string | number | undefined;
}

/** @throws {Refusal} for what is no JSON-RPC or too much of it. */
export async function readBody(request: Request): Promise<Body> {
  if (!isJsonContentType(request.headers.get("content-type"))) {
    throw new Refusal(415, "Send JSON, with the header Content-Type: application/json.");
  }
  const json = parse(await readText(request));
  const messages = (Array.isArray(json) ? json : [json]).map(toMessage);
  const id = messages.length === 1 ? messages[0].id : undefined;
  if (messages.length === 0 || messages.length > MAX_BATCH) {
    throw new Refusal(400, `A batch holds 1 to ${MAX_BATCH} messages.`, { code: REFUSED.request });
  }
  if (isTooMuch(json)) {
    throw new Refusal(
      400,
      `The message holds more than ${MAX_DEPTH} levels or ${MAX_ELEMENTS} values around the arguments of its tool.`,
      { code: REFUSED.request },
      id,
    );
  }
  return { json, messages, id };
}

async function readText(request: Request): Promise<string> {
  const declared = request.headers.get("content-length");
  if (Number(declared) > MAX_BODY_BYTES) throw tooLarge();
  const bytes = await soon(declared === null ? readBounded(request) : request.bytes());
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Refusal(400, "The body is not UTF-8.", { code: REFUSED.parse });
  }
}

/** A body whose length nobody said. */
async function readBounded(request: Request): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  const whole = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  return whole;
}

async function soon<T>(reading: Promise<T>): Promise<T> {
  try {
    return await inTime(reading, READ_MS, () => new Refusal(408, "The body took too long to arrive."));
  } catch (error) {
    throw error instanceof Refusal ? error : new Refusal(400, "The body could not be read.", { code: REFUSED.parse });
  }
}

function tooLarge(): Refusal {
  return new Refusal(
    413,
    `The body is larger than ${MAX_BODY_BYTES} bytes. Send less at once, or edit with state_patch.`,
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(400, "The body is not valid JSON.", { code: REFUSED.parse });
  }
}

function toMessage(json: unknown): Message {
  if (!isObject(json)) throw new Refusal(400, "The body is no JSON-RPC message.", { code: REFUSED.request });
  const { id, method, params } = json;
  const tool = method === "tools/call" && isObject(params) && typeof params.name === "string" ? params.name : undefined;
  return {
    id: typeof id === "string" || typeof id === "number" ? id : undefined,
    method: typeof method === "string" ? method : "",
    tool,
  };
}

/** Without recursion, so that no nesting is too deep for it. Leaves out `params.arguments` of each message. */
function isTooMuch(json: unknown): boolean {
  const stack: { readonly node: object; readonly depth: number }[] = [];
  let count = 0;
  const push = (node: unknown, depth: number) => {
    if (typeof node === "object" && node !== null) stack.push({ node, depth });
  };
  for (const message of Array.isArray(json) ? json : [json]) {
    for (const [name, value] of Object.entries(message)) {
      if (name !== "params" || !isObject(value)) push(value, 1);
      else for (const [key, child] of Object.entries(value)) if (key !== "arguments") push(child, 2);
    }
  }
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const children = Object.values(next.node);
    count += children.length;
    if (next.depth > MAX_DEPTH || count > MAX_ELEMENTS) return true;
    for (const child of children) push(child, next.depth + 1);
  }
  return false;
}
