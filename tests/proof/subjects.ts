/**
 * What is simulated: the store over a server in memory, over SQLite, and over Deno KV and a real Redis with every statement
 * a step.
 *
 * @module
 */

import type { Backend } from "../../src/backends/backend.ts";
import type { KvDatabase } from "../../src/backends/kv.ts";
import { createClient } from "@redis/client";
import { forward } from "../contract/target.ts";
import { startRedis } from "../redis_server.ts";
import { MemoryServer } from "./memory.ts";
import type { Subject } from "./simulation.ts";
import type { World } from "./world.ts";

/** The modules that a subject is made of: those of `src/`, or of a variant of them. */
export interface Modules {
  readonly store: Pick<typeof import("../../src/store/store.ts"), "HandleStore">;
  readonly errors: Pick<typeof import("../../src/document/errors.ts"), "BackendError">;
  readonly sqlite: Pick<typeof import("../../src/backends/sqlite.ts"), "openSqliteBackend">;
  readonly kv: Pick<typeof import("../../src/backends/kv.ts"), "openKvBackend">;
  readonly redis: Pick<typeof import("../../src/backends/redis.ts"), "openRedisBackend">;
}

/** The modules below a directory, which is laid out like `src/`. */
export async function loadModules(source: string): Promise<Modules> {
  const [store, errors, sqlite, kv, redis] = await Promise.all([
    import(`${source}/store/store.ts`),
    import(`${source}/document/errors.ts`),
    import(`${source}/backends/sqlite.ts`),
    import(`${source}/backends/kv.ts`),
    import(`${source}/backends/redis.ts`),
  ]);
  return { store, errors, sqlite, kv, redis };
}

/** What can be simulated. */
export type SubjectName = "memory" | "sqlite" | "kv" | "redis";

/** Where subjects of one sort come from: what they share is started once. */
export interface Field extends AsyncDisposable {
  /** A fresh one. */
  make(modules: Modules): Promise<Subject>;
}

/** Opens one. */
export async function openField(name: SubjectName): Promise<Field> {
  const nothing = () => Promise.resolve();
  switch (name) {
    case "memory":
      return { make: (modules) => Promise.resolve(overMemory(modules)), [Symbol.asyncDispose]: nothing };
    case "sqlite":
      return { make: overSqlite, [Symbol.asyncDispose]: nothing };
    case "kv":
      return { make: overKv, [Symbol.asyncDispose]: nothing };
    case "redis":
      return await redisField();
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

/** Milliseconds: how long a document lives that is to expire, by Redis's clock. */
const REDIS_LIFE = 15;
/** Milliseconds: so short that callers give up now and then, by the world's clock. */
const REDIS_DEADLINE = 100;

async function redisField(): Promise<Field> {
  const server = await startRedis();
  const client = await createClient({ url: server.url, RESP: 2, maintNotifications: "disabled" }).connect();
  const send = (args: readonly string[]): Promise<unknown> => client.sendCommand([...args]);
  return {
    make: (modules) => Promise.resolve(overRedis(modules, send)),
    [Symbol.asyncDispose]: async () => {
      client.destroy();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Every command is a request and a reply. Redis has a clock of its own, which no plan sets: lives are short instead. */
function overRedis({ store: { HandleStore }, redis: { openRedisBackend } }: Modules, send: Send): Subject {
  const listeners = new Map<string, { seq: unknown; readonly notify: Set<() => void> }>();
  const tell = async (): Promise<void> => {
    for (const [channel, listener] of listeners) {
      const seq = await send(["HGET", channel, "seq"]);
      if (seq === listener.seq) continue;
      listener.seq = seq;
      for (const notify of listener.notify) notify();
    }
  };
  const open = (sendCommand: Send) =>
    openRedisBackend({
      client: { sendCommand },
      subscribe: (channel, notify) => {
        const listener = listeners.get(channel) ?? { seq: undefined, notify: new Set() };
        listeners.set(channel, listener);
        listener.notify.add(notify);
        return Promise.resolve(() => listener.notify.delete(notify));
      },
      deadlineMs: REDIS_DEADLINE,
      onWarning: () => {},
    });
  return {
    shortDays: REDIS_LIFE / 86_400_000,
    open: async (world, process, _now, options) => {
      const serve = async (args: readonly string[]): Promise<unknown> => {
        const reply = await send(args);
        if (args[0].startsWith("EVAL")) await tell();
        return reply;
      };
      const lost = () => new Error("the connection was cut");
      return new HandleStore(await open((args) => world.carry(process, () => serve(args), lost)), options);
    },
    inspect: () => open(send),
    [Symbol.asyncDispose]: async () => void await send(["FLUSHALL"]),
  };
}

type Send = (args: readonly string[]) => Promise<unknown>;
