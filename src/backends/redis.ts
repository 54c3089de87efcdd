/**
 * State in Redis 6.2 or newer (or Valkey), alone or as a cluster: for several servers that share it.
 *
 * ```ts ignore
 * import { HandleStore } from "jsr:@mcpstate/server";
 * import { openRedisBackend } from "jsr:@mcpstate/server/redis";
 *
 * await using store = new HandleStore(await openRedisBackend({ url: "redis://127.0.0.1:6379" }));
 * ```
 *
 * It needs `--allow-net=host:port` and nothing else; on a cluster that of every server.
 *
 * ## A client of your own
 *
 * Any client will do, also one that sends a command again after its connection was lost, since the server recognises a
 * write that it has seen. Give it deadlines of its own, so that it does not keep for ever what was given up here.
 *
 * ```ts ignore
 * // npm:ioredis: new Redis({ maxRetriesPerRequest: 3, connectTimeout: 2000 })
 * openRedisBackend({ client: { sendCommand: ([command, ...args]) => redis.call(command, ...args) } });
 * // npm:redis, npm:@redis/client: createClient({ socket: { connectTimeout: 2000 }, maintNotifications: "disabled" })
 * openRedisBackend({ client: { sendCommand: (args) => redis.sendCommand([...args]) } });
 * // npm:redis as a cluster: createCluster(…)
 * openRedisBackend({ client: { sendCommand: (args, key) => redis.sendCommand(key, false, [...args]) } });
 * // jsr:@db/redis: connect({ hostname, port, maxRetryCount: 3 })
 * openRedisBackend({ client: { sendCommand: ([command, ...args]) => redis.sendCommand(command, args) } });
 * ```
 *
 * @module
 */

import type { Keyframe, Stamp } from "../document/journal.ts";
import type {
  Absent,
  Append,
  Appended,
  Backend,
  Creation,
  DocumentKey,
  Exists,
  Expected,
  Found,
  Gone,
  Head,
  Held,
  ListPage,
  ListRange,
  Lost,
  Place,
  QuotaReached,
  Removal,
  Removed,
  Replayed,
  RequestDraft,
  RequestRecord,
  Touch,
  Touched,
  Want,
} from "./backend.ts";
import { LEFTOVERS as MOST_LEFTOVERS, TIDY_EVERY } from "./records.ts";
import { APPEND } from "./redis/append_script.ts";
import { toAppend, toCreate, toPlace, toRequest as toRequestArguments, toTouch, toWant } from "./redis/arguments.ts";
import type { Caller } from "./redis/caller.ts";
import type { Ears } from "./redis/ears.ts";
import { REMOVE, TOUCH, TRIM } from "./redis/change_scripts.ts";
import { CREATE } from "./redis/create_script.ts";
import { damaged } from "./redis/errors.ts";
import { Groups } from "./redis/group.ts";
import type { Keys } from "./redis/keys.ts";
import { packHead } from "./redis/packed.ts";
import { within } from "./redis/link.ts";
import { open } from "./redis/open.ts";
import type { RedisBackendOptions } from "./redis/options.ts";
import { type Plain, toPlain } from "./redis/plain.ts";
import { ENTRIES, LOCATE, READ, RECALL } from "./redis/read_scripts.ts";
import { type Answer, list, only, toAnswer, toRequest, toStamp } from "./redis/records.ts";
import { Rivals } from "./redis/rivals.ts";
import type { Script } from "./redis/script.ts";
import { Users } from "./redis/users.ts";

export type { RedisBackendOptions } from "./redis/options.ts";
export type { RedisClient } from "./redis/link.ts";
export type { Subscribe } from "./redis/poller.ts";

/**
 * Opens a Redis as a backend, and looks whether it can keep state: a replica, a version before 6.2 and a user who may not
 * run the commands are refused; an eviction policy and the lack of persistence are warned about.
 *
 * @throws {InvalidInput} for a URL or a prefix that is not understood.
 * @throws {BackendError} if Redis cannot be reached, refuses the user, or cannot keep state.
 */
