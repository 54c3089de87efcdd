/**
 * The shapes of arguments and answers. Schemas check shape; what values mean, the store checks, so that each rule has
 * one owner and one message. Made once, converted to JSON Schema once.
 *
 * @module
 */

import type { StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import { z } from "zod";

const must = (what: string) => ({
  error: (issue: { readonly input?: unknown }) =>
    issue.input === undefined ? `is missing: it must ${what}.` : `must ${what}.`,
});
/** Any text. */
export const text = z.string(must("be a text"));
/** `true` or `false`. */
export const flag = z.boolean(must("be true or false"));
const number = z.number(must("be a number"));

/** The name of a document. */
export const handle = text.describe("A handle as state_save or state_list gave it, such as research_k3x9q2ma.");
/** A version, or another number that begins with 1. */
export const version = number.meta({ type: "integer", minimum: 1 });
/** How many of something, at most and by default. */
export const limit = (most: number, usual: number) =>
  number.meta({ type: "integer", minimum: 1, maximum: most, description: `At most so many. Default ${usual}.` });
/** What makes a call safe to send twice. */
export const requestId = text.meta({
  description:
    "Any unique text of up to 200 bytes, if you may have to send this call again: the second one answers the first result.",
}).optional();
/** A time to live. */
export const ttlDays = number.meta({
  exclusiveMinimum: 0,
  maximum: 36_525,
  description: "How long it lives from now, in days. Fractions are fine.",
});
/** What sort of document it is. */
export const kind = text.meta({
  pattern: "^[a-z][a-z0-9-]{0,31}$",
  description: "What sort of document it is: lower-case letters, digits and hyphens, such as research or cart.",
});
/** What a person would call it. */
export const title = text.meta({ description: "What a person would call it, up to 256 bytes. Lists show it." });
/** Where in a state. */
export const path = text.describe(
  "Where in the state: dotted (profile.tags.0) or a JSON Pointer (/profile/tags/0). Absent: all of it.",
);
/** A point in time. */
export const time = text.meta({ format: "date-time", description: "ISO 8601, such as 2026-07-28T09:30:00Z." });

/** An object of any keys. Checked by the store, whose own check keeps what a schema library would drop. */
export const state = z.unknown().refine((value) => value !== undefined, "is missing: it must be a JSON object.").meta({
  type: "object",
  description: "The whole state: a JSON object, at most 1 MiB, at most 100 levels deep.",
});

/** Patch operations. Flat, since alternatives break some clients; the store checks each operation's own fields. */
export const ops = z.unknown().refine((value) => value !== undefined, "is missing: it must be an array.").meta({
  type: "array",
  maxItems: 1000,
  description: "The edits, applied in order, all or none.",
  items: {
    type: "object",
    properties: {
      op: {
        type: "string",
        enum: ["append", "set_key", "del_key", "merge", "increment", "add_to_set", "remove"],
        description:
          "append, add_to_set (unless an equal one is in it) and remove (all equal ones) take path and value, for an array; " +
          "set_key takes path, key, value; del_key takes path, key; merge takes mapping; increment takes path, by.",
      },
      path: {
        type: "string",
        description: 'Dotted (profile.tags) or a JSON Pointer (/profile/tags). "" is the root.',
      },
      key: { type: "string" },
      value: { description: "Any JSON value." },
      mapping: { type: "object", description: "Keys to set in the object at path, by default the root. Shallow." },
      by: { type: "number" },
      create: { type: "boolean", description: "Make what is missing on the way to path." },
    },
    required: ["op"],
  },
});

/** What every answer about one document has. Loose, so that a later field breaks nobody. */
export const metadata = {
  ok: z.literal(true),
  handle: z.string(),
  kind: z.string(),
  title: z.string().nullable(),
  version: z.number(),
  created_at: z.string(),
  updated_at: z.string(),
  expires_at: z.string().nullable(),
  last_writer: z.string(),
  bytes: z.number(),
} as const;

/** One document in a list. */
export const listed = z.looseObject({
  handle: z.string(),
  kind: z.string(),
  title: z.string().nullable(),
  version: z.number(),
  updated_at: z.string(),
});

/** One entry of a journal. */
export const entry = z.looseObject({
  version: z.number(),
  writer: z.string(),
  at: z.string(),
  turn: z.number().nullable(),
  paths: z.array(z.string()),
  // Said by hand, since an alternative with null would be written as anyOf.
  patch: z.unknown().meta({ type: ["array", "null"], items: { type: "object" } }),
});

/**
 * A schema as the SDK advertises it, converted once. It lets everything through: arguments are checked by
 * `parseArguments`, whose refusals have a code and a field, and answers are built here.
 */
export function advertised(
  schema: z.ZodType,
  io: "input" | "output",
): StandardSchemaWithJSON<unknown, Record<string, unknown>> {
  let converted: Record<string, unknown> | undefined;
  const convert = () => converted ??= z.toJSONSchema(schema, { io, target: "draft-2020-12" });
  return {
    "~standard": {
      version: 1,
      vendor: "mcpstate",
      validate: (value) => ({ value: value as Record<string, unknown> }),
      jsonSchema: { input: convert, output: convert },
    },
  };
}
