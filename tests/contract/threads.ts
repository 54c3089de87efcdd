/**
 * What threads must keep over every backend.
 *
 * @module
 */

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  HandleExpired,
  HandleNotFound,
  InvalidInput,
  StateTooLarge,
  TurnNotFound,
  TurnPruned,
} from "../../src/document/errors.ts";
import { isEvicted, type SessionUpdate } from "../../src/history/entry.ts";
import { readThreadKey } from "../../src/history/thread_reading.ts";
import type { ForkPoint } from "../../src/history/thread_fork.ts";
import { openThreads, type Threads } from "../../src/history/threads.ts";
import { makeInspectState } from "../../src/history/tool.ts";
import type { HandleStoreOptions } from "../../src/store/options.ts";
import { HandleStore } from "../../src/store/store.ts";
import { seconds, until } from "./drafts.ts";
import type { Target } from "./target.ts";

const KEY = "gazet/get_aoi/bbox";
const BOXES = { Copenhagen: [12.4, 55.5, 12.7, 55.8], Aarhus: [9.9, 56.1, 10.3, 56.2] };
const user = "alice";

function bbox(place: keyof typeof BOXES): SessionUpdate {
  return { [KEY]: { value: BOXES[place], tool: "get_aoi", inputs: { place } } };
}

function note(text: string): SessionUpdate {
  return { notes: { value: text, tool: "write_note" } };
}

function strangersOf(store: HandleStore): Threads {
  return openThreads(store, { user: "bob" });
}