export async function openRedisBackend(options: RedisBackendOptions = {}): Promise<Backend> {
  return new RedisBackend(await open(options));
}

/** How long the end waits for what nobody else waits for. */
const LAST_WORDS_MS = 250;

/** How long who has no leftovers is left in peace: a busy writer would ask for them many times in that. */
const CLEAN_MS = 250;

class RedisBackend implements Backend {
  readonly #caller: Caller;
  readonly #keys: Keys;
  readonly #ears: Ears;
  readonly #users: Users;
  readonly #groups: Groups;
  readonly #rivals = new Rivals();
  /** Those whose leftovers are being removed. */
  readonly #tidied = new Map<string, Promise<unknown>>();
  #steps = 0;
  /** Who had no leftovers a moment ago. */
  #clean: { readonly user: string; readonly until: number } | undefined;

  constructor({ caller, keys, ears }: { caller: Caller; keys: Keys; ears: Ears }) {
    this.#caller = caller;
    this.#keys = keys;
    this.#ears = ears;
    this.#users = new Users(caller, keys);
    this.#groups = new Groups(caller, keys, this.#rivals);
  }

  async create(key: DocumentKey, creation: Creation): Promise<Appended | Exists | Gone | QuotaReached | Replayed> {
    const keys = this.#writeKeys(key, [creation.request]);
    const answer = await this.#run(CREATE, key, keys, toCreate(key, creation));
    this.#tidy(key.user);
    return only(answer, "appended", "exists", "gone", "quota", "replayed");
  }

  async read(key: DocumentKey, want: Want, held?: Held): Promise<Found | Absent | Gone> {
    if (want.as === "head" && held?.head !== undefined && !this.#rivals.has(key)) {
      if (await this.#isUnchanged(key, held.head)) return alreadyHeld(held.head);
      this.#rivals.seen(key);
    }
    const answer = await this.#lead(key, want, held);
    if (answer.outcome === "found" && answer.target === "held") this.#rivals.unseen(key);
    return answer;
  }

  /** Whether a document is as it was. That it lives is all that its head must say: Redis lets it end in time by itself. */
  async #isUnchanged(key: DocumentKey, head: Head): Promise<boolean> {
    const name = this.#keys.head(key);
    return await this.#caller.ask(["HGET", name, "now"], name) === packHead(head);
  }

  /** What leads from what is held to what is wanted. */
  async #lead(key: DocumentKey, want: Want, held?: Held): Promise<Found | Absent | Gone> {
    const args = [key.id, ...toWant(want), String(held?.version ?? -1), held?.writeId ?? ""];
    const answer = await this.#run(READ, key, this.#keys.all(key), args);
    if (answer.outcome !== "due") return only(answer, "found", "absent", "gone");
    try {
      await this.#users.bury(key.user, [key.id]);
    } catch {
      return { outcome: "gone", tombstone: answer.tombstone }; // whoever can write will bury it
    }
    return only(await this.#run(READ, key, this.#keys.all(key), args), "found", "absent", "gone");
  }

