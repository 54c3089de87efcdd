import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import {
  InvalidInput,
  NoTurnHistory,
  PathNotFound,
  TurnNotFound,
  TurnPruned,
  VersionNotFound,
  VersionPruned,
} from "../../src/document/errors.ts";
import { append, delKey, setKey } from "../../src/document/ops.ts";
import { type InspectArguments, inspectHandle } from "../../src/history/handles.ts";
import { renderReading } from "../../src/history/render.ts";
import { toWireReading } from "../../src/history/wire.ts";
import { openViews, USER } from "./views.ts";

const COPENHAGEN = [12.4, 55.5, 12.7, 55.8];
const AARHUS = [9.9, 56.1, 10.3, 56.2];

async function openPlaces(turns?: readonly [number, number]) {
  const { store, views, [Symbol.asyncDispose]: dispose } = await openViews();
  const handle = await store.mint("research", { "gazet/get_aoi/bbox": COPENHAGEN }, {
    user: USER,
    writer: "laptop",
    turn: turns?.[0],
  });
  await store.patch(handle, [setKey("", "gazet/get_aoi/bbox", AARHUS)], {
    user: USER,
    writer: "phone",
    turn: turns?.[1],
  });
  const inspect = (args: Omit<InspectArguments, "handle"> = {}) => inspectHandle(views, USER, { handle, ...args });
  const text = async (args: Omit<InspectArguments, "handle"> = {}) => renderReading((await inspect(args)).reading);
  const wire = async (args: Omit<InspectArguments, "handle"> = {}) => toWireReading((await inspect(args)).reading);
  return { store, handle, inspect, text, wire, [Symbol.asyncDispose]: dispose };
}

const KEY = "gazet/get_aoi/bbox";

Deno.test("inspectHandle: a listing says that a key was rewritten, by whom, and which call reads the earlier", async () => {
  await using places = await openPlaces([1, 3]);
  assertEquals(
    await places.text(),
    "gazet/get_aoi/bbox: list[4] of 9.9 — rewritten, 2 versions (turns 1, 3), last by phone; turn=1 reads the earlier",
  );
  assertEquals(await places.text({ key: "*" }), await places.text());
});

Deno.test("inspectHandle: where turns are not kept, the call names a version", async () => {
  await using places = await openPlaces();
  assertEquals(
    await places.text(),
    "gazet/get_aoi/bbox: list[4] of 9.9 — rewritten, 2 versions, last by phone; version=1 reads the earlier",
  );
});

Deno.test("inspectHandle: two writes in one turn are told apart by their versions", async () => {
  await using places = await openPlaces([2, 2]);
  assertEquals(
    await places.text({ key: KEY }),
    "[9.9,56.1,10.3,56.2]\n— rewritten, 2 versions (turn 2), last by phone; version=1 reads the earlier",
  );
});

Deno.test("inspectHandle: the earlier value is read by the call that the note names, and never called current", async () => {
  await using places = await openPlaces([1, 3]);
  const note = "rewritten, 2 versions (turns 1, 3), last by phone; this is 1 of 2";
  assertEquals(
    await places.text({ key: KEY, version: 1 }),
    `As of version 1:\n[12.4,55.5,12.7,55.8]\n— ${note}`,
  );
  assertEquals(await places.text({ key: KEY, turn: 1 }), `As turn 1 ended:\n[12.4,55.5,12.7,55.8]\n— ${note}`);
  assertEquals(await places.text({ version: 1 }), `As of version 1:\n${KEY}: list[4] of 12.4 — ${note}`);
  assertEquals(await places.wire({ key: KEY, turn: 2 }), {
    as_of: { turn: 2 },
    key: KEY,
    note,
    value: COPENHAGEN,
  });
  for (const args of [{ version: 1 }, { key: KEY, version: 1 }, { version: 2 }, { turn: 3 }, { turn: 3, key: KEY }]) {
    assert(!/current/i.test(await places.text(args)));
    assert(!/current/i.test(JSON.stringify(await places.wire(args))));
  }
});

Deno.test("inspectHandle: the running turn is told as it stands so far", async () => {
  await using places = await openPlaces([1, 3]);
  assertStringIncludes(await places.text({ key: KEY, turn: 3 }), "As of turn 3 so far:\n[9.9,");
  assertEquals((await places.wire({ turn: 3 })).as_of, { turn: 3, so_far: true });
});