/** Runs the cases on one engine; each test gets a target of its own. */
export function threadsContract(name: string, makeTarget: () => Promise<Target>): void {
  const contract = (
    title: string,
    body: (threads: Threads, open: (options?: HandleStoreOptions) => Promise<HandleStore>) => Promise<void>,
  ) => {
    Deno.test(`${name} threads: ${title}`, async () => {
      await using target = await makeTarget();
      await using opened = new AsyncDisposableStack();
      const open = async (options?: HandleStoreOptions) => opened.use(new HandleStore(await target.open(), options));
      await body(openThreads(await open(), { user }), open);
    });
  };

  contract(
    "Copenhagen in turn 1, Aarhus in turn 3, compared by turn, and said when the first is pruned",
    async (_, open) => {
      const threads = openThreads(await open({ retention: { versions: 3 } }), { user });
      const id = "thread/4711";
      const { handler } = makeInspectState({ allowedKeys: [KEY, "notes"], history: threads });
      const ask = async (args: object) => await handler(args, { ...await threads.state(id), threadId: id });
      assertEquals(await ask({}), `${KEY}: not written yet\nnotes: not written yet`);
      assertEquals(await ask({ turn: 1 }), "There is no turn 1: there have been no turns yet.");
      await threads.publish(id, bbox("Copenhagen"), { turn: 1 });
      await threads.advance(id, 2);
      await threads.publish(id, bbox("Aarhus"), { turn: 3 });
      const history = "rewritten, 2 versions (turns 1, 3), last by get_aoi";
      assertEquals(
        await ask({}),
        `${KEY}: list[4] of 9.9 — ${history}; turn=1 reads the earlier\nnotes: not written yet`,
      );
      assertEquals(
        await ask({ key: KEY, turn: 1 }),
        `As turn 1 ended:\n[12.4,55.5,12.7,55.8]\n— ${history}; this is 1 of 2`,
      );
      assertEquals(
        await ask({ key: KEY, turn: 2 }),
        `As turn 2 ended:\n[12.4,55.5,12.7,55.8]\n— ${history}; this is 1 of 2`,
      );
      assertEquals(
        await ask({ key: KEY, turn: 3 }),
        `As of turn 3 so far:\n[9.9,56.1,10.3,56.2]\n— ${history}; turn=1 reads the earlier`,
      );
      const compared = await ask({ key: KEY, turn: 3, compare_turn: 1 });
      assert(compared.startsWith("As turn 1 ended:\n[12.4,55.5,12.7,55.8]"), compared);
      assert(compared.includes("As of turn 3 so far:\n[9.9,56.1,10.3,56.2]"), compared);
      assertEquals(
        await ask({ key: "notes", turn: 1 }),
        'As turn 1 ended:\n"notes" was not written yet at the end of turn 1.',
      );
      assertEquals(await ask({ turn: 4 }), "There is no turn 4: the turns so far are 1 to 3.");
      await threads.publish(id, note("rents"), { turn: 4 });
      await threads.publish(id, note("parks"), { turn: 5 });
      assertEquals(
        await ask({ key: KEY, turn: 1 }),
        "Turn 1 is no longer retained. Turns that can be read: 3 to 5.",
      );
      assert((await ask({ key: KEY })).endsWith("the earlier is no longer retained"), await ask({ key: KEY }));
    },
  );

  contract("a write of several keys is one version, and of many at once none is lost", async (threads, open) => {
    const both = await threads.publish("t", { ...bbox("Copenhagen"), ...note("rents") }, { turn: 1 });
    assertEquals([both.version, both.turn, Object.keys(both.state)], [1, 1, [KEY, "notes"]]);
    assertEquals(both.state[KEY], {
      value: BOXES.Copenhagen,
      tool: "get_aoi",
      seq: 1,
      turn: 1,
      inputs: { place: "Copenhagen" },
      turnsWritten: 1,
      versions: 1,
      turnsChanged: [1],
    });
    const others = await Promise.all([open(), open()]);
    const all = [threads, ...others.map((store) => openThreads(store, { user }))];
    const writes = Array.from({ length: 24 }, (_, i) => {
      return all[i % 3].publish("t", { [`key ${i}`]: { value: i, tool: "count" } }, { turn: 2 });
    });
    await Promise.all(writes);
    const { state, version } = await all[1].state("t");
    const seqs = Array.from({ length: 24 }, (_, i) => state[`key ${i}`].seq);
    assertEquals(seqs.toSorted((a, b) => a - b), Array.from({ length: 24 }, (_, i) => i + 3));
    assertEquals(version, 25);
  });

  contract("two that open one thread at once make one", async (threads, open) => {
    const other = openThreads(await open(), { user });
    await Promise.all([
      threads.publish("t", bbox("Copenhagen"), { turn: 1 }),
      other.publish("t", note("rents"), { turn: 1 }),
      other.advance("t", 1),
    ]);
    const { state, turn } = await threads.state("t");
    assertEquals([Object.keys(state).sort(), turn], [[KEY, "notes"], 1]);
  });

  contract(
    "a turn without a write reads as the one before; a late write leaves a closed turn alone",
    async (threads) => {
      for (const turn of [1, 2, 3]) await threads.publish("t", note(`turn ${turn}`), { turn });
      for (const turn of [4, 5, 6, 7]) assertEquals((await threads.advance("t", turn)).turn, turn);
      assertEquals((await threads.advance("t", 6)).turn, 7);
      const past = await threads.snapshots("t");
      assertEquals([past.total, past.retained], [7, [{ from: 1, to: 7 }]]);
      assertEquals((await past.at(5)).notes, (await past.at(3)).notes);
      const late = await threads.publish("t", note("late"), { turn: 2 });
      assertEquals([late.turn, late.state.notes.turn], [7, 7]);
      const values = await Promise.all([1, 2, 3, 6, 7].map(async (turn) => (await past.at(turn)).notes));
      assertEquals(
        values.map((entry) => isEvicted(entry) ? undefined : entry.value),
        ["turn 1", "turn 2", "turn 3", "turn 3", "late"],
      );
    },
  );

  contract("a key first written in turn 4 reads as not written yet in turn 2", async (threads) => {
    await threads.publish("t", bbox("Aarhus"), { turn: 4 });
    const { handler } = makeInspectState({ allowedKeys: [KEY], history: threads });
    const answer = await handler({ key: KEY, turn: 2 }, { ...await threads.state("t"), threadId: "t" });
    assertEquals(
      answer,
      `As turn 2 ended:\n"${KEY}" was not written yet at the end of turn 2: it was first written in turn 4.`,
    );
    await assertRejects(() => threads.publish("t", bbox("Aarhus"), { turn: 1_000_000 }), InvalidInput);
    assertEquals((await threads.snapshots("t")).total, 4);
  });

  contract("reads a point with what wrote each value, or says why not", async (_, open) => {
    const threads = openThreads(await open({ retention: { versions: 2 } }), { user });
    await assertRejects(() => threads.read("t"), HandleNotFound);
    await assertRejects(() => threads.read("t", { turn: 1 }), HandleNotFound);
    await threads.publish("t", bbox("Copenhagen"), { turn: 2 });
    await threads.publish("t", note("rents"), { turn: 3 });
    const now = await threads.read("t");
    assert(now.outcome === "here");
    assertEquals([now.turn, now.version, now.isFinal], [3, 2, false]);
    const value = { key: KEY, tool: "get_aoi", seq: 1, turn: 2, version: 1, value: BOXES.Copenhagen };
    assertEquals(readThreadKey(now, KEY), { outcome: "value", value });
    assertEquals(readThreadKey(now, "constructor"), { outcome: "never", key: "constructor" });
    const then = await threads.read("t", { turn: 2 });
    assert(then.outcome === "here");
    assertEquals([then.values, then.version, then.isFinal], [[value], 1, true]);
    const before = await threads.read("t", { turn: 1 });
    assert(before.outcome === "here");
    assertEquals([before.values, before.version], [[], 0]);
    await threads.publish("t", note("parks"), { turn: 4 });
    assertEquals(await threads.read("t", { turn: 2 }), {
      outcome: "pruned",
      turn: 2,
      retained: [{ from: 1, to: 1 }, { from: 3, to: 4 }],
    });
    assertEquals(await threads.read("t", { turn: 9 }), { outcome: "never", turn: 9, total: 4 });
    assertEquals(await threads.read("t", { turn: 0 }), { outcome: "never", turn: 0, total: 4 });
    assertEquals(await threads.read("t", { version: 9 }), { outcome: "version_never", version: 9, currentVersion: 3 });
    assertEquals(await threads.read("t", { version: 1 }), {
      outcome: "version_pruned",
      version: 1,
      retained: { from: 2, to: 3 },
    });
  });

  contract("a fork reads its own branch, and its earlier turns where they were written", async (threads, open) => {
    await threads.publish("main", bbox("Copenhagen"), { turn: 1 });
    await threads.publish("main", bbox("Aarhus"), { turn: 2 });
    await threads.publish("main", note("abandoned"), { turn: 3 });
    const forked = await threads.fork("main", "branch", { turn: 2 });
    assertEquals([forked.turn, Object.keys(forked.state)], [2, [KEY]]);
    assertEquals(await threads.fork("main", "branch", { turn: 2 }), forked, "twice is once");
    await threads.publish("branch", note("kept"), { turn: 3 });
    await threads.publish("main", note("later"), { turn: 4 });
    const deeper = await threads.fork("branch", "leaf", { turn: 3 });
    assertEquals(deeper.state.notes, (await threads.state("branch")).state.notes);
    const reader = openThreads(await open(), { user });
    const past = await reader.snapshots("leaf");
    assertEquals([past.total, past.retained], [3, [{ from: 1, to: 3 }]]);
    const seen = await Promise.all([1, 2, 3].map(async (turn) => {
      return Object.values(await past.at(turn)).map((entry) => isEvicted(entry) ? undefined : entry.value);
    }));
    assertEquals(seen, [[BOXES.Copenhagen], [BOXES.Aarhus], [BOXES.Aarhus, "kept"]]);
    await assertRejects(() => threads.fork("main", "leaf", { turn: 2 }), InvalidInput, "already");
    await assertRejects(() => threads.fork("main", "other", { turn: 9 }), TurnNotFound);
    await assertRejects(() => threads.fork("nowhere", "other", { turn: 1 }), HandleNotFound);
  });

  contract(
    "a fork outlives the thread that it came from, but for the turns that went with it",
    async (threads, open) => {
      const store = await open();
      await threads.publish("main", bbox("Copenhagen"), { turn: 1 });
      await threads.publish("main", bbox("Aarhus"), { turn: 2 });
      await threads.fork("main", "branch", { turn: 2 });
      await store.revoke("main", { user });
      await threads.publish("main", note("another of that name"), { turn: 1 });
      const past = await threads.snapshots("branch");
      assertEquals([past.total, past.retained], [2, [{ from: 2, to: 2 }]]);
      assertEquals(await threads.read("branch", { turn: 1 }), {
        outcome: "pruned",
        turn: 1,
        retained: [{ from: 2, to: 2 }],
      });
      await assertRejects(() => threads.fork("branch", "other", { turn: 1 }), TurnPruned);
    },
  );

  contract("what was dropped for want of room is remembered as evicted, within the store's limit", async (_, open) => {
    const store = await open({ maxStateBytes: 8_000 });
    const threads = openThreads(store, { user });
    for (let i = 1; i <= 30; i++) {
      await threads.publish("t", { [`k${i}`]: { value: "ø".repeat(500), tool: "search" } }, { turn: i });
    }
    const reading = await threads.read("t");
    assert(reading.outcome === "here");
    assertEquals(readThreadKey(reading, "k30").outcome, "value");
    assertEquals(readThreadKey(reading, "k1"), { outcome: "evicted", key: "k1", tool: "search" });
    const { handler } = makeInspectState({ allowedKeys: () => true, history: threads });
    const ask = async (args: object) => await handler(args, { ...await threads.state("t"), threadId: "t" });
    assert((await ask({ key: "k1" })).includes("evicted") || (await ask({ key: "k1" })).includes("dropped"));
    assert((await ask({ key: "k1", turn: 1 })).startsWith("As turn 1 ended:\n"), await ask({ key: "k1", turn: 1 }));
  });

  contract("what no room is there for is refused, and nothing else is dropped for it", async (_, open) => {
    const threads = openThreads(await open({ maxStateBytes: 4_000 }), { user });
    await threads.publish("t", bbox("Copenhagen"), { turn: 1 });
    const huge = { huge: { value: "h".repeat(5_000), tool: "search" } };
    const error = await assertRejects(() => threads.publish("t", huge, { turn: 2 }), StateTooLarge, '"/huge"');
    assertEquals(error.limitBytes, 4_000);
    const { state, turn, version } = await threads.state("t");
    assertEquals([Object.keys(state), isEvicted(state[KEY]), turn, version], [[KEY], false, 1, 1]);
  });

  contract("many small entries make room too, and the newest are there", async (_, open) => {
    const threads = openThreads(await open({ maxStateBytes: 1_500 }), { user });
    for (let i = 1; i <= 60; i++) await threads.publish("t", { [`k${i}`]: { value: i, tool: "count" } }, { turn: i });
    const { state } = await threads.state("t");
    const kept = Object.keys(state).filter((key) => !isEvicted(state[key]));
    assert(kept.length > 1 && kept.at(-1) === "k60", kept.join());
  });

  contract("a call that a note names reads a value, whatever was dropped between", async (_, open) => {
    const threads = openThreads(await open({ maxStateBytes: 2_600, retention: { versions: 4 } }), { user });
    const { handler } = makeInspectState({ allowedKeys: () => true, history: threads });
    const ask = async (args: object) => await handler(args, { ...await threads.state("t"), threadId: "t" });
    const large = (key: string, length: number): SessionUpdate => ({ [key]: { value: key.repeat(length), tool: "x" } });
    await threads.publish("t", { ...large("a", 1_100), ...large("b", 1_200) }, { turn: 1 });
    await threads.publish("t", large("b", 1_500), { turn: 2 }); // a is dropped
    assert((await ask({ key: "a" })).includes("turn=1 reads it as it was"), await ask({ key: "a" }));
    assert((await ask({ key: "a", turn: 1 })).startsWith('As turn 1 ended:\n"aaa'));
    await threads.advance("t", 4);
    await threads.publish("t", large("a", 10), { turn: 5 });
    // It stood until turn 2 only, not until the turn before it was written again.
    assert((await ask({ key: "a" })).endsWith("turn=1 reads the earlier"), await ask({ key: "a" }));
    await threads.publish("t", large("c", 10), { turn: 6 });
    await threads.publish("t", large("c", 20), { turn: 7 });
    assert((await ask({ key: "a" })).endsWith("the earlier is no longer retained"), await ask({ key: "a" }));
    // Written and dropped in one turn, it stood at the end of none.
    await threads.publish("t", { ...large("d", 1_500), ...large("e", 1_500) }, { turn: 8 });
    assert((await ask({ key: "d" })).includes("evicted"), await ask({ key: "d" }));
    assert(!/turn=\d/.test(await ask({ key: "d" })), await ask({ key: "d" }));
  });

  contract("two writes in one turn: the earlier was overwritten within it", async (threads) => {
    await threads.publish("t", note("first"), { turn: 1 });
    await threads.publish("t", note("second"), { turn: 1 });
    const { handler } = makeInspectState({ allowedKeys: ["notes"], history: threads });
    const answer = await handler({ key: "notes" }, { ...await threads.state("t"), threadId: "t" });
    assertEquals(
      answer,
      '"second"\n— rewritten, 2 versions (turn 1), last by write_note; the earlier was overwritten within turn 1',
    );
  });

  contract("a fork from before anything was written begins with nothing", async (threads) => {
    await threads.publish("main", note("late"), { turn: 62 });
    const forked = await threads.fork("main", "branch", { turn: 1 });
    assertEquals([forked.turn, forked.state], [1, {}]);
    assertEquals((await threads.snapshots("branch")).retained, [{ from: 1, to: 1 }]);
  });

  contract(
    "one that has expired says so, whatever is asked of it, and begins anew when it is written",
    async (_, open) => {
      const threads = openThreads(await open(), { user, ttlDays: seconds(0.5) });
      await threads.publish("t", note("rents"), { turn: 1 });
      await until(async () => (await threads.state("t")).version === 0, "the thread to expire");
      await assertRejects(() => threads.read("t"), HandleExpired);
      await assertRejects(() => threads.read("t", { turn: 1 }), HandleExpired);
      await assertRejects(() => threads.fork("t", "f", { turn: 1 }), HandleExpired);
      assertEquals((await threads.snapshots("t")).total, 0);
      assertEquals((await threads.publish("t", note("parks"), { turn: 2 })).version, 1);
    },
  );

  contract("an update that writes nothing begins the turn", async (threads) => {
    assertEquals((await threads.publish("t", {}, { turn: 2 })).turn, 2);
    assertEquals((await threads.publish("t", { notes: null }, { turn: 3 })).turn, 3);
    assertEquals((await threads.snapshots("t")).total, 3);
  });

  contract("a request id makes a write safe to send twice", async (threads, open) => {
    const other = openThreads(await open(), { user });
    const write = (each: Threads) => each.publish("t", bbox("Copenhagen"), { turn: 1, requestId: "turn-1" });
    const answers = await Promise.all([write(threads), write(other), write(threads)]);
    assertEquals(answers.map(({ version }) => version), [1, 1, 1]);
    await threads.publish("t", note("rents"), { turn: 2 });
    assertEquals((await write(other)).version, 1);
    await assertRejects(() => other.publish("t", note("x"), { turn: 1, requestId: "turn-1" }), InvalidInput);
    assertEquals((await other.state("t")).version, 2);
  });

  contract("refuses what no thread can hold, and leaves it as it was", async (threads, open) => {
    const store = await open();
    await threads.publish("t", bbox("Copenhagen"), { turn: 1 });
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    const wrong: readonly (readonly [update: unknown, fault: string])[] = [
      [{ "@fork": { value: 1, tool: "x" } }, "@fork"],
      [{ a: { value: NaN, tool: "x" } }, "NaN"],
      [{ a: { value: cycle, tool: "x" } }, "nested"],
      [{ a: { value: 1, tool: 5 } }, '"/a/tool"'],
      [{ a: { value: 1, tool: "x", seq: -5 } }, '"/a/seq"'],
      [{ a: { value: 1, tool: "x", turnsChanged: ["1"] } }, '"/a/turnsChanged"'],
      [{ a: { value: 1, tool: "x", turns: 1 } }, '"/a/turns"'],
      [{ a: { tool: "x" } }, '"/a/value"'],
      [{ a: 1 }, '"/a"'],
      [null, "update must be an object"],
      [[], "update must be an object"],
    ];
    for (const [update, fault] of wrong) {
      await assertRejects(() => threads.publish("t", update as SessionUpdate), InvalidInput, fault);
    }
    for (const turn of [0, -1, 1.5, "1"]) {
      await assertRejects(() => threads.advance("t", turn as number), InvalidInput, "turn");
      if (turn !== 0 && turn !== -1) {
        await assertRejects(() => threads.read("t", { turn: turn as number }), InvalidInput);
      }
    }
    for (const point of [undefined, {}, [], { trun: 1 }, { turn: 1, version: 1 }]) {
      await assertRejects(() => threads.fork("t", "f", point as ForkPoint), InvalidInput);
    }
    await assertRejects(() => threads.fork("t", "", { turn: 1 }), InvalidInput, "fork");
    await assertRejects(() => threads.state(5 as unknown as string), InvalidInput, "thread");
    assertThrows(() => openThreads(store, { user: "" }), InvalidInput, "user");
    assertEquals((await strangersOf(store).state("f")).version, 0);
    assertEquals((await threads.state("t")).version, 1);
    const handle = await store.mint("cart", {}, { user });
    await assertRejects(() => threads.publish(handle, bbox("Aarhus")), InvalidInput, "kind");
    const strangers = strangersOf(store);
    assertEquals((await strangers.state("t")).version, 0);
    await assertRejects(() => strangers.read("t"), HandleNotFound);
  });
}
