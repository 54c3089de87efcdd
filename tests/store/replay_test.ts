import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Backend } from "../../src/backends/backend.ts";
import { openSqliteBackend } from "../../src/backends/sqlite.ts";
import { equal, type JsonObject, type JsonValue } from "../../src/document/json.ts";
import { EMPTY, fold, type Folded } from "../../src/document/journal.ts";
import type { KeyWrites } from "../../src/document/key_writes.ts";
import { decodeKeyframe, firstEntry } from "../../src/document/keyframe.ts";
import { addToSet, append, delKey, mergeInto, removeValue, setKey } from "../../src/document/ops.ts";
import type { Snapshot } from "../../src/document/snapshot.ts";
import { HandleStore } from "../../src/store/store.ts";

const alice = { user: "alice" };
const FROM_START = { version: 0, writeId: "" };

const keyName = fc.constantFrom("a", "b", "list", "a/b", "~", "", "constructor", "東京");
const value: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constantFrom<JsonValue>(null, true, false, 0, 1, "", "1", [], {}, [1], { a: 1, b: 2 }, { b: 2, a: 1 }),
  fc.string({ maxLength: 20 }).map((text) => text.toWellFormed()),
  fc.integer({ min: 1_000, max: 30_000 }).map((size) => "n".repeat(size)),
);
const state = fc.dictionary(keyName, value, { maxKeys: 5 }).map((entries): JsonObject => ({ ...entries }));
const operation = fc.oneof(
  fc.tuple(keyName, value).map(([key, value]) => ({ key, op: setKey("", key, value) })),
  keyName.map((key) => ({ key, op: delKey("", key) })),
  value.map((value) => ({ key: "list", op: append("list", value, { create: true }) })),
  value.map((value) => ({ key: "list", op: addToSet("list", value, { create: true }) })),
  value.map((value) => ({ key: "list", op: removeValue("list", value, { create: true }) })),
  fc.tuple(keyName, value).map(([key, value]) => ({ key, op: mergeInto({ [key]: value }) })),
);
const operations = fc.array(operation, { minLength: 1, maxLength: 4 })
  .map((all) => all.map(({ op }) => op));
const turn = fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined });
const writer = fc.constantFrom("laptop", "phone");
const step = fc.oneof(
  fc.record({
    do: fc.constant("patch" as const),
    ops: operations,
    turn,
    writer,
  }),
  fc.record({ do: fc.constant("save" as const), state, turn, writer }),
  fc.record({ do: fc.constant("restore" as const), back: fc.nat(9), turn, writer }),
  fc.record({ do: fc.constant("touch" as const), turn: fc.integer({ min: 1, max: 12 }) }),
);

Deno.test("journal: replayed from its start or from any keyframe gives every state and every key's past", async () => {
  await fc.assert(
    fc.asyncProperty(state, turn, fc.array(step, { minLength: 5, maxLength: 40 }), async (first, turn, steps) => {
      await using backend = await openSqliteBackend();
      const store = new HandleStore(backend);
      const { handle } = await store.create("research", first, { ...alice, turn, writer: "laptop" });
      for (const each of steps) await take(store, handle, each);
      const cold = new HandleStore(backend, { cacheBytes: 0 });
      const { currentVersion } = await cold.get(handle, alice);
      const snapshots: Snapshot[] = [];
      for (let version = 1; version <= currentVersion; version++) {
        snapshots.push(await cold.get(handle, { ...alice, version }));
      }
      const key = { user: "alice", id: handle };
      const expected = recount(snapshots);
      for (const { version, state, bytes } of snapshots) {
        const whole = await foldOf(backend, key, version, FROM_START);
        assertEquals([whole.state, whole.bytes], [state, bytes]);
        assertEquals(new TextEncoder().encode(JSON.stringify(state)).length, bytes);
        assertEquals(new Map(whole.keys), expected[version - 1], `the keys' past at version ${version}`);
        assertEquals(new Map((await foldOf(backend, key, version)).keys), expected[version - 1]);
      }
      assert(equal((await store.get(handle, alice)).state, snapshots[currentVersion - 1].state));
    }),
    { numRuns: 60 },
  );
});

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

async function take(store: HandleStore, handle: string, each: Step): Promise<void> {
  const { version, state } = await store.get(handle, alice);
  const { turn } = each;
  if (each.do === "touch") {
    await store.touch(handle, { ...alice, turn });
    return;
  }
  const { writer } = each;
  switch (each.do) {
    case "patch": {
      const fits = Array.isArray(state.list) || !Object.hasOwn(state, "list");
      const ops = fits ? each.ops : [delKey("", "list")];
      await store.patch(handle, ops, { ...alice, turn, writer }).catch(() => undefined);
      return;
    }
    case "save":
      await store.save(handle, each.state, { ...alice, turn, writer, expectVersion: version });
      return;
    case "restore": {
      const old = Math.max(1, version - each.back);
      await store.restore(handle, old, { ...alice, turn, writer, expectVersion: version });
    }
  }
}

/** A version folded from what the backend leads to it from. */
async function foldOf(
  backend: Backend,
  key: { user: string; id: string },
  version: number,
  held?: typeof FROM_START,
): Promise<Folded> {
  const found = await backend.read(key, { as: "version", version }, held);
  assert(found.outcome === "found" && found.onto !== "held");
  const { onto, entries } = found;
  const base = onto === "nothing" ? EMPTY : decodeKeyframe(onto, entries[0]);
  assert(base !== undefined);
  return fold(base, onto === "nothing" || firstEntry(onto) > onto.version ? entries : entries.slice(1));
}

/** Every key's past, counted from whole states: what the journal must say without them. */
function recount(snapshots: readonly Snapshot[]): Map<string, KeyWrites>[] {
  const all: Map<string, KeyWrites>[] = [];
  let before: JsonObject = {};
  let past = new Map<string, KeyWrites>();
  for (const { state, version, turn, lastWriter: writer } of snapshots) {
    past = new Map(past);
    for (const key of new Set([...Object.keys(before), ...Object.keys(state)])) {
      const same = Object.hasOwn(before, key) && Object.hasOwn(state, key) && equal(before[key], state[key]);
      if (!same) past.set(key, count(past.get(key), { version, turn, writer }, Object.hasOwn(state, key)));
    }
    all.push(past);
    before = state;
  }
  return all;
}

function count(known: KeyWrites | undefined, last: KeyWrites["last"], isThere: boolean): KeyWrites {
  const { version, turn } = last;
  const previous = known === undefined || known.isRemoved
    ? known?.previous
    : { turn: known.last.turn, until: { version, turn } };
  const isNew = turn > (known?.last.turn ?? 0);
  return {
    versions: (known?.versions ?? 0) + 1,
    turns: (known?.turns ?? 0) + (isNew ? 1 : 0),
    first: known?.first ?? { version, turn },
    last,
    recentTurns: [...known?.recentTurns ?? [], ...(isNew ? [turn] : [])].slice(-16),
    ...(previous === undefined ? {} : { previous }),
    ...(isThere ? {} : { isRemoved: true }),
  };
}
