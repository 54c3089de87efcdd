/**
 * Tools about how long a document lives: touch, delete.
 *
 * @module
 */

import { z } from "zod";
import { InvalidInput } from "../../document/errors.ts";
import { described } from "../answers.ts";
import * as schema from "../schemas.ts";
import { defineTool } from "../tool.ts";

/** Renews, sets or clears the time to live. */
export const touch = defineTool({
  name: "state_touch",
  title: "Renew or keep",
  description:
    `Sets how long a document lives, without changing it: \`ttl_days\` from now, or \`persist\`: true for as long as nobody deletes it; with neither, the time it was last given, counted from now. Makes no version, so it makes nobody's save stale. Use it when work goes on and expires_at comes near.`,
  hints: { readOnly: false, destructive: false, idempotent: true },
  input: z.strictObject({
    handle: schema.handle,
    ttl_days: schema.ttlDays.optional(),
    persist: schema.flag.describe("true: never expires.").optional(),
  }),
  output: z.looseObject(schema.metadata),
  async run({ handle, ttl_days, persist = false }, { store, user }) {
    if (persist && ttl_days !== undefined) {
      throw new InvalidInput("ttl_days", "ttl_days and persist exclude each other: pass one of them, or neither.");
    }
    return described(await store.touch(handle, { user, ttlDays: persist ? null : ttl_days }));
  },
});

/** Deletes a document with its past. */
export const remove = defineTool({
  name: "state_delete",
  title: "Delete state",
  description:
    `Deletes a document with its whole past, for everyone who holds the handle. There is no way back: do it only when asked to, or when the work is done and nobody will look at it again. With \`expect_version\` it deletes only if nobody has written since.`,
  hints: { readOnly: false, destructive: true, idempotent: true },
  input: z.strictObject({
    handle: schema.handle,
    expect_version: schema.version.describe("Delete only if this is still the version.").optional(),
    request_id: schema.requestId,
  }),
  output: z.looseObject({ ok: z.literal(true), handle: z.string(), deleted: z.literal(true) }),
  async run({ handle, expect_version, request_id }, { store, user }) {
    const { replayed } = await store.revoke(handle, { user, expectVersion: expect_version, requestId: request_id });
    return { handle, deleted: true, ...(replayed === undefined ? {} : { replayed }) };
  },
});
