/**
 * Tools that make a version: save, patch, restore.
 *
 * @module
 */

import { z } from "zod";
import { InvalidInput } from "../../document/errors.ts";
import { parseOps } from "../../document/parse_ops.ts";
import type { Snapshot } from "../../document/snapshot.ts";
import { described } from "../answers.ts";
import type { Call } from "../call.ts";
import { fitPaths } from "../entries.ts";
import * as schema from "../schemas.ts";
import { defineTool } from "../tool.ts";

const PATHS_SHOWN = 100;

const saveInput = z.strictObject({
  state: schema.state,
  kind: schema.kind.optional(),
  handle: schema.handle.optional(),
  expect_version: schema.version.describe("With handle: the version that your state is based on.").optional(),
  ttl_days: schema.ttlDays.optional(),
  title: schema.title.optional(),
  on_conflict: z.enum(["fail", "merge"], { error: 'must be "fail" or "merge".' })
    .describe("If others have saved since: fail (the default), or merge edits that do not touch the same places.")
    .optional(),
  request_id: schema.requestId,
});

/** Mints a handle, or replaces the state behind one. */
export const save = defineTool({
  name: "state_save",
  title: "Save state",
  description: `Stores a JSON object under a handle, where it outlives this conversation, this client and this device.

Without \`handle\` it mints a new one: give \`kind\`, and keep the handle of the answer, for it is how you and others get the state back. Mint when a task begins that someone may take up later: research, a plan, a cart, a draft. Do not mint again for the same task: list first.

With \`handle\` it replaces the whole state: load to edit, change what you got, and save with its version as \`expect_version\`. Save at milestones and before you finish. For small edits use state_patch instead; it needs no version and sends less.

If someone saved meanwhile you get stale_write, and nothing was changed. It holds the current version and what changed since yours: apply your change to that and save again, or send on_conflict "merge", which joins edits at different places.

How long it is kept: until deleted, or for \`ttl_days\` from now if given; a later save or state_touch can renew that. After it, the state is gone and calls say handle_expired. Every save makes a version, and past versions stay readable, by default the last 1,000. A state may be 1 MiB.`,
  hints: { readOnly: false, destructive: false, idempotent: false },
  input: saveInput,
  output: z.looseObject({
    ok: z.literal(true),
    handle: z.string(),
    version: z.number(),
    kind: z.string(),
    bytes: z.number(),
    expires_at: z.string().nullable(),
    merged: z.boolean().optional(),
    replayed: z.boolean().optional(),
  }),
  async run(args, call) {
    const saved = args.handle === undefined ? await mint(args, call) : await replace(args.handle, args, call);
    const { handle, version, kind, bytes, expiresAt, merged } = saved;
    return {
      handle,
      version,
      kind,
      bytes,
      expires_at: expiresAt ?? null,
      ...(merged === undefined ? {} : { merged }),
      ...replayed(saved),
    };
  },
});

function mint(args: z.output<typeof saveInput>, { store, user, writer, turn }: Call): Promise<Snapshot> {
  if (args.expect_version !== undefined || args.on_conflict !== undefined) {
    throw new InvalidInput(
      "handle",
      "expect_version and on_conflict are about a handle that exists: pass handle too, or leave them out to mint a new one.",
    );
  }
  if (args.kind === undefined) {
    throw new InvalidInput(
      "kind",
      'kind is missing: it is needed to mint a new handle, such as "research" or "cart". To save over one that exists, pass handle and expect_version.',
    );
  }
  return store.create(args.kind, args.state, {
    user,
    writer,
    turn,
    ttlDays: args.ttl_days,
    title: args.title,
    requestId: args.request_id,
  });
}

async function replace(handle: string, args: z.output<typeof saveInput>, call: Call): Promise<Snapshot> {
  const { store, user, writer, turn } = call;
  if (args.expect_version === undefined) {
    const { version, lastWriter } = await store.get(handle, { user });
    throw new InvalidInput(
      "expect_version",
      `expect_version is missing: ${handle} is at version ${version}, written by ${lastWriter}. ` +
        "Load it with state_load first, apply your change to what you get, and save with the version that you got.",
    );
  }
  return await store.save(handle, args.state, {
    user,
    writer,
    turn,
    expectVersion: args.expect_version,
    kind: args.kind,
    onConflict: args.on_conflict,
    ttlDays: args.ttl_days,
    title: args.title,
    requestId: args.request_id,
  });
}

/** Edits at a path; never stale. */
export const patch = defineTool({
  name: "state_patch",
  title: "Edit state",
  description:
    `Edits a state in place, without loading it and without a version: the edits of all writers land, so this is never stale. Prefer it to state_save for adding an item, setting a key or counting.

Operations, applied in order, all or none:
- {"op":"append","path":"sources","value":…} adds to an array; "add_to_set" does unless an equal item is in it; "remove" takes all equal items out.
- {"op":"set_key","path":"","key":"status","value":"done"} sets a key; {"op":"del_key","path":"","key":"draft"} takes it out.
- {"op":"merge","mapping":{…}} sets several keys; null is stored as null.
- {"op":"increment","path":"count","by":1}.
"create": true makes what is missing on the way. Paths are dotted or JSON Pointers; "" is the root.

Answers metadata and which places changed, not the state; if nothing would change, no version is made. On patch_error nothing was changed: the answer names the operation, the path and the reason; look with state_load and that path.`,
  hints: { readOnly: false, destructive: false, idempotent: false },
  input: z.strictObject({ handle: schema.handle, ops: schema.ops, request_id: schema.requestId }),
  output: z.looseObject({
    ...schema.metadata,
    changed: z.array(z.string()),
    changed_omitted: z.number().optional(),
    replayed: z.boolean().optional(),
  }),
  async run({ handle, ops, request_id }, { store, user, writer, turn }) {
    const patched = await store.patch(handle, parseOps(ops), { user, writer, turn, requestId: request_id });
    const { paths, paths_omitted } = fitPaths(patched.changed ?? [], PATHS_SHOWN);
    return {
      ...described(patched),
      changed: paths,
      ...(paths_omitted === undefined ? {} : { changed_omitted: paths_omitted }),
      ...replayed(patched),
    };
  },
});

/** An old version as a new one. */
export const restore = defineTool({
  name: "state_restore",
  title: "Restore an earlier version",
  description:
    `Makes an earlier version the newest again, as a new version: nothing is lost, and the versions between stay readable. To see what there is use state_changes, and state_load with \`version\` to look at one. \`expect_version\` is the version that you think is current; if it is not, you get stale_write and nothing was changed.`,
  hints: { readOnly: false, destructive: false, idempotent: false },
  input: z.strictObject({
    handle: schema.handle,
    version: schema.version.describe("The version to bring back."),
    expect_version: schema.version.describe("The version that is current."),
    request_id: schema.requestId,
  }),
  output: z.looseObject({ ...schema.metadata, replayed: z.boolean().optional() }),
  async run({ handle, version, expect_version, request_id }, { store, user, writer, turn }) {
    const options = { user, writer, turn, expectVersion: expect_version, requestId: request_id };
    const restored = await store.restore(handle, version, options);
    return { ...described(restored), ...replayed(restored) };
  },
});

function replayed(result: { readonly replayed?: true }): { readonly replayed?: true } {
  return result.replayed === undefined ? {} : { replayed: true };
}
