import { assert, assertEquals, assertMatch } from "@std/assert";
import fc from "fast-check";
import { openSqliteBackend } from "../../src/backends/sqlite.ts";
import type { JsonValue } from "../../src/document/json.ts";
import { isEvicted, type SessionState } from "../../src/history/entry.ts";
import { openThreads } from "../../src/history/threads.ts";
import { makeInspectState } from "../../src/history/tool.ts";
import { HandleStore } from "../../src/store/store.ts";

const KEYS = ["bbox", "a/b", "a.b", "constructor", "", "🏝️", "*"];

/** What a host does: writes of a tool, or the beginning of a turn. Turns are given as steps from the current one. */
const steps = fc.array(
  fc.record({
    ahead: fc.constantFrom(-2, 0, 0, 1, 1, 3),
    writes: fc.uniqueArray(
      fc.record({ key: fc.constantFrom(...KEYS), value: fc.constantFrom<JsonValue>(1, 2, "x", null) }),
      {
        selector: ({ key }) => key,
        maxLength: 3,
      },
    ),
  }),
  { minLength: 1, maxLength: 12 },
);

function valuesOf(session: SessionState): Map<string, JsonValue | undefined> {
  return new Map(Object.entries(session).map(([key, entry]) => [key, isEvicted(entry) ? undefined : entry.value]));
}

Deno.test("property: every turn of a thread reads as it ended, and the call that a note names reads another value", async () => {
  const store = new HandleStore(await openSqliteBackend({ path: ":memory:" }));
  const threads = openThreads(store, { user: "alice" });
  let count = 0;
  let followed = 0;
  await fc.assert(
    fc.asyncProperty(steps, async (plan) => {
      const id = `thread ${count++}`;
      const ends: Map<string, JsonValue>[] = [];
      let turn = 1;
      let now = new Map<string, JsonValue>();
      for (const { ahead, writes } of plan) {
        const named = Math.max(1, turn + ahead);
        while (turn < named) ends[turn++] = new Map(now);
        const update = writes.map(({ key, value }) => [key, { value, tool: "tool" }] as const);
        if (update.length === 0) await threads.advance(id, named);
        else await threads.publish(id, Object.fromEntries(update), { turn: named });
        now = new Map([...now, ...writes.map(({ key, value }) => [key, value] as const)]);
      }
      ends[turn] = new Map(now);
      const past = await threads.snapshots(id);
      assertEquals([past.total, past.retained], [turn, [{ from: 1, to: turn }]]);
      for (let each = 1; each <= turn; each++) assertEquals(valuesOf(await past.at(each)), ends[each], `turn ${each}`);

      const { state } = await threads.state(id);
      const { handler } = makeInspectState({ allowedKeys: () => true, history: threads });
      for (const [key, value] of now) {
        if (key === "*") continue; // lists all keys
        const answer = await handler({ key }, { state, threadId: id });
        const call = /; turn=(\d+) reads the earlier$/.exec(answer);
        if (call === null) continue;
        followed++;
        const earlier = ends[Number(call[1])];
        assertEquals(earlier.has(key) && earlier.get(key) !== value, true, `${key}: ${answer}`);
      }
    }),
    { numRuns: 150 },
  );
  assert(followed > 50, "notes were followed");
  await store.close();
});

const pressed = fc.array(
  fc.record({
    ahead: fc.constantFrom(-1, 0, 0, 1, 1, 2),
    writes: fc.uniqueArray(
      fc.record({ key: fc.constantFrom("a", "b", "c", "d"), length: fc.constantFrom(1, 2, 300, 700, 1_100) }),
      { selector: ({ key }) => key, minLength: 1, maxLength: 3 },
    ),
  }),
  { minLength: 2, maxLength: 14 },
);

Deno.test("property: whatever was dropped or pruned, a call that is named reads a value, and the newest write is there", async () => {
  const backend = await openSqliteBackend({ path: ":memory:" });
  const stores = [Infinity, 3].map((versions) =>
    new HandleStore(backend, { maxStateBytes: 2_000, retention: { versions } })
  );
  let count = 0;
  let followed = 0;
  await fc.assert(
    fc.asyncProperty(pressed, fc.constantFrom(...stores), async (plan, store) => {
      const threads = openThreads(store, { user: "alice" });
      const id = `thread ${count++}`;
      const { handler } = makeInspectState({ allowedKeys: () => true, history: threads });
      let turn = 1;
      for (const [i, { ahead, writes }] of plan.entries()) {
        const named = Math.max(1, turn + ahead);
        turn = Math.max(turn, named);
        const update = writes.map(({ key, length }) => [key, { value: `${i} ${"x".repeat(length)}`, tool: "tool" }]);
        const { state } = await threads.publish(id, Object.fromEntries(update), { turn: named });
        const ask = (args: object) => handler(args, { state, threadId: id });
        assertEquals("evicted" in state[writes[writes.length - 1].key], false, "the newest write");
        for (const key of ["a", "b", "c", "d"]) {
          const answer = await ask({ key });
          for (const [, called] of answer.matchAll(/turn=(\d+) reads/g)) {
            followed++;
            const read = await ask({ key, turn: Number(called) });
            assertMatch(read, /^As turn \d+ ended:\n"\d/, `${answer}\nled to\n${read}`);
          }
        }
      }
    }),
    { numRuns: 120 },
  );
  assert(followed > 200, "notes were followed");
  await backend[Symbol.asyncDispose]();
});
