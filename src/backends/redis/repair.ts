/**
 * What puts a Redis right.
 *
 * @module
 */

import type { Derived, Remedy } from "../maintenance.ts";
import { type DocumentKey, type Head, REQUEST_MS } from "../records.ts";
import type { Caller } from "./caller.ts";
import type { Keys } from "./keys.ts";
import { list } from "./records.ts";
import { DROP_STATES, INDEX_REQUEST, KEEP, PLACE, RECOUNT, SETTLE, UNLIST } from "./repair_scripts.ts";
import type { Script } from "./script.ts";

/** One remedy for each kind of fault. */
export interface RedisRemedies {
  counters(user: string): Remedy;
  record(key: DocumentKey): Remedy;
  states(key: DocumentKey): Remedy;
  unlist(user: string, id: string): Remedy;
  request(user: string, id: string): Remedy;
}

/** The remedies of a store. */
export function remediesOf(caller: Caller, keys: Keys): RedisRemedies {
  const ofDocument = (script: Script, key: DocumentKey, does: string): Remedy => ({
    does,
    apply: async () => void await caller.run(script, [...keys.user(key.user), ...keys.document(key)], [key.id]),
  });
  return {
    counters: (user) => ({
      does: "count the user's documents anew",
      apply: async () => void await caller.run(RECOUNT, keys.user(user), []),
    }),
    record: (key) => ofDocument(PLACE, key, "put the document into its places in the indices"),
    states: (key) => ofDocument(DROP_STATES, key, "remove the keyframes that nothing leads to"),
    unlist: (user, id) =>
      ofDocument(UNLIST, { user, id }, "list what is left of the document, or remove what leads to nothing"),
    request: (user, id) => ({
      does: "put the request into its index",
      apply: async () => {
        const args = [id, String(Date.now()), String(REQUEST_MS)];
        await caller.run(INDEX_REQUEST, [keys.requests(user), keys.request(user, id)], args);
      },
    }),
  };
}

/** See {@link Maintenance.rebuild}. */
export async function rebuild(
  caller: Caller,
  keys: Keys,
  key: DocumentKey,
  { version, writeId }: Pick<Head, "version" | "writeId">,
  { keyframes, turns, head }: Derived,
): Promise<boolean> {
  const names = [...keys.user(key.user), ...keys.document(key)];
  const run = async (script: Script, args: readonly (string | number)[]) => {
    const [outcome] = list(await caller.run(script, names, [key.id, ...args.map(String)]));
    return outcome === "done";
  };
  for (const { version, writeId, bytes, body } of keyframes) {
    if (!await run(KEEP, [version, writeId, bytes, body])) return false;
  }
  const { bytes, offset, base } = head;
  const settled = [version, writeId, bytes, offset, base.version, base.bytes, base.offset, keyframes.length];
  const versions = keyframes.map(({ version }) => version);
  return await run(SETTLE, [...settled, ...versions, ...turns.flatMap(({ turn, version }) => [turn, version])]);
}
