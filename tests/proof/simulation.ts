/**
 * Runs the stores of several processes over one server in a {@link World}, as a plan says, and answers the history.
 *
 * @module
 */

import type { Backend } from "../../src/backends/backend.ts";
import type { HandleStoreOptions } from "../../src/store/options.ts";
import type { HandleStore } from "../../src/store/store.ts";
import { Client, toSeen, USER } from "./client.ts";
import { readJournals } from "./ending.ts";
import type { Call, History, Operation, Result, Seen } from "./history.ts";
import { type Intent, toCall } from "./intents.ts";
import { BLANK } from "./reference.ts";
import { type Mishap, randomOf, World } from "./world.ts";

/** What goes wrong, and at which step, counted from when the first document is about to be minted. */
export type Fault =
  | { readonly at: number; readonly what: Mishap }
  | { readonly at: number; readonly what: "crash"; readonly process: number }
  | { readonly at: number; readonly what: "jump"; readonly ms: number }
  | { readonly at: number; readonly what: "resume" };

/** All that decides a run. */
export interface Plan {
  /** Which of the things that can happen does. */
  readonly schedule: number;
  /** Per process, per caller in it, what is wanted. */
  readonly processes: readonly (readonly (readonly Intent[])[])[];
  readonly faults: readonly Fault[];
  /** How fast each process is, beside the others: between two steps of a slow one, a fast one does all that it wants. */
  readonly paces: readonly number[];
  /** How likely it is, beside those, that a message is lost or carried out twice. */
  readonly noise: number;
  readonly options?: HandleStoreOptions;
  /** What is written from the first step on is lost at the second: a failover to a replica that lags. */
  readonly failover?: { readonly lagsAt: number; readonly at: number };
}

/** What is simulated: a server, and the store under test. */
export interface Subject extends AsyncDisposable {
  /** A store of a process. Its server has the clock that is given. */
  open(world: World, process: string, now: () => number, options?: HandleStoreOptions): Promise<HandleStore>;
  /** The time to live of what is to expire, if the clock cannot be set: then nobody knows what it shows. */
  readonly shortDays?: number;
  /** A connection that nothing befalls. */
  inspect(): Promise<Backend>;
  /** Takes a copy of everything, and answers how to put it back. */
  readonly copy?: () => () => void;
}

/** What a run was like. */
export interface Run {
  readonly history: History;
  /** Whether everybody was done within the steps that a run may take. */
  readonly isOver: boolean;
  readonly crashes: number;
  readonly faults: number;
}

/** The most steps that a run may take: beyond them somebody waits for ever. */
const MOST_STEPS = 20_000;
const SHORT_DAYS = 0.02;
/** How the writers of documents begin that are no part of the history. */
const PING = "ping-";

/** A process that can be killed and is started again. */
class Process {
  store!: HandleStore;
  readonly clients: Client[] = [];
  #incarnation = 0;
  #end = Promise.withResolvers<undefined>();
  #started: Promise<void>;

  constructor(readonly name: string, readonly open: (name: string) => Promise<HandleStore>) {
    this.#started = this.#start();
  }

  get incarnation(): string {
    return `${this.name}.${this.#incarnation}`;
  }

