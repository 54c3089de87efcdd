/**
 * Faulty variants of the code under test: each is `src/` with one text in one file replaced, and each must be caught.
 *
 * @module
 */

import { join } from "node:path";
import { campaign } from "./campaign.ts";
import type { PlanName } from "./plans.ts";
import { hunt } from "./simulate.ts";
import type { SiteName } from "./sites.ts";
import { loadModules, type SubjectName } from "./subjects.ts";
import { ROOT } from "./team.ts";

/** A bug, and where it is looked for. */
export interface Bug {
  readonly name: string;
  /** Below `src/`. */
  readonly file: string;
  /** Stands in the file just once. */
  readonly right: string;
  readonly wrong: string;
  readonly subject: SubjectName;
  /** What finds it. Default: `any`. */
  readonly plans?: PlanName;
  /** Whether a few plans are enough to find it. */
  readonly isQuick?: true;
  /** Whether real processes find it too. */
  readonly inCampaign?: true;
}

/** All that are planted. */
export const BUGS: readonly Bug[] = [
  {
    name: "no version check",
    inCampaign: true,
    file: "backends/sqlite/steps.ts",
    right: "row.head.version === expected.version &&\n    row.head.writeId === expected.writeId &&",
    wrong: "row.head.version >= expected.version &&",
    subject: "sqlite",
  },
  {
    name: "a journal row that is dropped",
    file: "backends/sqlite/steps.ts",
    right: "insertEntry(connection, row.doc, stamp, entry.body);",
    wrong: "if (version % 3 > 0) insertEntry(connection, row.doc, stamp, entry.body);",
    subject: "sqlite",
    isQuick: true,
  },
  {
    name: "a version that is used again",
    file: "backends/kv/steps.ts",
    right: "const version = head.version + 1;",
    wrong: "const version = before.version + 1;",
    subject: "kv",
  },
  {
    name: "expiry that is not judged in the step of a write",
    file: "backends/sqlite/steps.ts",
    right: "if (!isPastDue(row.record, now)) return { doc: row.doc, head: row.record };\n  return { outcome",
    wrong: "if (now >= 0) return { doc: row.doc, head: row.record };\n  return { outcome",
    subject: "sqlite",
    plans: "lives",
  },
  {
    name: "a write that is sent twice and lands twice",
    file: "backends/sqlite/steps.ts",
    right: "if (sentTwice !== undefined) return sentTwice;",
    wrong: "",
    subject: "sqlite",
  },
  {
    name: "request ids that are not looked up",
    file: "backends/sqlite/steps.ts",
    right: "const replayed = replay(connection, key.user, steps.map(({ request }) => request));",
    wrong: "const replayed = replay(connection, key.user, []);\n" +
      "  for (const { request } of steps) connection.run('DELETE FROM mcpstate_request WHERE id = ?', request?.id ?? '');",
    subject: "sqlite",
  },
  {
    name: "a document that is deleted whatever its version",
    file: "backends/sqlite/steps.ts",
    right: "if (expected !== undefined && row.head.version !== expected) {",
    wrong: "if (expected !== undefined && row.head.version < expected) {",
    subject: "sqlite",
  },
  {
    name: "a cache keyed by version alone, across a failover",
    file: "store/reader.ts",
    right: "const answer = await this.backend.read(key, want, held && toHeld(held));",
    wrong: "let answer = await this.backend.read(key, want, held && toHeld(held));\n" +
      "      if (held !== undefined && answer.outcome === 'found' && answer.target !== 'held' && " +
      "answer.target?.version === held.folded.version) answer = { ...answer, target: 'held' };",
    subject: "memory",
    plans: "failover",
  },
  {
    name: "a cache that does not ask for the head",
    inCampaign: true,
    file: "store/reader.ts",
    right: "    let held: Version | Current | undefined = this.#held(key, want);\n",
    wrong: "    let held: Version | Current | undefined = this.#held(key, want);\n" +
      "    if (want.as === 'head' && held !== undefined && 'head' in held) return held;\n",
    subject: "memory",
    isQuick: true,
  },
  {
    name: "a write that is acknowledged before it is committed",
    file: "store/writer.ts",
    right: "      const answer = await this.#backend.append(key, toExpected(base), append);",
    wrong: "      const sent = this.#backend.append(key, toExpected(base), append);\n" +
      "      if (queue.length === 1 && planned[0].step.entry !== undefined) {\n" +
      "        sent.catch(() => {});\n" +
      "        const { version: _, ...last } = base.stamp;\n" +
      "        const stamp = { ...last, version: base.folded.version + 1, writer: planned[0].write.writer };\n" +
      "        queue.shift();\n" +
      "        return planned[0].write.resolve(toSnapshot(base.head, planned[0].folded, stamp));\n" +
      "      }\n" +
      "      const answer = await sent;",
    subject: "memory",
    isQuick: true,
  },
  {
    name: "a refusal from what the cache holds",
    file: "store/writer.ts",
    right: "let isFresh = seen === undefined;",
    wrong: "let isFresh = true;",
    subject: "memory",
  },
  {
    name: "a merge that loses a branch",
    file: "document/merge.ts",
    right: "for (const item of before) list.push(item);",
    wrong: "if (after.length === 0) for (const item of before) list.push(item);",
    subject: "memory",
    isQuick: true,
  },
  {
    name: "a list that stops before what moved",
    file: "store/pages.ts",
    right: 'else if (direction === "down" && page.seq > top)',
    wrong: 'else if (direction === "down" && page.seq > Infinity)',
    subject: "memory",
  },
  {
    name: "a listener that skips what came while it read",
    file: "store/events.ts",
    right: "let until = first.seq;",
    wrong: "let until = first.seq + 1;",
    subject: "memory",
    isQuick: true,
  },
  {
    name: "a rewound store that no listener notices",
    file: "store/events.ts",
    right: "await isRewound(backend, user, cursor, first)",
    wrong: "await isRewound(backend, user, { seq: 0 }, first)",
    subject: "memory",
    plans: "failover",
    isQuick: true,
  },
  {
    name: "a sweep that does not look again",
    file: "backends/kv/sweep.ts",
    right: "if (!isPastDue(document.head, now)) continue;\n" +
      "      bury(connection, step, counter, wanted[i], document, toExpired(document.head));\n    }\n    step.check(entry);",
    wrong: "bury(connection, step, counter, wanted[i], document, toExpired(document.head));\n    }",
    subject: "kv",
    plans: "lives",
  },
  {
    name: "a step of Deno KV that does not check the head",
    inCampaign: true,
    file: "backends/kv/write.ts",
    right: "  if (!isPastDue(document.head, step.now)) {\n    step.check(entry);",
    wrong: "  if (!isPastDue(document.head, step.now)) {",
    subject: "kv",
  },
  {
    name: "a body of several chunks that is torn",
    file: "backends/kv/bodies.ts",
    right: "for (let i = this.#ahead; i < this.#chunks.length; i++)",
    wrong: "for (let i = this.#ahead; i < this.#chunks.length - 1; i++)",
    subject: "kv",
  },
  {
    name: "no version check, on Redis",
    inCampaign: true,
    file: "backends/redis/append_script.ts",
    right: "if head.version ~= version or head.writeId ~= writeId or head.turn ~= turn then",
    wrong: "if false then",
    subject: "redis",
    isQuick: true,
  },
  {
    name: "a journal row that is dropped, on Redis",
    file: "backends/redis/lua_write.ts",
    right: "local id = int(version) .. '-0'",
    wrong: "local id = int(version) .. '-0'\n  local call = version % 3 == 0 and function() end or call",
    subject: "redis",
  },
  {
    name: "a write that is sent twice and lands twice, on Redis",
    inCampaign: true,
    file: "backends/redis/append_script.ts",
    right: "and #since == drafts and",
    wrong: "and #since > drafts and",
    subject: "redis",
  },
  {
    name: "a creation that is sent twice and makes two, on Redis",
    file: "backends/redis/create_script.ts",
    right: "if first and",
    wrong: "if not first and",
    subject: "redis",
  },
  {
    name: "a write that may have landed and is said to have not, on Redis",
    file: "backends/redis/caller.ts",
    right: "mayHaveLanded ||= writes && error.sent",
    wrong: "mayHaveLanded = false",
    subject: "redis",
  },
  {
    name: "request ids that are not looked up, on Redis",
    file: "backends/redis/lua_write.ts",
    right: "if #flat > 0 then return",
    wrong: "if #flat > 99 then return",
    subject: "redis",
  },
  {
    name: "a document that is deleted whatever its version, on Redis",
    file: "backends/redis/change_scripts.ts",
    right: "if expected ~= '' and expected ~= head.version then",
    wrong: "if false then",
    subject: "redis",
  },
  {
    name: "an append that does not move its document in the list, on Redis",
    file: "backends/redis/append_script.ts",
    right: "redis.call('ZADD', KEYS[2], unpack(order))",
    wrong: "",
    subject: "redis",
  },
  {
    name: "a renewal that leaves the journal its old end, on Redis",
    file: "backends/redis/lua_write.ts",
    right: "call('PERSIST', KEYS[i])",
    wrong: "call('PERSIST', HEAD)",
    subject: "redis",
    plans: "lives",
  },
];

