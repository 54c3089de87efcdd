/**
 * The tool that looks without loading: keys with their past, one value, what matches, two versions side by side.
 *
 * @module
 */

import { z } from "zod";
import { inspectHandle } from "../../history/handles.ts";
import { MAX_CHARS } from "../../history/view.ts";
import { toWireReading } from "../../history/wire.ts";
import { described } from "../answers.ts";
import * as schema from "../schemas.ts";
import { defineTool } from "../tool.ts";

/** A comparison shows two values and their difference; each of its parts may take this share of the answer. */
const SHARE = 1 / 8;

/** What a key is, was and has been through. */
export const inspect = defineTool({
  name: "inspect_state",
  title: "Inspect state and its past",
  description:
    `Looks into the state behind a handle without loading it whole. Without \`key\`: every key with its shape. With \`key\`, taken literally: its value, or its outline where it is long; \`path\` goes into it. \`pattern\`, a case-insensitive regular expression, finds lines \`pointer = value\`, which begin with a JSON Pointer into what is read: \`/city = …\`.

A key that was written in more than one version says so and names the call that reads the earlier value: look before you compare a value with what it was earlier. \`version\` or \`turn\` reads the past; \`compare_version\` or \`compare_turn\` shows both values and what differs, in one call. "Not written yet", "never was" and "no longer retained" are different answers.

Load (state_load) to edit, inspect to look.`,
  hints: { readOnly: true, destructive: false, idempotent: true },
  input: z.strictObject({
    handle: schema.handle,
    key: schema.text.describe("A top-level key, literally; it may hold / and dots. * or absent: all keys.").optional(),
    pattern: schema.text.describe(
      "A case-insensitive regular expression over lines that begin with a JSON Pointer: /city = …",
    ).optional(),
    path: schema.path.optional(),
    version: schema.version.describe("Read this version.").optional(),
    turn: schema.version.describe("Read what stood when this turn ended.").optional(),
    compare_version: schema.version.describe("Compare with this version.").optional(),
    compare_turn: schema.version.describe("Compare with what stood when this turn ended.").optional(),
  }),
  output: z.looseObject({
    ...schema.metadata,
    as_of: z.looseObject({ version: z.number().optional(), turn: z.number().optional() }).optional(),
    key: z.string().optional(),
    path: z.string().optional(),
    note: z.string().optional(),
    keys: z.record(z.string(), z.string()).optional(),
    value: z.unknown().optional(),
    outline: z.string().optional(),
    matches: z.array(z.string()).optional(),
    total_matches: z.number().optional(),
    absent: z.string().optional(),
    message: z.string().optional(),
    earlier: z.looseObject({}).optional(),
    later: z.looseObject({}).optional(),
  }),
  async run({ compare_version, compare_turn, ...asked }, { store, user, budget }) {
    const { snapshot, reading } = await inspectHandle(store, user, {
      ...asked,
      compareVersion: compare_version,
      compareTurn: compare_turn,
      maxChars: Math.min(MAX_CHARS, Math.floor(budget * SHARE)),
    });
    return { ...described(snapshot), ...toWireReading(reading) };
  },
});