  /** What a call answers, unless the process is killed before. */
  async lives<T>(call: () => Promise<T>): Promise<T | undefined> {
    const end = this.#end.promise;
    const isStarted = await Promise.race([this.#started.then(() => true), end]);
    return isStarted ? await Promise.race([call(), end]) : undefined;
  }

  crash(world: World): void {
    world.crash(this.incarnation);
    this.#incarnation++;
    this.#started = this.#start();
    this.#end.resolve(undefined);
    this.#end = Promise.withResolvers();
  }

  async #start(): Promise<void> {
    const incarnation = this.incarnation;
    while (incarnation === this.incarnation) {
      const store = await this.open(incarnation).catch(() => undefined);
      if (store === undefined || incarnation !== this.incarnation) continue;
      this.store = store;
      for (const client of this.clients) client.store = store;
      return;
    }
  }
}

/** Runs a plan. */
export async function simulate(plan: Plan, subject: Subject): Promise<Run> {
  // A listener must be able to catch up, in the beginning and in the end.
  let isNoisy = false;
  const paceOf = (process: string) => isNoisy ? plan.paces[Number(process.slice(1).split(".")[0])] ?? 1 : 1;
  using world = new World(plan.schedule, paceOf);
  const chance = randomOf(~plan.schedule);
  const operations: Operation[] = [];
  const handles: string[] = [];
  const seen: Seen[] = [];
  let jumped = 0;
  /** What the clock showed at each step. */
  const clocks: number[] = [];
  let crashes = 0;
  let faults = 0;
  let rewoundAt: number | undefined;
  let putBack: (() => void) | undefined;
  let resume = Promise.withResolvers<undefined>();

  const processes = plan.processes.map((callers, i) => {
    const open = (name: string) => subject.open(world, name, () => world.time + jumped, plan.options);
    const process = new Process(`p${i}`, open);
    for (const _ of callers) process.clients.push(new Client(process.store));
    return process;
  });

  const note = (label: string, process: string, call: Call, invokedAt: number, answer: Result | undefined) => {
    const result = answer ?? { is: "unknown" };
    const returnedAt = answer === undefined ? Infinity : world.step;
    operations.push({ label, process, invokedAt, returnedAt, call, result });
    if (call.do === "mint" && result.is === "version") handles.push(result.handle);
    return result;
  };

  const want = async (process: Process, client: Client, label: string, intent: Intent): Promise<void> => {
    await process.lives(() => Promise.resolve());
    const call = toCall(intent, label, handles, client, subject.shortDays ?? SHORT_DAYS);
    if (call === undefined) return;
    for (let attempt = 0; attempt < 4; attempt++) {
      const invokedAt = world.step;
      const answer = await process.lives(() => client.make(label, call, intent.repeatable));
      const result = note(label, process.name, call, invokedAt, answer);
      // An answer from before the failover may name a version that is lost, and nothing is to be built upon it.
      if (rewoundAt !== undefined && invokedAt < rewoundAt) client.seen.clear();
      // A save is built upon what was seen before: it is repeated as it was, or not at all.
      const isSame = call.do !== "save" || client.seen.get(call.handle)?.version === call.expect;
      if (!intent.repeatable || result.is !== "unknown" || !isSame) return;
    }
  };

  let pings = 0;
  let heard = 0;
  const watch = async (): Promise<void> => {
    let cursor: string | undefined;
    for (let i = 0; !isOver; i++) {
      const process = processes[i % processes.length];
      const events = await process.lives(() =>
        Promise.resolve(process.store.watch(USER, { since: cursor })[Symbol.asyncIterator]())
      );
      while (events !== undefined && !isOver) {
        const next = await Promise.race([process.lives(() => events.next()).catch(() => undefined), resume.promise]);
        if (next === undefined || next.done) break;
        const event = next.value;
        cursor = event.cursor;
        if (event.type === "change" && event.writer.startsWith(PING)) heard = Number(event.writer.slice(PING.length));
        else seen.push(toSeen(event, world.step));
        if (event.type === "gap") heard = pings;
      }
    }
  };

  /** Mints documents that are no part of the history until the watcher is told of one: so all before was told. */
  const ping = async (): Promise<void> => {
    for (const own = pings + 1; heard < own;) {
      const label = `${PING}${++pings}`;
      await first.lives(() => first.clients[0].make(label, { do: "mint", state: BLANK }, false));
    }
  };

  const [first] = processes;
  /** When the documents of the history begin: steps of the plan are counted from here. */
  let since = Infinity;
  let isOver = false;
  let failure: unknown;
  const main = async (): Promise<void> => {
    watch().catch((error) => failure = error);
    await ping();
    since = world.step;
    isNoisy = true;
    await want(first, first.clients[0], "first", { wish: "mint", document: 0, pick: 0, repeatable: true });
    await Promise.all(processes.flatMap((process, i) =>
      plan.processes[i].map(async (intents, j) => {
        const client = process.clients[j];
        for (const [k, intent] of intents.entries()) await want(process, client, `${process.name}-${j}-${k}`, intent);
      })
    ));
    isNoisy = false; // so that the listener can catch up
    await ping();
  };
  main().then(() => isOver = true, (error) => failure = error);

  const before = (): Mishap | undefined => {
    const now = world.step - since;
    if (plan.failover !== undefined && subject.copy !== undefined) {
      if (now === plan.failover.lagsAt) putBack = subject.copy();
      if (now >= plan.failover.at && putBack !== undefined && rewoundAt === undefined) {
        putBack();
        rewoundAt = world.step + 1; // in this step somebody may have asked already, upon what is lost
        for (const { clients } of processes) for (const client of clients) client.seen.clear();
      }
    }
    let mishap: Mishap | undefined = isNoisy && chance() < plan.noise
      ? (chance() < 0.5 ? "lose" : "double")
      : undefined;
    if (mishap !== undefined) faults++;
    for (const fault of plan.faults) {
      if (fault.at !== now) continue;
      faults++;
      if (fault.what === "jump") jumped += fault.ms;
      else if (fault.what === "crash") {
        crashes++;
        processes[fault.process % processes.length].crash(world);
      } else if (fault.what === "resume") {
        resume.resolve(undefined);
        resume = Promise.withResolvers();
      } else mishap = fault.what;
    }
    return mishap;
  };
  const watched = () => {
    const was = world.time + jumped;
    const mishap = before();
    clocks[world.step] = Math.max(was, world.time + jumped);
    return mishap;
  };
  const ended = await world.run(() => isOver || failure !== undefined, MOST_STEPS, watched);
  clocks[world.step] = world.time + jumped;
  if (failure !== undefined) throw failure;
  const journals = (await readJournals(await subject.inspect())).filter(({ entries }) =>
    !entries[0]?.writer.startsWith(PING)
  );
  const watches = [{ name: "watch", since, events: seen, isComplete: ended }];
  const latest = (from: number, to: number) =>
    new Date(Math.max(...clocks.slice(from, Math.min(to, world.step) + 2))).toISOString();
  const history = { operations, watches, journals, slack: 0, rewoundAt };
  const isSet = subject.shortDays === undefined;
  return { history: isSet ? { ...history, latest } : history, isOver: ended, crashes, faults };
}