Deno.test("inspectHandle: two turns in one call, with their difference", async () => {
  await using places = await openPlaces([1, 3]);
  const note = "rewritten, 2 versions (turns 1, 3), last by phone";
  const diff = COPENHAGEN.map((_, i) => ({ op: "replace", path: `/${i}`, value: AARHUS[i] }));
  const whole = [{ op: "replace", path: "", value: AARHUS }];
  const answer = await places.wire({ key: KEY, turn: 3, compareTurn: 1 });
  assertEquals(answer, {
    earlier: { as_of: { turn: 1 }, key: KEY, note: `${note}; this is 1 of 2`, value: COPENHAGEN },
    later: {
      as_of: { turn: 3, so_far: true },
      key: KEY,
      note: `${note}; turn=1 reads the earlier`,
      value: AARHUS,
    },
    diff: JSON.stringify(diff).length < JSON.stringify(whole).length ? diff : whole,
  });
  // In whatever order they are named, and whichever way, the earlier one comes first.
  assertEquals(await places.wire({ key: KEY, turn: 1, compareTurn: 3 }), answer);
  assertEquals((await places.wire({ key: KEY, compareVersion: 1 })).diff, answer.diff);
  assertEquals(
    await places.text({ key: KEY, compareVersion: 1, path: "0" }),
    `As of version 1:\n12.4\n— ${note}; this is 1 of 2\n\nNow:\n9.9\n— ${note}; turn=1 reads the earlier\n\n` +
      'Changed from the first to the second, as a JSON Patch:\n[{"op":"replace","path":"","value":9.9}]',
  );
  assertStringIncludes(await places.text({ version: 2, compareVersion: 2 }), "They are equal.");
});

Deno.test("inspectHandle: a comparison with a point at which the key did not exist says so", async () => {
  await using places = await openPlaces([1, 3]);
  await places.store.patch(places.handle, [setKey("", "name", "Aarhus")], { user: USER, turn: 4 });
  const text = await places.text({ key: "name", compareTurn: 2 });
  assertEquals(
    text,
    'As turn 2 ended:\n"name" was not written yet at the end of turn 2: it was first written in turn 4, version 3.\n\n' +
      'Now:\n"Aarhus"',
  );
});

Deno.test("inspectHandle: seven turns whose last write was in turn 3", async () => {
  await using places = await openPlaces([1, 3]);
  await places.store.touch(places.handle, { user: USER, turn: 7 });
  assertStringIncludes(await places.text({ key: KEY, turn: 5 }), "As turn 5 ended:\n[9.9,");
  assertStringIncludes(await places.text({ key: KEY, turn: 2 }), "As turn 2 ended:\n[12.4,");
  assertEquals((await places.inspect({ turn: 5 })).snapshot.version, 2);
});

Deno.test("inspectHandle: a key first written in turn 4, read at turn 2", async () => {
  await using places = await openPlaces([1, 3]);
  await places.store.patch(places.handle, [setKey("", "a.b", 1)], { user: USER, turn: 4 });
  assertEquals(await places.wire({ key: "a.b", turn: 2 }), {
    as_of: { turn: 2 },
    key: "a.b",
    absent: "not_written_yet",
    first_version: 3,
    first_turn: 4,
    message: '"a.b" was not written yet at the end of turn 2: it was first written in turn 4, version 3.',
  });
  assertStringIncludes(await places.text({ path: "/a.b", turn: 2 }), "not written yet");
  assertEquals(await places.text({ key: "a.b" }), "1");
});

Deno.test("inspectHandle: a removed key tells what removed it and how to read it", async () => {
  await using places = await openPlaces([1, 3]);
  await places.store.patch(places.handle, [delKey("", KEY)], { user: USER, turn: 5, writer: "desk" });
  assertEquals(
    await places.text({ key: KEY }),
    `"${KEY}" was removed in turn 5, version 3, by desk; turn=3 reads what it held.`,
  );
  assertStringIncludes(await places.text({ key: KEY, turn: 3 }), "[9.9,");
});

Deno.test("inspectHandle: the earlier of two writes in the last turn is read by its version", async () => {
  await using places = await openPlaces([1, 3]);
  await places.store.patch(places.handle, [setKey("", KEY, [8.5])], { user: USER, turn: 3, writer: "desk" });
  assertEquals(
    await places.text({ key: KEY }),
    "[8.5]\n— rewritten, 3 versions (turns 1, 3), last by desk; version=2 reads the earlier",
  );
  assertStringIncludes(await places.text({ key: KEY, version: 2 }), "[9.9,");
});

