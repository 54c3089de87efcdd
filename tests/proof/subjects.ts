/**
 * What is simulated: the store over a server in memory, over SQLite, and over Deno KV with every statement a step.
 *
 * @module
 */

import type { Backend } from "../../src/backends/backend.ts";
import type { KvDatabase } from "../../src/backends/kv.ts";
import { forward } from "../contract/target.ts";
import { MemoryServer } from "./memory.ts";
import type { Subject } from "./simulation.ts";
import type { World } from "./world.ts";

/** The modules that a subject is made of: those of `src/`, or of a variant of them. */
export interface Modules {
  readonly store: Pick<typeof import("../../src/store/store.ts"), "HandleStore">;
  readonly errors: Pick<typeof import("../../src/document/errors.ts"), "BackendError">;
  readonly sqlite: Pick<typeof import("../../src/backends/sqlite.ts"), "openSqliteBackend">;
  readonly kv: Pick<typeof import("../../src/backends/kv.ts"), "openKvBackend">;
}

/** The modules below a directory, which is laid out like `src/`. */
export async function loadModules(source: string): Promise<Modules> {
  const [store, errors, sqlite, kv] = await Promise.all([
    import(`${source}/store/store.ts`),
    import(`${source}/document/errors.ts`),
    import(`${source}/backends/sqlite.ts`),
    import(`${source}/backends/kv.ts`),
  ]);
  return { store, errors, sqlite, kv };
}

/** What can be simulated. */
export type SubjectName = "memory" | "sqlite" | "kv";

/** A fresh one. */
export async function makeSubject(name: SubjectName, modules: Modules): Promise<Subject> {
  switch (name) {
    case "memory":
      return overMemory(modules);
    case "sqlite":
      return await overSqlite(modules);
    case "kv":
      return await overKv(modules);
  }
}

function overMemory({ store: { HandleStore }, errors }: Modules): Subject {
  let clock = () => 0;
  const server = new MemoryServer(() => clock());
  return {
    open: (world, process, now, options) => {
      clock = now;
      return Promise.resolve(new HandleStore(carried(server.connect(), world, process, errors), options));
    },
    inspect: () => Promise.resolve(server.connect()),
    copy: () => {
      const contents = server.copy();
      return () => server.restore(contents);
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

async function overSqlite({ store: { HandleStore }, errors, sqlite }: Modules): Promise<Subject> {
  let clock = () => 0;
  const backend = await sqlite.openSqliteBackend({ now: () => clock() });
  return {
    open: (world, process, now, options) => {
      clock = now;
      return Promise.resolve(new HandleStore(carried(backend, world, process, errors), options));
    },
    inspect: () => Promise.resolve(backend),
    [Symbol.asyncDispose]: () => backend[Symbol.asyncDispose](),
  };
}

/** Every call of the port is a request and a reply. */
function carried(backend: Backend, world: World, process: string, { BackendError }: Modules["errors"]): Backend {
  const lost = () => new BackendError("The connection was cut.", { outcomeUnknown: true });
  const carry = <T>(serve: () => Promise<T>): Promise<T> => world.carry(process, serve, lost);
  return {
    ...forward(backend),
    create: (...args) => carry(() => backend.create(...args)),
    read: (...args) => carry(() => backend.read(...args)),
    entries: (...args) => carry(() => backend.entries(...args)),
    append: (...args) => carry(() => backend.append(...args)),
    touch: (...args) => carry(() => backend.touch(...args)),
    remove: (...args) => carry(() => backend.remove(...args)),
    locate: (...args) => carry(() => backend.locate(...args)),
    trim: (...args) => carry(() => backend.trim(...args)),
    list: (...args) => carry(() => backend.list(...args)),
    findRequest: (...args) => carry(() => backend.findRequest(...args)),
    sweep: (...args) => carry(() => backend.sweep(...args)),
    purge: (...args) => carry(() => backend.purge(...args)),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

async function overKv({ store: { HandleStore }, kv: { openKvBackend } }: Modules): Promise<Subject> {
  const kv = await Deno.openKv(":memory:");
  let clock = () => 0;
  return {
    open: async (world, process, now, options) => {
      clock = now;
      const carry = <T>(serve: () => Promise<T>): Promise<T> =>
        world.carry(process, serve, () => new Error("the connection was cut"));
      return new HandleStore(await openKvBackend({ kv: carriedKv(kv, carry), now }), options);
    },
    inspect: () => openKvBackend({ kv: { ...carriedKv(kv, (serve) => serve()), close: () => {} }, now: () => clock() }),
    [Symbol.asyncDispose]: () => Promise.resolve(kv.close()),
  };
}

/** Every statement of Deno KV is a request and a reply. */
function carriedKv(kv: Deno.Kv, carry: <T>(serve: () => Promise<T>) => Promise<T>): KvDatabase {
  return {
    get: (key) => carry(() => kv.get(key)),
    getMany: (keys) => carry(() => kv.getMany(keys)),
    async *list(selector, options) {
      yield* await carry(() => Array.fromAsync(kv.list(selector, options)));
    },
    atomic: () => {
      const atomic = kv.atomic();
      const commit = atomic.commit.bind(atomic);
      atomic.commit = () => carry(commit);
      return atomic;
    },
    close: () => {},
  };
}
