/**
 * Where the data of a backend lives while one test runs, and how an engine whose data lives in one connection gets there.
 *
 * @module
 */

import type { Backend } from "../../src/backends/backend.ts";

/** Fresh data for one test. Disposing it removes the data; connections that are still open are closed before. */
export interface Target extends AsyncDisposable {
  /** One more connection to the same data. */
  open(): Promise<Backend>;
}

/** A registered case: the first connection, and how to open more to the same data. All are closed afterwards. */
export type Case = (
  title: string,
  body: (backend: Backend, open: () => Promise<Backend>) => Promise<void>,
) => void;

/** For data that lives in one connection: every `open` answers that one, and the last to be disposed closes it. */
export async function inOneConnection(open: () => Promise<Backend>): Promise<Target> {
  const backend = await open();
  let users = 0;
  return {
    open: () => {
      users++;
      let closed = false;
      const dispose = async () => {
        if (closed) return;
        closed = true;
        if (--users === 0) await backend[Symbol.asyncDispose]();
      };
      return Promise.resolve({ ...forward(backend), [Symbol.asyncDispose]: dispose });
    },
    [Symbol.asyncDispose]: () => backend[Symbol.asyncDispose](),
  };
}

/** Every method of a backend, so that a test can put its own in the place of one. */
export function forward(backend: Backend): Backend {
  return {
    create: (key, creation) => backend.create(key, creation),
    read: (key, want, held) => backend.read(key, want, held),
    entries: (key, after, limit) => backend.entries(key, after, limit),
    append: (key, expected, append) => backend.append(key, expected, append),
    touch: (key, touch) => backend.touch(key, touch),
    remove: (key, removal) => backend.remove(key, removal),
    locate: (key, place) => backend.locate(key, place),
    trim: (key, oldest, keyframe) => backend.trim(key, oldest, keyframe),
    list: (user, range) => backend.list(user, range),
    findRequest: (user, id) => backend.findRequest(user, id),
    users: () => backend.users(),
    sweep: (user, limit) => backend.sweep(user, limit),
    subscribe: (user, notify) => backend.subscribe(user, notify),
    purge: (user) => backend.purge(user),
    [Symbol.asyncDispose]: () => backend[Symbol.asyncDispose](),
  };
}