Deno.test("inspectHandle: a key that was removed and added again says so, and the earlier is what it held", async () => {
  await using places = await openPlaces([1, 3]);
  await places.store.patch(places.handle, [delKey("", KEY)], { user: USER, turn: 5, writer: "desk" });
  await places.store.patch(places.handle, [setKey("", KEY, [8.5])], { user: USER, turn: 6, writer: "tablet" });
  const counts = "4 versions (turns 1, 3, 5, 6), last by tablet";
  assertEquals(
    await places.text({ key: KEY }),
    `[8.5]\n— removed and added again, ${counts}; turn=3 reads the earlier`,
  );
  assertEquals(
    await places.text({ key: KEY, turn: 5 }),
    `As turn 5 ended:\n"${KEY}" was removed in turn 5, version 3, by desk; turn=3 reads what it held; ` +
      "it was added again later.",
  );
  await places.store.patch(places.handle, [delKey("", KEY)], { user: USER, turn: 6, writer: "phone" });
  assertEquals(
    await places.text({ key: KEY }),
    `"${KEY}" was removed in turn 6, version 5, by phone; version=4 reads what it held.`,
  );
  assertStringIncludes(
    await places.text({ key: KEY, version: 2 }),
    "removed later, 5 versions (turns 1, 3, 5, 6), last by phone; this is 2 of 5; turn=1 reads the earlier",
  );
});

Deno.test("inspectHandle: what never was is an error, apart from what is pruned", async () => {
  await using places = await openPlaces([1, 2]);
  for (const turn of [0, -1, 9, 1_000_000]) await assertRejects(() => places.inspect({ turn }), TurnNotFound);
  for (const version of [0, -1, 3]) await assertRejects(() => places.inspect({ version }), VersionNotFound);
  await assertRejects(() => places.inspect({ key: KEY, compareTurn: 9 }), TurnNotFound);
  await assertRejects(() => places.inspect({ version: 1, turn: 1 }), InvalidInput, "at most one of version and turn");
  await assertRejects(() => places.inspect({ compareVersion: 1, compareTurn: 1 }), InvalidInput, "compare_version");
  await assertRejects(() => places.inspect({ compareVersion: 1.5 }), InvalidInput, "compare_version must be a whole");
  const path = await assertRejects(() => places.inspect({ key: KEY, path: "/9" }), PathNotFound);
  assertEquals(
    [path.path, path.failedAt, path.available],
    ["/gazet~1get_aoi~1bbox/9", "/gazet~1get_aoi~1bbox/9", ["0 to 3"]],
  );
  const key = await assertRejects(() => places.inspect({ key: "bbox" }), PathNotFound);
  assertEquals([key.failedAt, key.available], ["/bbox", [KEY]]);
});

Deno.test("inspectHandle: turns that nobody named", async () => {
  await using places = await openPlaces();
  await assertRejects(() => places.inspect({ turn: 1 }), NoTurnHistory);
});

Deno.test("inspectHandle: pruned versions and turns, and notes that name no call which would fail", async () => {
  await using opened = await openViews({ retention: { versions: 3 } });
  const { store, views } = opened;
  const handle = await store.mint("log", { place: "Copenhagen", days: [] }, { user: USER, turn: 1 });
  await store.patch(handle, [setKey("", "place", "Aarhus")], { user: USER, turn: 2, writer: "phone" });
  for (let turn = 3; turn <= 9; turn++) await store.patch(handle, [append("days", turn)], { user: USER, turn });
  const pruned = await assertRejects(() => inspectHandle(views, USER, { handle, turn: 3 }), TurnPruned);
  assertEquals(pruned.retained, { from: 7, to: 9 });
  await assertRejects(() => inspectHandle(views, USER, { handle, version: 2 }), VersionPruned);
  const { reading } = await inspectHandle(views, USER, { handle, key: "place" });
  assertEquals(
    renderReading(reading),
    '"Aarhus"\n— rewritten, 2 versions (turns 1, 2), last by phone; the earlier is no longer retained',
  );
  const days = renderReading((await inspectHandle(views, USER, { handle, key: "days" })).reading);
  assertMatch(days, /8 versions \(turns 1, 3, 4, 5, 6, 7, 8, 9\), last by .+; turn=8 reads the earlier$/);
});

Deno.test("inspectHandle: a turn that is pruned although a later one reads the same", async () => {
  await using opened = await openViews({ retention: { versions: 3 } });
  const { store, views } = opened;
  const handle = await store.mint("log", { place: "Copenhagen", days: [] }, { user: USER, turn: 1 });
  for (let turn = 2; turn <= 5; turn++) await store.patch(handle, [append("days", turn)], { user: USER, turn });
  await store.patch(handle, [setKey("", "place", "Aarhus")], { user: USER, turn: 6, writer: "phone" });
  const { reading } = await inspectHandle(views, USER, { handle, key: "place" });
  assertStringIncludes(renderReading(reading), "(turns 1, 6), last by phone; turn=5 reads the earlier");
  const earlier = await inspectHandle(views, USER, { handle, key: "place", turn: 5 });
  assertStringIncludes(renderReading(earlier.reading), '"Copenhagen"');
});
