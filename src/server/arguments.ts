/**
 * From what a client sent to the arguments of a tool. Refusals name the field; meaning is the store's to check.
 *
 * @module
 */

import type { z } from "zod";
import { InvalidInput } from "../document/errors.ts";
import { isObject } from "../document/json.ts";
import { toPointer } from "../document/path.ts";

/** How many keys and items the arguments of one call may hold. */
const MAX_ELEMENTS = 250_000;

/** Reads the arguments of a tool. @throws {InvalidInput} naming the first field at fault. */
export function parseArguments<Schema extends z.ZodObject>(schema: Schema, input: unknown): z.output<Schema> {
  const given = withoutText(withoutNulls(isObject(input) ? input : {}));
  checkElements(given);
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  throw toInvalidInput(parsed.error.issues[0], Object.keys(schema.shape));
}

/** Many clients send `null` for what they leave out. */
function withoutNulls(input: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null));
}

/** Objects and arrays that arrive as JSON text, as they do from many clients. A `value` is data and stays as it is. */
function withoutText(input: Record<string, unknown>): Record<string, unknown> {
  const read = { ...input };
  if ("state" in read) read.state = fromText(read.state, "state");
  if (!("ops" in read)) return read;
  const ops = fromText(read.ops, "ops");
  read.ops = Array.isArray(ops) ? ops.map(opFromText) : ops;
  return read;
}

function opFromText(entry: unknown, index: number): unknown {
  const op = fromText(entry, "ops", `/${index}`);
  if (!isObject(op) || typeof op.mapping !== "string") return op;
  return { ...op, mapping: fromText(op.mapping, "ops", `/${index}/mapping`) };
}

function fromText(value: unknown, field: string, path = ""): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    const place = path === "" ? field : `${field} at ${path}`;
    throw new InvalidInput(
      field,
      `${place} is a text and not valid JSON. Send it as JSON, not as a quoted text.`,
      path,
    );
  }
}

/** Without recursion, so that no nesting is too deep for it. */
function checkElements(root: Readonly<Record<string, unknown>>): void {
  let count = 0;
  const stack: unknown[] = [root];
  while (stack.length > 0) {
    const node = stack.pop();
    if (typeof node !== "object" || node === null) continue;
    const children: readonly unknown[] = Array.isArray(node) ? node : Object.values(node);
    count += children.length;
    if (count > MAX_ELEMENTS) {
      throw new InvalidInput(
        node === root ? "arguments" : fieldOf(root),
        `The arguments hold more than ${MAX_ELEMENTS} keys and items. Send less at once, or keep it in several handles.`,
      );
    }
    for (const child of children) if (typeof child === "object" && child !== null) stack.push(child);
  }
}

/** The field that holds a container: a call has one at most that can be large. */
function fieldOf(root: Readonly<Record<string, unknown>>): string {
  return Object.keys(root).find((name) => typeof root[name] === "object") ?? "arguments";
}

function toInvalidInput(issue: z.core.$ZodIssue, known: readonly string[]): InvalidInput {
  if (issue.code === "unrecognized_keys") {
    const field = issue.keys[0];
    return new InvalidInput(
      field,
      `There is no argument ${JSON.stringify(shorten(field))}. The arguments are ${known.join(", ")}.`,
    );
  }
  const [name, ...rest] = issue.path.map(String);
  const field = name ?? "arguments";
  return new InvalidInput(field, `${field} ${issue.message}`, rest.length === 0 ? undefined : toPointer(rest));
}

function shorten(text: string): string {
  return text.length <= 80 ? text : `${text.slice(0, 79).toWellFormed()}…`;
}
