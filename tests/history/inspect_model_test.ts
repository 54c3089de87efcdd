/**
 * What `inspect_state` says of a document's keys, against whole states that are kept aside: listings, values, notes.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { openSqliteBackend } from "../../src/backends/sqlite.ts";
import { PathNotFound } from "../../src/document/errors.ts";
import { equal, type JsonObject, type JsonValue } from "../../src/document/json.ts";
import { shapeOf } from "../../src/document/outline.ts";
import { inspectHandle } from "../../src/history/handles.ts";
import { renderReading } from "../../src/history/render.ts";
import { HandleStore } from "../../src/store/store.ts";

const KEYS = ["bbox", "a/b", "a.b", "constructor", "", "東京", "~"] as const;
const value = fc.constantFrom<JsonValue>(null, 0, 1, true, "x", [9.9, 1], {}, { a: [1] });
const write = fc.record({
  edits: fc.array(fc.tuple(fc.constantFrom(...KEYS), fc.option(value, { freq: 4, nil: undefined })), {
    minLength: 1,
    maxLength: 3,
  }),
  ahead: fc.nat(2),
  writer: fc.constantFrom("phone", "laptop"),
});

/** A version, kept whole. */
interface Kept {
  readonly state: JsonObject;
  readonly turn: number;
  readonly writer: string;
}

/** The versions in which a key changed, up to one of them. */
function changesOf(all: readonly Kept[], key: string, upTo: number): number[] {
  const at = (version: number): JsonValue | undefined =>
    version > 0 && Object.hasOwn(all[version - 1].state, key) ? all[version - 1].state[key] : undefined;
  return Array.from({ length: upTo }, (_, i) => i + 1).filter((version) => {
    const [before, after] = [at(version - 1), at(version)];
    return before === undefined || after === undefined ? before !== after : !equal(before, after);
  });
}

Deno.test("inspect: of every key at every version says what it held, how often it changed, and what reads the earlier", async () => {
  let followed = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(write, { minLength: 1, maxLength: 12 }), async (writes) => {
      await using backend = await openSqliteBackend();
      const store = new HandleStore(backend);
      const { handle } = await store.create("research", {}, { user: "alice", writer: "phone", turn: 1 });
      const all: Kept[] = [{ state: {}, turn: 1, writer: "phone" }];
      for (const { edits, ahead, writer } of writes) {
        const last = all[all.length - 1];
        const state: Record<string, JsonValue> = { ...last.state };
        for (const [key, value] of edits) {
          if (value === undefined) delete state[key];
          else state[key] = value;
        }
        const turn = last.turn + ahead;
        await store.save(handle, state, { user: "alice", writer, turn, expectVersion: all.length });
        all.push({ state, turn, writer });
      }
      const inspect = async (version: number, key?: string) =>
        (await inspectHandle(store, "alice", { handle, version, key })).reading;
      for (let version = 1; version <= all.length; version++) {
        const { state } = all[version - 1];
        const listing = await inspect(version);
        assert(listing.outcome === "keys" && listing.omitted === 0);
        assertEquals(
          Object.fromEntries(listing.keys.map(({ key, shape }) => [key, shape])),
          Object.fromEntries(Object.entries(state).map(([key, value]) => [key, shapeOf(value)])),
        );
        assert(!renderReading(listing).includes("current"), "a version is not what is current");
        for (const { key, note } of listing.keys) followed += await checkNote(store, handle, all, version, key, note);
        for (const key of KEYS) await checkKey(await reading(() => inspect(version, key)), all, version, key);
      }
    }),
    { numRuns: 60 },
  );
  assert(followed > 20, `${followed} notes were followed`);
});

/** Answers 1 if the note names a call, which then was made. */
async function checkNote(
  store: HandleStore,
  handle: string,
  all: readonly Kept[],
  version: number,
  key: string,
  note: string | undefined,
): Promise<number> {
  const changes = changesOf(all, key, all.length);
  if (changes.length < 2) {
    assertEquals(note, undefined);
    return 0;
  }
  assert(note !== undefined, `${key} at ${version}`);
  assertStringIncludes(note, `${changes.length} versions`);
  assertStringIncludes(note, `last by ${all[changes[changes.length - 1] - 1].writer}`);
  const here = changesOf(all, key, version).length;
  assertEquals(note.includes(`this is ${here} of ${changes.length}`), here < changes.length, note);
  const [, kind, number] = /(turn|version)=(\d+) reads the earlier$/.exec(note) ?? [];
  if (kind === undefined) return 0;
  const { state, version: earlier } = await store.get(handle, { user: "alice", [kind]: Number(number) });
  const now = all[version - 1].state[key];
  // What was taken out may have been put in again as it was.
  const wasOut = all.slice(earlier, version).some(({ state }) => !Object.hasOwn(state, key));
  const isOther = wasOut || !equal(state[key], now);
  assert(Object.hasOwn(state, key) && isOther, `${note}: ${JSON.stringify(state[key])}`);
  return 1;
}

async function reading<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof PathNotFound) return undefined; // never written at all
    throw error;
  }
}

type Reading = Awaited<ReturnType<typeof inspectHandle>>["reading"];

function checkKey(answer: Reading | undefined, all: readonly Kept[], version: number, key: string): void {
  const { state } = all[version - 1];
  const changes = changesOf(all, key, all.length);
  const before = changesOf(all, key, version);
  if (Object.hasOwn(state, key)) {
    assert(answer?.outcome === "value", answer?.outcome);
    assertEquals(answer.value, state[key]);
  } else if (key === "" && answer?.outcome === "keys") return; // where there is none of that name, no key is meant
  else if (changes.length === 0) assertEquals(answer, undefined);
  else if (before.length === 0) {
    assert(answer?.outcome === "not_written_yet", answer?.outcome);
    assertEquals(answer.first, { version: changes[0], turn: all[changes[0] - 1].turn });
  } else {
    assert(answer?.outcome === "removed", answer?.outcome);
    const by = before[before.length - 1];
    assertEquals(answer.by, { version: by, turn: all[by - 1].turn, writer: all[by - 1].writer });
  }
}
