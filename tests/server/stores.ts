/**
 * Stores for servers in this process.
 *
 * @module
 */

import { HandleStore } from "../../src/store/store.ts";
import { connectInProcess, type Connection } from "./client.ts";

/** A store in memory, and a client of a server over it for `alice`. */
export async function openServer(
  options: { readonly writer?: string; readonly maxAnswerChars?: number } = {},
): Promise<{ readonly store: HandleStore; readonly client: Connection } & AsyncDisposable> {
  const store = await HandleStore.fromUrl("sqlite:///:memory:");
  const client = await connectInProcess(store, { user: "alice", ...options });
  return {
    store,
    client,
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await store.close();
    },
  };
}
