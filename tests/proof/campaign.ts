/**
 * Several real processes work on one engine while things go wrong, and their history is judged.
 *
 * @module
 */

import { openBackend } from "../../src/backends/open.ts";
import { HandleStore } from "../../src/store/store.ts";
import { type Anomaly, check } from "./checker.ts";
import { USER } from "./client.ts";
import { readJournals } from "./ending.ts";
import type { Operation } from "./history.ts";
import { BLANK, digest } from "./reference.ts";
import { makeSite, type SiteName } from "./sites.ts";
import { type Caller, Listener, ROOT, startCaller } from "./team.ts";
import { randomOf } from "./world.ts";

/** How large a campaign is. */
export interface Size {
  readonly seed: number;
  /** How many processes at a time. */
  readonly processes: number;
  /** Callers in each. */
  readonly callers: number;
  /** Calls of each caller. */
  readonly calls: number;
  /** How many things go wrong, one after the other. */
  readonly faults: number;
  /** Where the processes come from, if not from here: a directory with `src/` and `tests/proof/`. */
  readonly root?: string;
}

/** What a campaign was like. */
export interface Campaign {
  readonly operations: number;
  readonly versions: number;
  readonly events: number;
  readonly unknown: number;
  readonly kills: number;
  /** How many processes there were. */
  readonly processes: number;
  /** How many calls the engine has failed, having changed nothing: busy, full, away. */
  readonly failed: number;
  /** How often each thing went wrong. */
  readonly faults: Readonly<Record<string, number>>;
  readonly anomalies: readonly Anomaly[];
}

/** The clock of all processes is that of their machine, in whole milliseconds. */
const SLACK_MS = 2;
const HOUR_MS = 3_600_000;

/** Runs one. */
export async function campaign(name: SiteName, size: Size): Promise<Campaign> {
  await using site = await makeSite(name);
  const { url } = site;
  const ground = { url, permissions: site.permissions, root: size.root ?? ROOT };
  const random = randomOf(size.seed);
  const operations: Operation[] = [];
  const clock = Date.now;
  await using backend = await openBackend(url);
  const store = new HandleStore(backend);
  const handles: string[] = [];
  await using listener = new Listener(ground);
  await listener.start();
  for (let i = 0; i < 3; i++) {
    const label = `first-${i}`;
    const invokedAt = clock();
    const { handle, updatedAt } = await store.create("cart", BLANK, { user: USER, writer: label });
    handles.push(handle);
    operations.push({
      label,
      process: "campaign",
      invokedAt,
      returnedAt: clock(),
      call: { do: "mint", state: BLANK },
      result: { is: "version", handle, version: 1, digest: digest(BLANK), current: 1, writer: label, at: updatedAt },
    });
  }

  let started = 0;
  const team = new Set<Caller>();
  const start = (mostBlocks?: number) => {
    const number = started++;
    // The clock of every third is wrong, and is set and set back all the time.
    const shift = number % 3 === 2 ? Math.round((random() - 0.5) * 4 * HOUR_MS) : 0;
    const seed = Math.floor(random() * 2 ** 31);
    const args = [seed, size.calls, size.callers, shift, handles.join(",")].map(String);
    const caller = startCaller(ground, `w${number}`, args, mostBlocks);
    team.add(caller);
    caller.ended.then(() => {
      operations.push(...caller.operations);
      team.delete(caller);
    });
  };
  const counts: Record<string, number> = {};
  let kills = 0;
  const faults: Readonly<Record<string, () => Promise<void>>> = {
    ...site.faults,
    "kill -9": () => {
      const [victim] = team;
      if (victim !== undefined) {
        kills++;
        victim.kill();
        start();
      }
      return Promise.resolve();
    },
    ...site.blocks === undefined ? {} : {
      full: () => {
        start(site.blocks?.()); // to this process alone, which soon finds that it cannot write
        return Promise.resolve();
      },
    },
    "kill the listener": async () => {
      await listener.kill();
      await listener.start();
    },
  };
  for (let i = 0; i < size.processes; i++) start();
  const names = Object.keys(faults);
  for (let i = 0; i < size.faults && team.size > 0; i++) {
    const before = [...team].reduce((sum, caller) => sum + caller.operations.length, 0);
    // Not before something has been done, so that nobody is killed while he starts.
    for (const end = clock() + 10_000; clock() < end && team.size > 0;) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      if ([...team].reduce((sum, caller) => sum + caller.operations.length, 0) > before + 20) break;
    }
    const fault = names[i % names.length];
    counts[fault] = (counts[fault] ?? 0) + 1;
    await faults[fault]();
  }
  while (team.size > 0) await Promise.all([...team].map(({ ended }) => ended));

  const last = await store.mint("cart", BLANK, { user: USER, writer: "last" });
  const isTold = () => listener.events.some(({ handle }) => handle === last);
  for (const end = clock() + 20_000; !isTold() && clock() < end;) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const anomalies: Anomaly[] = [];
  const journals = (await readJournals(backend).catch((error) => {
    anomalies.push({ rule: "unreadable", what: error.message });
    return [];
  })).filter(({ handle }) => handle !== last);
  const events = listener.events.filter(({ handle }) => handle !== last);
  // The place of a listener is taken at some moment after it was asked for.
  const watch = { name: "listener", since: clock(), events, isComplete: isTold() };
  if (anomalies.length === 0) anomalies.push(...check({ operations, watches: [watch], journals, slack: SLACK_MS }));
  if (!isTold()) anomalies.push({ rule: "watch", what: "the last event was never told" });
  return {
    operations: operations.length,
    versions: journals.reduce((sum, { entries }) => sum + entries.length, 0),
    events: events.length,
    unknown: operations.filter(({ result }) => result.is === "unknown").length,
    failed: operations.filter(({ result }) => result.is === "refused" && result.code === "backend_error").length,
    kills,
    processes: started,
    faults: counts,
    anomalies,
  };
}
