/**
 * Faulty variants of the code under test: each is `src/` with one text in one file replaced, and each must be caught.
 *
 * @module
 */

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { hunt } from "./simulate.ts";
import { loadModules, type SubjectName } from "./subjects.ts";

/** A bug, and where it is looked for. */
export interface Bug {
  readonly name: string;
  /** Below `src/`. */
  readonly file: string;
  /** Stands in the file just once. */
  readonly right: string;
  readonly wrong: string;
  readonly subject: SubjectName;
  readonly failover?: boolean;
  /** Whether a few plans are enough to find it. */
  readonly isQuick?: true;
}

/** All that are planted. */
export const BUGS: readonly Bug[] = [
  {
    name: "no version check",
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
    failover: true,
  },
  {
    name: "a cache that does not ask for the head",
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
    right: "if (await isRewound(backend, user, cursor, first))",
    wrong: "if (await isRewound(backend, user, { seq: 0 }, first))",
    subject: "memory",
    failover: true,
    isQuick: true,
  },
  {
    name: "a sweep that does not look again",
    file: "backends/kv/sweep.ts",
    right: "if (!isPastDue(document.head, now)) continue;",
    wrong: "",
    subject: "kv",
  },
  {
    name: "a step of Deno KV that does not check the head",
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
];

const SOURCE = fileURLToPath(new URL("../../src", import.meta.url));

/** Whether a bug was caught, how soon and by which rules. */
export interface Caught {
  readonly bug: Bug;
  readonly runs: number;
  readonly report?: string;
}

/** Plants a bug in a copy of `src/` and looks for it in so many plans at most. @throws {Error} if the text that it replaces is not there just once. */
export async function plant(bug: Bug, seed: number, mostRuns: number): Promise<Caught> {
  const directory = await Deno.makeTempDir({ prefix: "mcpstate-planted-" });
  try {
    await copyTree(SOURCE, directory);
    const path = join(directory, bug.file);
    const parts = (await Deno.readTextFile(path)).split(bug.right);
    if (parts.length !== 2) {
      throw new Error(`"${bug.name}" cannot be planted: its text is ${parts.length - 1} times in ${bug.file}`);
    }
    await Deno.writeTextFile(path, parts.join(bug.wrong));
    if (mostRuns === 0) return { bug, runs: 0 };
    const modules = await loadModules(`file://${directory}`);
    const { runs, failure } = await hunt(bug.subject, modules, {
      seed,
      runs: mostRuns,
      failover: bug.failover,
      first: true,
      control: await loadModules(`file://${SOURCE}`),
    });
    return { bug, runs, ...(failure === undefined ? {} : { report: failure.report }) };
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

async function copyTree(from: string, to: string): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (!isDirectory) await Deno.copyFile(join(from, name), join(to, name));
    else {
      await Deno.mkdir(join(to, name));
      await copyTree(join(from, name), join(to, name));
    }
  }
}
