/**
 * A store with what `inspectHandle` reads of it, over a real database in memory.
 *
 * @module
 */

import type { HandleViews } from "../../src/history/handles.ts";
import type { HandleStoreOptions } from "../../src/store/options.ts";
import { HandleStore } from "../../src/store/store.ts";

export const USER = "alice";

/** A store, and its past as `inspectHandle` reads it. */
export async function openViews(
  options: HandleStoreOptions = {},
): Promise<{ readonly store: HandleStore; readonly views: HandleViews } & AsyncDisposable> {
  const store = await HandleStore.fromUrl("sqlite:///:memory:", options);
  return { store, views: store, [Symbol.asyncDispose]: () => store.close() };
}