/** Whether a bug was caught, how soon and by which rules. */
export interface Caught {
  readonly bug: Bug;
  /** How many were needed, at most. */
  readonly runs: number;
  /** Of what. */
  readonly by: "plans" | "campaigns";
  readonly report?: string;
}

/** The text of a bug's file with the bug in it. @throws {Error} if what it replaces is not there just once. */
export async function faulty({ name, file, right, wrong }: Bug): Promise<string> {
  const parts = (await Deno.readTextFile(join(ROOT, "src", file))).split(right);
  if (parts.length === 2) return parts.join(wrong);
  throw new Error(`"${name}" cannot be planted: its text is ${parts.length - 1} times in ${file}`);
}

/** Plants a bug in a copy of `src/` and lets something be done with it. @throws {Error} as {@link faulty}. */
export async function withPlanted<T>(bug: Bug, use: (source: string, root: string) => Promise<T>): Promise<T> {
  const directory = await Deno.makeTempDir({ prefix: "mcpstate-planted-" });
  try {
    for (const part of ["src", "tests/proof"]) await copyTree(join(ROOT, part), join(directory, part));
    await Deno.copyFile(join(ROOT, "deno.json"), join(directory, "deno.json"));
    const path = join(directory, "src", bug.file);
    await Deno.writeTextFile(path, await faulty(bug));
    return await use(`file://${directory}/src`, directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** Plants a bug and looks for it in so many plans at most. */
export function plant(bug: Bug, seed: number, mostRuns: number): Promise<Caught> {
  return withPlanted(bug, async (source) => {
    const { runs, failure } = await hunt(bug.subject, await loadModules(source), {
      seed,
      runs: mostRuns,
      plans: bug.plans,
      first: true,
      control: await loadModules(`file://${ROOT}/src`),
    });
    return { bug, by: "plans", runs, ...(failure === undefined ? {} : { report: failure.report }) };
  });
}

/** Plants a bug in what several processes run. Answers what was wrong with their history, if it was noticed. */
export function plantInCampaign(bug: Bug, seed: number, mostRounds: number): Promise<Caught> {
  const { subject } = bug;
  const site: SiteName = subject === "memory" ? "sqlite" : subject;
  return withPlanted(bug, async (_source, root) => {
    for (let runs = 1; runs <= mostRounds; runs++) {
      const size = { seed: seed + runs, processes: 3, callers: 4, calls: 40, faults: 6, root };
      const [anomaly] = (await campaign(site, size)).anomalies;
      if (anomaly !== undefined) return { bug, by: "campaigns", runs, report: `${anomaly.rule}: ${anomaly.what}` };
    }
    return { bug, by: "campaigns", runs: mostRounds };
  });
}

async function copyTree(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (!isDirectory) await Deno.copyFile(join(from, name), join(to, name));
    else await copyTree(join(from, name), join(to, name));
  }
}
