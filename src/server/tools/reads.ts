/**
 * Tools that change nothing: load, list, changes.
 *
 * @module
 */

import { z } from "zod";
import { InvalidInput } from "../../document/errors.ts";
import { parsePath, resolvePath, toPointer } from "../../document/path.ts";
import { checkInteger, checkTime } from "../../document/checks.ts";
import { type Answer, described } from "../answers.ts";
import { jsonCost } from "../budget.ts";
import { fitEntries } from "../entries.ts";
import { MAX_LOAD_CHARS, toReading } from "../reading.ts";
import * as schema from "../schemas.ts";
import { toIso } from "../../store/snapshots.ts";
import { defineTool } from "../tool.ts";

/** A state, a part of it, or its outline; now or as of then. */
export const load = defineTool({
  name: "state_load",
  title: "Load state",
  description:
    `Reads the state behind a handle, with its version: load to edit, then save with that version as \`expect_version\`. Load too when you take up earlier work, and after handle or version errors.

\`path\` reads one part. What is larger than the answer may be comes as \`outline\`: every key with its shape, and \`next\`, the call to make for a part. You need not load a large state to change it: state_patch edits it at a path.

\`version\`, \`turn\` or \`at\` (one of them) reads the past: that version, what stood when that turn of the conversation ended, or what stood at that time. \`as_of\` repeats it. To edit, load without them.`,
  hints: { readOnly: true, destructive: false, idempotent: true },
  maxResultChars: MAX_LOAD_CHARS,
  input: z.strictObject({
    handle: schema.handle,
    path: schema.path.optional(),
    version: schema.version.describe("Read this version.").optional(),
    turn: schema.version.describe("Read what stood when this turn ended.").optional(),
    at: schema.time.optional(),
    max_chars: schema.limit(MAX_LOAD_CHARS, 32_000).meta({
      minimum: 1000,
      description: "How long the answer may be. What is larger comes as an outline. Default 32000.",
    }).optional(),
  }),
  output: z.looseObject({
    ...schema.metadata,
    as_of: z.looseObject({
      version: z.number().optional(),
      turn: z.number().optional(),
      at: z.string().optional(),
    }).optional(),
    path: z.string().optional(),
    state: z.unknown().optional(),
    outline: z.string().optional(),
    next: z.string().optional(),
  }),
  async run({ handle, path = "", version, turn, at, max_chars }, { store, user, budget }) {
    const most = max_chars === undefined ? budget : checkInteger("max_chars", max_chars, 1000, MAX_LOAD_CHARS);
    const tokens = parsePath(path);
    const snapshot = await store.get(handle, { user, version, turn, at });
    const value = resolvePath(snapshot.state, tokens);
    const time = at === undefined ? undefined : toIso(checkTime("at", at));
    const asOf = Object.entries({ version, turn, at: time }).filter(([, value]) => value !== undefined);
    const isPast = asOf.length > 0;
    const head: Answer = {
      ...described(snapshot),
      ...(isPast ? { as_of: Object.fromEntries(asOf) } : {}),
      ...(tokens.length === 0 ? {} : { path: toPointer(tokens) }),
    };
    const reading = toReading({
      handle,
      value,
      tokens,
      version: isPast ? snapshot.version : undefined,
      bytes: tokens.length === 0 ? snapshot.bytes : undefined,
      room: most - jsonCost({ ok: true, ...head }),
    });
    return { ...head, ...reading };
  },
});

/** What there is, without the states. */
export const list = defineTool({
  name: "state_list",
  title: "List handles",
  description:
    `Lists what is kept, newest first, without the states: use it to take up earlier work when you have no handle, and before you mint, so that one task has one handle. \`query\` finds text in titles and handles. Give \`next_cursor\` as \`cursor\` for more; null means that this was all.`,
  hints: { readOnly: true, destructive: false, idempotent: true },
  input: z.strictObject({
    kind: schema.kind.optional(),
    query: schema.text.describe("Only those whose title or handle contains this text.").optional(),
    limit: schema.limit(100, 20).optional(),
    cursor: schema.text.describe("next_cursor of the answer before.").optional(),
  }),
  output: z.looseObject({
    ok: z.literal(true),
    handles: z.array(schema.listed),
    next_cursor: z.string().nullable(),
  }),
  async run({ kind, query, limit = 20, cursor }, { store, user, budget }) {
    let most = checkInteger("limit", limit, 1, 100);
    for (;;) {
      const page = await store.list(user, { kind, query, limit: most, cursor });
      const answer = { handles: page.handles.map(described), next_cursor: page.cursor ?? null };
      if (most === 1 || jsonCost({ ok: true, ...answer }) <= budget) return answer;
      // A cursor fits only the page it came with, so a shorter page is asked for.
      most = Math.max(1, Math.min(most - 1, countFitting(answer.handles, budget - 1_000)));
    }
  },
});

function countFitting(items: readonly unknown[], room: number): number {
  let left = room;
  const first = items.findIndex((item) => (left -= jsonCost(item) + 1) < 0);
  return first === -1 ? items.length : first;
}

/** What was written, by whom and how. */
export const changes = defineTool({
  name: "state_changes",
  title: "See what changed",
  description:
    `Tells what was written, oldest first: for each version who wrote it, when, in which turn, which places (\`paths\`, JSON Pointers), and how, as a JSON Patch (RFC 6902) from the version before. With \`since_version\` what came after it, such as since you last loaded; without, the last 20. \`patch\` is null where there was no room for it: load that path, or that version. While \`more\` is true, go on with the last version answered as \`since_version\`.`,
  hints: { readOnly: true, destructive: false, idempotent: true },
  input: z.strictObject({
    handle: schema.handle,
    since_version: schema.version.meta({ minimum: 0, description: "Only what was written after this version." })
      .optional(),
    limit: schema.limit(1000, 20).optional(),
  }),
  output: z.looseObject({
    ok: z.literal(true),
    handle: z.string(),
    entries: z.array(schema.entry),
    current_version: z.number(),
    more: z.boolean(),
  }),
  async run({ handle, since_version, limit = 20 }, { store, user, budget }) {
    const page = await store.changes(handle, { user, since: since_version, limit }).catch(sayWireName);
    const frame = { handle, current_version: page.currentVersion };
    const room = budget - jsonCost({ ok: true, ...frame, entries: [], more: false });
    const keep = since_version === undefined ? "newest" : "oldest";
    const entries = fitEntries(page.changes, room, keep);
    const isCut = keep === "oldest" && entries.length < page.changes.length;
    return { ...frame, entries, more: page.more || isCut };
  },
});

/** The store knows the argument by its name in the library. */
function sayWireName(error: unknown): never {
  if (!(error instanceof InvalidInput) || error.field !== "since") throw error;
  throw new InvalidInput("since_version", error.message.replace(/^since\b/, "since_version"));
}
