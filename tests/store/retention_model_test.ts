/**
 * Retention against a model that keeps everything: what may be read, what is pruned, what never was.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { openKvBackend } from "../../src/backends/kv.ts";
import { openSqliteBackend } from "../../src/backends/sqlite.ts";
import { append } from "../../src/document/ops.ts";
import type { JsonValue } from "../../src/document/json.ts";
import type { GetOptions } from "../../src/store/options.ts";
import { HandleStore } from "../../src/store/store.ts";
import { MemoryServer } from "../proof/memory.ts";

const DAY = 86_400_000;
const alice = { user: "alice" };

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("write" as const), turn: fc.nat(2), size: fc.nat(3_000) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("wait" as const), days: fc.integer({ min: 1, max: 30 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("sweep" as const) }) },
);
const retention = fc.oneof(
  fc.record({ versions: fc.integer({ min: 1, max: 6 }) }),
  fc.record({ versions: fc.constantFrom(3, Infinity), days: fc.integer({ min: 1, max: 40 }) }),
);

/** What the model keeps of a version. */
interface Kept {
  readonly at: number;
  readonly turn: number;
  readonly state: JsonValue;
}

const BACKENDS = {
  memory: (now: () => number) => Promise.resolve(new MemoryServer(now).connect()),
  sqlite: (now: () => number) => openSqliteBackend({ now }),
  kv: (now: () => number) => openKvBackend({ path: ":memory:", now }),
} as const;

for (const [name, open] of Object.entries(BACKENDS)) {
  Deno.test(`retention over ${name}: every version, turn and time is what it was, is pruned, or never was`, async () => {
    const property = fc.asyncProperty(
      retention,
      fc.array(step, { minLength: 1, maxLength: 30 }),
      async (kept, steps) => {
        let now = Date.UTC(2026, 6, 1);
        const { now: real } = Date;
        Date.now = () => now; // by which the store judges what age is kept
        try {
          await using backend = await open(() => now);
          await check(
            new HandleStore(backend, { retention: kept }),
            kept,
            steps,
            (days) => now += days * DAY,
            () => now,
          );
        } finally {
          Date.now = real;
        }
      },
    );
    await fc.assert(property, { numRuns: name === "memory" ? 150 : 40 });
  });
}

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

async function check(
  store: HandleStore,
  { versions, days = Infinity }: { readonly versions: number; readonly days?: number },
  steps: readonly Step[],
  wait: (days: number) => void,
  now: () => number,
): Promise<void> {
  const first = { items: [] as string[] };
  const handle = await store.mint("log", first, { ...alice, turn: 1 });
  const all: Kept[] = [{ at: now(), turn: 1, state: first }];
  let oldest = 1;
  for (const each of steps) {
    if (each.do === "wait") wait(each.days);
    else if (each.do === "sweep") {
      await store.sweep("alice");
      // The last version that was not after then was current so long ago.
      const then = all.findLastIndex(({ at }) => at <= now() - days * DAY);
      oldest = Math.max(oldest, then + 1);
    } else {
      const item = `${all.length} ${"x".repeat(each.size)}`;
      const turn = all[all.length - 1].turn + each.turn;
      const { state } = await store.patch(handle, [append("items", item)], { ...alice, turn });
      all.push({ at: now(), turn, state });
      oldest = Math.max(oldest, all.length - versions + 1);
    }
    const { changes, oldestVersion, currentVersion } = await store.changes(handle, { ...alice });
    assertEquals(currentVersion, all.length);
    // A write may have judged ages too, when it laid a keyframe: never more than a sweep would.
    const then = all.findLastIndex(({ at }) => at <= now() - days * DAY);
    assert(oldestVersion >= oldest && oldestVersion <= Math.max(oldest, then + 1), `${oldestVersion}, not ${oldest}`);
    oldest = oldestVersion;
    assertEquals(changes[0].version, Math.max(oldest, all.length - 99));
  }
  await judge(store, handle, all, oldest, now());
}

async function judge(store: HandleStore, handle: string, all: readonly Kept[], oldest: number, now: number) {
  const read = async (options: Omit<GetOptions, "user">) => {
    try {
      const { version, state } = await store.get(handle, { ...alice, ...options });
      assertEquals(state, all[version - 1].state);
      return version;
    } catch (error) {
      const { code, retained } = Object(error).toPayload();
      if (code === "version_pruned") assertEquals(retained, { from: oldest, to: all.length });
      return code;
    }
  };
  const told = (version: number, pruned: string) => version >= oldest ? version : pruned;
  for (let version = -1; version <= all.length + 1; version++) {
    const isOne = version >= 1 && version <= all.length;
    assertEquals(await read({ version }), isOne ? told(version, "version_pruned") : "version_not_found", `${version}`);
  }
  const last = all[all.length - 1].turn;
  for (let turn = 0; turn <= last + 1; turn++) {
    const version = all.findLastIndex((each) => each.turn <= turn) + 1;
    const isOne = turn >= 1 && turn <= last;
    assertEquals(await read({ turn }), isOne ? told(version, "turn_pruned") : "turn_not_found", `turn ${turn}`);
  }
  for (const at of [...all.map(({ at }) => at), all[0].at - 1, now + DAY]) {
    const version = all.findLastIndex((each) => each.at <= at) + 1;
    assertEquals(await read({ at }), version === 0 ? "version_not_found" : told(version, "version_pruned"), `${at}`);
  }
}
