/**
 * A Deno KV database in a directory of its own: its records past the library, whether they fit together, and processes
 * that work on it.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Backend } from "../../src/backends/backend.ts";
import { type KvBackendOptions, openKvBackend } from "../../src/backends/kv.ts";
import type { HandleStoreOptions } from "../../src/store/options.ts";
import { HandleStore } from "../../src/store/store.ts";

/** A record, read past the library. */
export interface Raw {
  /** After the prefix. */
  readonly key: readonly Deno.KvKeyPart[];
  readonly value: unknown;
}

/** A database file; disposing it closes what was opened and removes it. */
export class KvSite implements AsyncDisposable {
  readonly directory: string = Deno.makeTempDirSync();
  readonly path: string = join(this.directory, "state.kv");
  readonly #opened = new AsyncDisposableStack();

  /** A connection, as a backend. */
  async backend(options: KvBackendOptions = {}): Promise<Backend> {
    return this.#opened.use(await openKvBackend({ path: this.path, ...options }));
  }

  /** A store on a connection and a cache of its own. */
  async store(options: HandleStoreOptions = {}, kv: KvBackendOptions = {}): Promise<HandleStore> {
    return this.#opened.use(new HandleStore(await this.backend(kv), options));
  }

  /** All records. */
  async records(): Promise<Raw[]> {
    using kv = await Deno.openKv(this.path);
    return (await Array.fromAsync(kv.list({ prefix: ["mcpstate"] }))).map(({ key, value }) => ({
      key: key.slice(1),
      value,
    }));
  }

  /** Sweeps as somebody an hour later would, so that nothing is too young. */
  async sweepLater(): Promise<void> {
    await using backend = await openKvBackend({ path: this.path, now: () => Date.now() + 3_600_000 });
    for (let swept = Infinity; swept > 0;) swept = await backend.sweep(undefined, 100);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.disposeAsync();
    await Deno.remove(this.directory, { recursive: true });
  }
}

/** The records of one kind, by what follows the kind in their keys. */
export function ofKind(records: readonly Raw[], kind: string): Map<string, unknown> {
  const found = records.filter(({ key }) => key[0] === kind);
  return new Map(found.map(({ key, value }) => [Deno.inspect(key.slice(1)), value]));
}

/** Asserts that every record is reached from another, and every index says the same as what it is of. */
export function assertSound(records: readonly Raw[]): void {
  assertEquals([ofKind(records, "staged").size, ofKind(records, "leftover").size], [0, 0]);
  const documents = records.filter(({ key }) => key[0] === "document").map(({ key, value }) => ({
    user: key[1],
    part: key[2],
    document: value as { journal?: string; head?: Head; tombstone?: { seq: number }; dueAt?: number },
  }));
  const listed = documents.map(({ user, document }) => {
    const { seq } = document.head ?? document.tombstone ?? { seq: NaN };
    return [Deno.inspect([user, seq]), document] as const;
  });
  assertEquals(new Map(listed), ofKind(records, "list"));
  const due = documents.flatMap(({ user, part, document }) => {
    const at = document.head === undefined ? document.dueAt : document.head.expiresAt;
    return at === undefined ? [] : Deno.inspect([user, at, part]);
  });
  assertEquals(due.sort(), [...ofKind(records, "due").keys()].sort());
  const live = documents.flatMap(({ document }) => document.journal ?? []);
  const journals = records.filter(({ key }) => key[0] === "journal");
  assertEquals(new Set(journals.map(({ key }) => key[1])), new Set(live));
  for (const { journal, head } of documents.map(({ document }) => document)) {
    if (head === undefined) continue;
    const entries = journals.filter(({ key }) => key[1] === journal && key[2] === "entry").map(({ value }) =>
      value as { version: number; writeId: string }
    );
    const newest = entries[entries.length - 1];
    assertEquals([newest.version, newest.writeId], [head.version, head.writeId]);
    assertEquals(entries.map(({ version }) => version), entries.map((_, i) => entries[0].version + i));
  }
  const named = records.flatMap(({ key, value }) => key[0] === "requested" ? [] : chunksOf(value));
  assertEquals([...ofKind(records, "chunk").keys()].sort(), named.sort());
  const users = new Map<Deno.KvKeyPart, number>();
  for (const { user, document } of documents) users.set(user, (users.get(user) ?? 0) + (document.head ? 1 : 0));
  for (const [user, count] of users) {
    assertEquals(Object(ofKind(records, "user").get(Deno.inspect([user]))).live, count);
  }
  assertEquals(ofKind(records, "requested").size, ofKind(records, "request").size);
}

