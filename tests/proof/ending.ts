/**
 * Reads what a store holds in the end: every document's journal from its start.
 *
 * @module
 */

import type { Backend } from "../../src/backends/backend.ts";
import { HandleStore } from "../../src/store/store.ts";
import { USER } from "./client.ts";
import type { Journal, Recorded } from "./history.ts";
import { digest } from "./reference.ts";

/** The journals of all live documents. */
export async function readJournals(backend: Backend): Promise<Journal[]> {
  const store = new HandleStore(backend, { cacheBytes: 0 });
  const journals: Journal[] = [];
  let cursor: string | undefined;
  for (;;) {
    const page = await store.list(USER, { cursor });
    for (const { handle } of page.handles) {
      const journal = await readJournal(store, handle).catch(unlessExpired);
      if (journal !== undefined) journals.push(journal);
    }
    cursor = page.cursor;
    if (cursor === undefined) return journals;
  }
}

/** Where time goes on by itself, one may expire right after it was listed. */
function unlessExpired(error: unknown): undefined {
  if (Object(error).code !== "handle_expired") throw error;
}

async function readJournal(store: HandleStore, handle: string): Promise<Journal> {
  const entries: Recorded[] = [];
  for (let since = 0;;) {
    const page = await store.changes(handle, { user: USER, since, limit: 1000 });
    for (const { version, writer, at, turn, patch } of page.changes) entries.push({ version, writer, at, turn, patch });
    if (!page.more) break;
    since += page.changes.length;
  }
  return { handle, entries, digest: digest((await store.get(handle, { user: USER })).state) };
}
