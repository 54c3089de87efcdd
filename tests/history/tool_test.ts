import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { TurnPruned } from "../../src/document/errors.ts";
import { mergeToolState, type SessionState, type SessionUpdate } from "../../src/history/entry.ts";
import { readTurn, type Snapshots, type ThreadHistory } from "../../src/history/port.ts";
import { makeInspectState } from "../../src/history/tool.ts";

const KEY = "gazet/get_aoi/bbox";
const BOXES = { Copenhagen: [12.4, 55.5, 12.7, 55.8], Aarhus: [9.9, 56.1, 10.3, 56.2] };

function bbox(place: keyof typeof BOXES, turn: number): SessionUpdate {
  return { [KEY]: { value: BOXES[place], tool: "get_aoi", turn, inputs: { place } } };
}

/** A thread whose turns ended with these updates; turns before `from` are not kept. */
function threadOf(
  updates: readonly SessionUpdate[],
  from = 1,
): { readonly history: ThreadHistory; readonly state: SessionState } {
  const states: SessionState[] = [];
  for (const update of updates) states.push(mergeToolState(states.at(-1), update));
  const snapshots: Snapshots = {
    total: states.length,
    retained: [{ from, to: states.length }],
    at: (turn) => Promise.resolve(states[turn - 1]),
  };
  return { history: { snapshots: () => Promise.resolve(snapshots) }, state: states.at(-1) ?? {} };
}

/** What a call answers in a thread. */
function caller({ history, state }: ReturnType<typeof threadOf>, allowedKeys: readonly string[] = [KEY, "notes"]) {
  const { handler } = makeInspectState({ allowedKeys, history });
  return (args: unknown) => handler(args, { state, threadId: "compare-across-turns" });
}

