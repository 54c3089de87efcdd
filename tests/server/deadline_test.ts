/**
 * How long a tool call may take, against a store that is held up.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import type { CallToolResult } from "@modelcontextprotocol/server";
import { load } from "../../src/server/tools/reads.ts";
import { save } from "../../src/server/tools/writes.ts";
import type { Call, StateStore } from "../../src/server/call.ts";
import { HandleStore } from "../../src/store/store.ts";

/** The store, which does nothing before `go` settles. */
function heldUp(store: HandleStore, go: Promise<void>): StateStore {
  return new Proxy<StateStore>(store, {
    get(_, name) {
      const method: unknown = Reflect.get(store, name);
      if (typeof method !== "function") return method;
      return async (...args: unknown[]) => {
        await go;
        return await Reflect.apply(method, store, args);
      };
    },
  });
}

function errorOf({ content, isError }: CallToolResult): Record<string, unknown> {
  assertEquals(isError, true);
  const [part] = content;
  return JSON.parse(part.type === "text" ? part.text : "").error;
}

Deno.test("inTime: a call that takes too long is told so, and of a write that it may land, as it then does", async () => {
  await using store = await HandleStore.fromUrl("sqlite:///:memory:");
  const handle = await store.mint("trip", { to: "Lisbon" }, { user: "alice" });
  const { promise: go, resolve } = Promise.withResolvers<void>();
  const call: Call = {
    store: heldUp(store, go),
    user: "alice",
    writer: "phone",
    turn: undefined,
    callMs: 20,
    budget: 32_000,
  };
  const read = errorOf(await load.answer({ handle }, () => call, call.budget));
  assertEquals([read.code, read.outcome_unknown, read.busy], ["backend_error", undefined, true]);
  assertStringIncludes(String(read.message), "Nothing was changed");
  const args = { handle, state: { to: "Porto" }, expect_version: 1 };
  const written = errorOf(await save.answer(args, () => call, call.budget));
  assertEquals([written.code, written.outcome_unknown], ["backend_error", true]);
  assertStringIncludes(String(written.message), "may have landed");
  resolve();
  let now = await store.get(handle, { user: "alice" });
  while (now.version === 1) now = await store.get(handle, { user: "alice" });
  assertEquals(now.state, { to: "Porto" });
});