  async entries(key: DocumentKey, after: number | undefined, limit: number): Promise<Found | Absent | Gone> {
    const args = [key.id, String(after ?? -1), String(limit)];
    return only(await this.#run(ENTRIES, key, this.#keys.all(key), args), "found", "absent", "gone");
  }

  append(
    key: DocumentKey,
    expected: Expected,
    append: Append,
  ): Promise<Appended | Lost | Absent | Gone | Replayed> {
    const plain = toPlain(key, expected, append);
    const isAlone = plain === undefined || plain.keyframe !== undefined;
    const answer = isAlone ? this.#append(key, expected, append, plain) : this.#groups.append(plain);
    this.#tidy(key.user);
    return answer;
  }

  async touch(key: DocumentKey, touch: Touch): Promise<Touched | Absent | Gone> {
    const answer = await this.#run(TOUCH, key, this.#keys.all(key), toTouch(key, touch));
    return only(answer, "touched", "absent", "gone");
  }

  async remove(
    key: DocumentKey,
    { writeId, expected, request }: Removal,
  ): Promise<Removed | Lost | Absent | Gone | Replayed> {
    const keys = this.#writeKeys(key, [request]);
    const args = [key.id, String(expected ?? ""), writeId, ...toRequestArguments(request)];
    const answer = await this.#run(REMOVE, key, keys, args);
    this.#tidy(key.user);
    return only(answer, "removed", "lost", "absent", "gone", "replayed");
  }

  async locate(key: DocumentKey, place: Place): Promise<Stamp | undefined> {
    const reply = list(await this.#caller.run(LOCATE, this.#keys.all(key), [key.id, ...toPlace(place)]));
    if (reply[0] === "damaged") throw damaged();
    return reply[0] !== "found" || reply[1] === null ? undefined : toStamp(reply[1]);
  }

  async trim({ user, id }: DocumentKey, oldest: Held, keyframe: Keyframe): Promise<void> {
    const { version, writeId, bytes, body } = keyframe;
    const args = [id, String(oldest.version), oldest.writeId, String(version), writeId, String(bytes), body];
    await this.#caller.run(TRIM, this.#keys.all({ user, id }), args);
  }

  async list(user: string, range: ListRange): Promise<ListPage> {
    const page = await this.#users.list(user, range);
    this.#tidy(user);
    return page;
  }

  async findRequest(user: string, id: string): Promise<RequestRecord | undefined> {
    const flat = list(await this.#caller.run(RECALL, [this.#keys.request(user, id)], []));
    return flat.length === 0 ? undefined : toRequest(flat);
  }

  users(): AsyncIterable<string> {
    return this.#users.all();
  }

  sweep(user: string | undefined, limit: number): Promise<number> {
    return user === undefined ? this.#users.sweepAll(limit) : this.#users.sweep(user, limit);
  }

  subscribe(user: string, notify: () => void): Promise<AsyncDisposable> {
    return this.#ears.subscribe(this.#keys.channel(user), notify);
  }

  purge(user: string): Promise<number> {
    return this.#users.purge(user);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ears.close();
    this.#caller.stop();
    const tidied = Promise.all(this.#tidied.values());
    if (this.#tidied.size > 0) await within(tidied, LAST_WORDS_MS, () => new Error("late")).catch(() => {});
    this.#caller.close();
  }

  async #run(script: Script, key: DocumentKey, keys: readonly string[], args: readonly string[]): Promise<Answer> {
    return toAnswer(await this.#caller.run(script, keys, args), key.id);
  }

  /** By the script that does everything, unless the one for keyframes will do. */
  async #append(
    key: DocumentKey,
    expected: Expected,
    append: Append,
    plain: Plain | undefined,
  ): Promise<Appended | Lost | Absent | Gone | Replayed> {
    const framed = plain?.keyframe && await this.#groups.framed(plain, plain.keyframe);
    if (framed !== undefined) return framed;
    const keys = this.#writeKeys(key, append.steps.map(({ request }) => request));
    const answer = await this.#run(APPEND, key, keys, toAppend(key, expected, append));
    return only(answer, "appended", "lost", "absent", "gone", "replayed");
  }

  /** With the index of requests, and the requests that there are. */
  #writeKeys(key: DocumentKey, requests: readonly (RequestDraft | undefined)[]): string[] {
    const named = requests.flatMap((request) => request === undefined ? [] : this.#keys.request(key.user, request.id));
    return [...this.#keys.all(key), this.#keys.requests(key.user), ...named];
  }

  /** Removes some leftovers of a user, now and then. What it is on the way to neither waits for it nor fails with it. */
  #tidy(user: string): void {
    if (this.#steps++ % TIDY_EVERY !== 0 || this.#tidied.has(user)) return;
    if (this.#clean?.user === user && performance.now() < this.#clean.until) return;
    const done = (swept?: number) => {
      this.#tidied.delete(user);
      if (swept === 0) this.#clean = { user, until: performance.now() + CLEAN_MS };
    };
    this.#tidied.set(user, this.#users.sweep(user, MOST_LEFTOVERS).then(done, () => done()));
  }
}

function alreadyHeld(head: Head): Found {
  return { outcome: "found", head, target: "held", onto: "held", entries: [] };
}
