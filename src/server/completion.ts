/**
 * Completes a handle that is being typed, by what stands in it or in the title behind it.
 *
 * @module
 */

import type { CompleteResult } from "@modelcontextprotocol/server";
import type { Call } from "./call.ts";

/** As many as an answer may hold (MCP, "Completion"). */
const MOST = 100;

/** The user's handles that fit, the newest first. Some of a user's documents are named by their host: those too. */
export async function completeHandle({ store, user }: Call, typed: string): Promise<CompleteResult> {
  const { handles, cursor } = await store.list(user, { limit: MOST, ...(typed === "" ? {} : { query: typed }) });
  return { completion: { values: handles.map(({ handle }) => handle), hasMore: cursor !== undefined } };
}
