/**
 * Decides what of a tool's result is kept as session state: large fields and declared ones, and never a secret.
 *
 * @module
 */

import { isObject, type JsonValue } from "../document/json.ts";
import type { StateWrite } from "./entry.ts";

/** What is kept of results. */
export interface CaptureOptions {
  /** Keys that are kept whatever their size, such as `gazet/get_aoi/bbox`, or `gazet/get_aoi/*` for all fields. */
  readonly fields?: readonly string[];
  /** From how many characters of JSON on a field is kept without being declared. Default 2,000. */
  readonly largeChars?: number;
}

/** A call of a tool, and what it came to. */
export interface ToolResult {
  /** The server that has the tool. */
  readonly server: string;
  /** The tool. */
  readonly tool: string;
  /** What it was called with. */
  readonly inputs: unknown;
  /** Its structured result. */
  readonly result: unknown;
}

const LARGE_CHARS = 2_000;
/** Words that name what nobody wants to find in a state, in the singular. */
const SECRET_WORDS = new Set(["password", "passwd", "passphrase", "secret", "token", "apikey", "credential", "cookie"]);
const SECRET_NAMES = /(api|private|secret|access|auth|encryption|signing)key|authorization|bearer|sessionid/;

/** The writes by which a result is kept, by key `server/tool/field`. A result that is no object is the field `result`. */
export function captureResult(
  { server, tool, inputs, result }: ToolResult,
  { fields = [], largeChars = LARGE_CHARS }: CaptureOptions,
): Record<string, StateWrite> {
  const declared = new Set(fields);
  const prefix = `${server}/${tool}/`;
  const called = withoutSecrets(inputs);
  const writes: Record<string, StateWrite> = {};
  for (const [field, given] of Object.entries(isObject(result) ? result : { result })) {
    const value = looksSecret(field) ? undefined : withoutSecrets(given);
    if (value === undefined) continue;
    const isDeclared = declared.has(prefix + field) || declared.has(`${prefix}*`);
    if (!isDeclared && JSON.stringify(value).length < largeChars) continue;
    writes[prefix + field] = { value, tool, ...(called === undefined ? {} : { inputs: called }) };
  }
  return writes;
}

/**
 * The structured result in a tool message: what an MCP server sent as `structuredContent`, else an artifact that is an
 * object, else a text that is a JSON object.
 */
export function structuredResult(content: unknown, artifact: unknown): unknown {
  if (Array.isArray(artifact)) {
    const structured = artifact.find((part) => isObject(part) && part.type === "mcp_structured_content");
    if (structured !== undefined) return structured.data;
  } else if (isObject(artifact)) return artifact;
  const text = textOf(content)?.trim();
  if (text === undefined || !text.startsWith("{")) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // a text that only looks like JSON
  }
}

function textOf(content: unknown): string | undefined {
  if (typeof content === "string") return content;
  if (!Array.isArray(content) || content.length !== 1) return undefined;
  const [block] = content;
  return isObject(block) && typeof block.text === "string" ? block.text : undefined;
}

/** Whether a name looks like that of a secret: `apiKey`, `access_token`, `PASSWORD`. */
export function looksSecret(name: string): boolean {
  const words = name.replace(/([a-z\d])([A-Z])/g, "$1 $2").toLowerCase().split(/[^a-z\d]+/);
  return words.some((word) => SECRET_WORDS.has(word.replace(/s$/, ""))) || SECRET_NAMES.test(words.join(""));
}

/** The value as JSON, without members that look like secrets. `undefined` if it is none. */
function withoutSecrets(value: unknown): JsonValue | undefined {
  try {
    const text = JSON.stringify(value, (name, member) => looksSecret(name) ? undefined : member);
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined; // a cycle or a bigint, which no tool that answers in JSON has
  }
}
