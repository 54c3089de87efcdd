/**
 * An overwritten key, read by a model: now, as it was, side by side, and when it is no longer retained.
 *
 * @module
 */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type Connection, connectLegacy, connectModern, emptyHome, fail, type Start, succeed } from "./client.ts";

async function transcript(connect: (start: Start) => Promise<Connection>): Promise<void> {
  await using home = emptyHome();
  await using client = await connect({ home: home.path, args: ["--writer", "phone"] });
  const asked = async (turn: number, tool: string, args: Record<string, unknown>) =>
    await succeed(client, tool, args, { "mcpstate/turn": turn });

  const state = { "weather/get/report": { city: "Copenhagen", celsius: 9 } };
  const { handle } = await asked(1, "state_save", { kind: "trip", state });
  await asked(3, "state_patch", {
    handle,
    ops: [{ op: "set_key", path: "", key: "weather/get/report", value: { city: "Aarhus", celsius: 7 } }],
  });
  const key = "weather/get/report";

  const listing = await succeed(client, "inspect_state", { handle });
  assertEquals(listing.keys, {
    [key]: "dict(2 keys: city, celsius) — rewritten, 2 versions (turns 1, 3), last by phone; turn=1 reads the earlier",
  });
  const now = await succeed(client, "inspect_state", { handle, key });
  assertEquals(now.value, { city: "Aarhus", celsius: 7 });
  assertStringIncludes(String(now.note), "turn=1 reads the earlier");
  for (const past of [{ turn: 1 }, { turn: 2 }, { version: 1 }]) {
    const then = await succeed(client, "inspect_state", { handle, key, ...past });
    assertEquals([then.value, then.as_of], [{ city: "Copenhagen", celsius: 9 }, past]);
    assertEquals(JSON.stringify(then).includes("current"), false);
  }
  const both = await succeed(client, "inspect_state", { handle, key, turn: 1, compare_turn: 3 });
  const [earlier, later] = [both.earlier, both.later] as { value: unknown }[];
  assertEquals([earlier.value, later.value], [{ city: "Copenhagen", celsius: 9 }, { city: "Aarhus", celsius: 7 }]);
  assertMatch(JSON.stringify(both.diff), /city/);
  assertEquals((await fail(client, "inspect_state", { handle, key, turn: 9 })).code, "turn_not_found");
  assertEquals((await fail(client, "inspect_state", { handle, key, version: 9 })).code, "version_not_found");
  assertEquals((await fail(client, "inspect_state", { handle, key: "weather" })).code, "path_not_found");
}

Deno.test("inspect_state: reads an overwritten key both ways, for a client of 2025-11-25", () =>
  transcript(connectLegacy));

Deno.test("inspect_state: reads an overwritten key both ways, for a client of 2026-07-28", () =>
  transcript(connectModern));