interface Head {
  readonly seq: number;
  readonly expiresAt?: number;
  readonly version: number;
  readonly writeId: string;
}

/** The keys of the chunks that a record names. */
function chunksOf(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap((field) => {
    if (typeof field !== "object" || field === null || !("stage" in field)) return [];
    const { stage, from, count } = field;
    return Array.from({ length: count }, (_, i) => Deno.inspect([stage, from + i]));
  });
}

/** Does something just before the n-th commit from now. */
export function beforeCommit(kv: Deno.Kv, commit: number, act: () => Promise<void>): void {
  const begin = kv.atomic.bind(kv);
  let commits = 0;
  kv.atomic = () => {
    const atomic = begin();
    const land = atomic.commit.bind(atomic);
    atomic.commit = async () => {
      if (++commits === commit) await act();
      return await land();
    };
    return atomic;
  };
}

/** What a worker answers. */
export interface Answer {
  readonly item?: string;
  readonly version?: number;
  readonly handle?: string;
  readonly pid?: number;
  readonly failed?: string;
  readonly message?: string;
  readonly busy?: boolean;
  readonly ready?: true;
}

const WORKER = fileURLToPath(new URL("kv_worker.ts", import.meta.url));

/** How a worker is started. */
export interface Start {
  /** Beside reading and writing the database's directory. */
  readonly flags?: readonly string[];
}

/** A process that works on a database. Disposing it kills it. */
export class KvProcess implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #answers: AsyncIterator<Answer>;
  readonly #stdin: WritableStreamDefaultWriter<Uint8Array>;

  constructor(path: string, args: readonly string[], { flags = ["--unstable-kv"] }: Start = {}) {
    const directory = dirname(path);
    this.#child = new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "-q", "--no-lock", "--no-prompt", "--no-check", `--allow-read=${directory}`],
        ...[`--allow-write=${directory}`, ...flags, WORKER, path, ...args],
      ],
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    this.#stdin = this.#child.stdin.getWriter();
    this.#answers = lines(this.#child.stdout);
  }

  /** The next answer; `undefined` at the end. */
  async next(): Promise<Answer | undefined> {
    const { value, done } = await this.#answers.next();
    return done ? undefined : value;
  }

  /** All answers from here on. */
  async rest(): Promise<Answer[]> {
    const all: Answer[] = [];
    for (let answer = await this.next(); answer !== undefined; answer = await this.next()) all.push(answer);
    return all;
  }

  /** Lets it go on where it waits. */
  async go(): Promise<void> {
    await this.#stdin.write(new TextEncoder().encode("go\n"));
  }

  /** kill −9. */
  kill(): void {
    try {
      this.#child.kill("SIGKILL");
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // it has ended already
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill();
    await this.rest();
    await this.#stdin.abort().catch(() => undefined);
    await this.#child.status;
  }
}

/** A line that was cut off by a kill was not said. */
async function* lines(stream: ReadableStream<Uint8Array>): AsyncGenerator<Answer> {
  let text = "";
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n")) {
      yield JSON.parse(text.slice(0, end));
      text = text.slice(end + 1);
    }
  }
}

/** Starts workers, each with its number as its writer, lets them go at once and hears them out. */
export async function together(site: KvSite, processes: number, command: string[], count: number): Promise<Answer[]> {
  await using all = new AsyncDisposableStack();
  const workers = Array.from({ length: processes }, (_, i) => {
    return all.use(new KvProcess(site.path, [...command, `${i}`, `${count}`]));
  });
  assertEquals(await Promise.all(workers.map((worker) => worker.next())), Array(processes).fill({ ready: true }));
  await Promise.all(workers.map((worker) => worker.go()));
  return (await Promise.all(workers.map((worker) => worker.rest()))).flat();
}