Deno.test("inspect_state: Copenhagen in turn 1, Aarhus in turn 3, compared in turn 3", async () => {
  const ask = caller(threadOf([bbox("Copenhagen", 1), {}, bbox("Aarhus", 3)]));
  const note = "rewritten, 2 versions (turns 1, 3), last by get_aoi";
  assertEquals(
    await ask({}),
    `${KEY}: list[4] of 9.9 — ${note}; turn=1 reads the earlier\nnotes: not written yet`,
  );
  assertEquals(await ask({ key: KEY }), `[9.9,56.1,10.3,56.2]\n— ${note}; turn=1 reads the earlier`);
  assertEquals(await ask({ key: KEY, turn: 1 }), `As turn 1 ended:\n[12.4,55.5,12.7,55.8]\n— ${note}; this is 1 of 2`);
  assertStringIncludes(await ask({ key: KEY, turn: 2 }), "As turn 2 ended:\n[12.4");
  const both = await ask({ key: KEY, compare_turn: 1 });
  assertMatch(both, /^As turn 1 ended:\n\[12\.4[^]*\n\nNow:\n\[9\.9[^]*as a JSON Patch:\n\[\{"op":"replace"/);
  assertStringIncludes(await ask({ key: KEY, turn: 2, compare_turn: 1 }), "They are equal.");
});

Deno.test("inspect_state: where the last turn wrote a key twice, an older value is not told as the one before", async () => {
  const turns = [bbox("Copenhagen", 1), bbox("Aarhus", 3), bbox("Copenhagen", 3)];
  const state = turns.reduce<SessionState>((all, update) => mergeToolState(all, update), {});
  const ask = caller({ ...threadOf([turns[0], {}, turns[2]]), state });
  assertEquals(
    await ask({ key: KEY }),
    "[12.4,55.5,12.7,55.8]\n— rewritten, 3 versions (turns 1, 3), last by get_aoi; " +
      "turn=1 reads what it held before turn 3",
  );
});

Deno.test("inspect_state: a key written once says nothing about versions", async () => {
  const ask = caller(threadOf([bbox("Copenhagen", 1)]), [KEY]);
  assertEquals(await ask({ key: KEY }), "[12.4,55.5,12.7,55.8]");
  assertEquals(await ask({}), `${KEY}: list[4] of 12.4`);
});

Deno.test("inspect_state: seven turns whose last write was in turn 3", async () => {
  const ask = caller(threadOf([bbox("Copenhagen", 1), {}, bbox("Aarhus", 3), {}, {}, {}, {}]));
  assertStringIncludes(await ask({ key: KEY, turn: 5 }), "As turn 5 ended:\n[9.9");
  assertStringIncludes(await ask({ key: KEY, turn: 7 }), "As of turn 7 so far:\n[9.9");
});

Deno.test("inspect_state: a key first written in turn 4, read at turn 2", async () => {
  const ask = caller(threadOf([{}, {}, {}, bbox("Aarhus", 4), {}]));
  assertEquals(
    await ask({ key: KEY, turn: 2 }),
    `As turn 2 ended:\n"${KEY}" was not written yet at the end of turn 2: it was first written in turn 4.`,
  );
  assertEquals(await ask({ key: "notes" }), '"notes" was not written yet.');
});

Deno.test("inspect_state: turns that never were, and turns that are no longer retained", async () => {
  const two = caller(threadOf([{}, {}]));
  for (const turn of [0, -1, 9, 1_000_000]) {
    assertEquals(await two({ turn }), `There is no turn ${turn}: the turns so far are 1 to 2.`);
    assertEquals(await two({ compare_turn: turn }), `There is no turn ${turn}: the turns so far are 1 to 2.`);
  }
  const pruned = caller(threadOf([bbox("Copenhagen", 1), bbox("Aarhus", 2), {}, {}], 3));
  assertEquals(await pruned({ turn: 1 }), "Turn 1 is no longer retained. Turns that can be read: 3 to 4.");
  assertStringIncludes(await pruned({ key: KEY }), "last by get_aoi; the earlier is no longer retained");
  assertStringIncludes(await caller(threadOf([]))({ turn: 1 }), "there have been no turns yet");
});

Deno.test("readTurn: the four outcomes", () => {
  const thread = { total: 9, retained: [{ from: 2, to: 3 }, { from: 5, to: 9 }] };
  assertEquals(readTurn(thread, 3), { outcome: "retained", turn: 3, isLast: false });
  assertEquals(readTurn(thread, 9), { outcome: "retained", turn: 9, isLast: true });
  assertEquals(readTurn(thread, 4), { outcome: "pruned", turn: 4, retained: thread.retained });
  for (const turn of [0, -1, 10, 1.5, NaN]) assertEquals(readTurn(thread, turn), { outcome: "never", turn, total: 9 });
  assertEquals(readTurn(undefined, 1), { outcome: "not_kept" });
});

Deno.test("inspect_state: without a history, turns are not kept here", async () => {
  const { state } = threadOf([bbox("Copenhagen", 1), bbox("Aarhus", 2)]);
  const { handler, description } = makeInspectState({ allowedKeys: [KEY] });
  for (const args of [{ turn: 1 }, { key: KEY, turn: 1 }, { compare_turn: 1 }]) {
    assertStringIncludes((await handler(args, { state })).toLowerCase(), "turns are not kept here");
  }
  assertEquals(
    await handler({ key: KEY }, { state }),
    "[9.9,56.1,10.3,56.2]\n— rewritten, 2 versions (turns 1, 2), last by get_aoi",
  );
  assert(!description.includes("turn"));
});

Deno.test("inspect_state: keys that are not allowed are not there", async () => {
  const state = mergeToolState({}, { secret: { value: "s3cret", tool: "t" }, open: { value: 1, tool: "t" } });
  const { handler } = makeInspectState({ allowedKeys: (key) => key !== "secret" });
  assertEquals(await handler({}, { state }), "open: 1");
  assertEquals(await handler({ key: "secret" }, { state }), 'There is no key "secret". The keys: "open".');
  assertEquals(await handler({ pattern: "s3cret" }, { state }), 'None of 1 line matches "s3cret".');
  assertStringIncludes(await handler({ path: "/secret" }, { state }), "There is nothing at");
});

Deno.test("inspect_state: an evicted key answers evicted", async () => {
  const write = (key: string) => ({ [key]: { value: "x".repeat(1_000), tool: "get_aoi", turn: 1 } });
  const state = ["a", "b"].reduce<SessionState>((all, key) => mergeToolState(all, write(key), 1_500), {});
  const { handler } = makeInspectState({ allowedKeys: ["a", "b"] });
  assertStringIncludes(await handler({ key: "a" }, { state }), '"a" was evicted: it was written, last by get_aoi');
  assertEquals(await handler({}, { state }), "b: str(1000 chars)\na: evicted");
});

Deno.test("inspect_state: entries that somebody else counted", async () => {
  const state: SessionState = { [KEY]: { value: 2, tool: "get_aoi", seq: 5, turn: 4, turnsWritten: 3, versions: 2 } };
  const ask = caller({ ...threadOf([{}, {}, {}, {}]), state });
  assertStringIncludes(
    await ask({ key: KEY }),
    "rewritten, 2 versions (turns …, 4), last by get_aoi; turn=3 reads what it held before turn 4",
  );
  const bare = caller({ ...threadOf([{}, {}]), state: { [KEY]: { value: 2, tool: "get_aoi", seq: 5 } } });
  assertEquals(await bare({ key: KEY }), "2");
  assertEquals(
    await bare({ key: KEY, turn: 1 }),
    `As turn 1 ended:\n"${KEY}" was not written yet at the end of turn 1: it was written later.`,
  );
});

Deno.test("inspect_state: arguments that make no sense are answered, null is absent", async () => {
  const ask = caller(threadOf([bbox("Aarhus", 1)]), [KEY]);
  assertEquals(await ask({ key: KEY, turn: null, pattern: null, path: null }), "[9.9,56.1,10.3,56.2]");
  assertEquals(await ask(null), `${KEY}: list[4] of 9.9`);
  assertStringIncludes(await ask({ turn: "1" }), "turn must be a whole number");
  assertStringIncludes(await ask({ key: 7 }), "key must be a text");
  assertStringIncludes(await ask({ constructor: 1 }), 'There is no argument "constructor"');
  assertStringIncludes(await ask([]), "must be an object");
  assertStringIncludes(await ask({ key: KEY, path: "a..b" }), "empty segment");
  for (const key of ["__proto__", "constructor", "a/b", "a.b", ""]) assert((await ask({ key, turn: 1 })).length > 0);
});

Deno.test("inspect_state: a failing history is a failure, not an absence", async () => {
  const history: ThreadHistory = { snapshots: () => Promise.reject(new Error("the database is gone")) };
  const { handler } = makeInspectState({ allowedKeys: [KEY], history });
  await assertRejects(() => handler({ turn: 1 }, { state: {}, threadId: "t" }), Error, "the database is gone");
});

Deno.test("inspect_state: the schema is a flat object", () => {
  const { name, schema } = makeInspectState({ allowedKeys: [KEY] });
  assertEquals(name, "inspect_state");
  assertEquals(Object.keys(schema.properties ?? {}), ["key", "pattern", "path", "turn", "compare_turn"]);
  assertEquals([schema.type, schema.additionalProperties], ["object", false]);
});

Deno.test("inspect_state: a turn that is pruned while it is asked for is no longer retained", async () => {
  const { history, state } = threadOf([bbox("Copenhagen", 1), bbox("Aarhus", 2)]);
  const pruning: ThreadHistory = {
    snapshots: async (threadId) => ({
      ...await history.snapshots(threadId),
      at: (turn) => Promise.reject(new TurnPruned(turn, { from: 2, to: 2 })),
    }),
  };
  const { handler } = makeInspectState({ allowedKeys: [KEY], history: pruning });
  assertEquals(
    await handler({ key: KEY, turn: 1 }, { state, threadId: "t" }),
    "Turn 1 is no longer retained. Turns that can be read: 2.",
  );
});
