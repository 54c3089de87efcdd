/**
 * How long a tool call may take, against a store that is held up.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { CallToolResult } from "@modelcontextprotocol/server";
import { load } from "../../src/server/tools/reads.ts";
import { save } from "../../src/server/tools/writes.ts";
import type { Call, StateStore } from "../../src/server/call.ts";
import { openSqliteBackend } from "../../src/backends/sqlite.ts";
import { serveHttp } from "../../src/server/http.ts";
import { localUser } from "../../src/server/identity/local_user.ts";
import { HandleStore } from "../../src/store/store.ts";
import { connectHttpLegacy, connectHttpModern } from "./http_client.ts";
import { keepLog } from "./http_site.ts";

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

Deno.test("inTime: over HTTP a resource, a prompt and a thread's route are told so too, in both eras", async () => {
  const backend = await openSqliteBackend();
  let go = Promise.resolve();
  const slow = new Proxy(backend, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return async (...args: unknown[]) => {
        await go;
        return await Reflect.apply(value, target, args);
      };
    },
  });
  await using store = new HandleStore(slow);
  const handle = await store.mint("trip", { to: "Lisbon" }, { user: "alice", turn: 1 });
  await using server = serveHttp(store, {
    hostname: "127.0.0.1",
    port: 0,
    identity: localUser("alice"),
    log: keepLog(),
    callMs: 20,
  });
  await using modern = await connectHttpModern(server);
  await using legacy = await connectHttpLegacy(server);
  const { promise, resolve } = Promise.withResolvers<void>();
  go = promise;
  const uri = `mcpstate://handle/${handle}`;
  for (const { client } of [modern, legacy]) {
    for (
      const ask of [
        () => client.listResources(),
        () => client.readResource({ uri }),
        () => client.getPrompt({ name: "resume" }),
        () => client.getPrompt({ name: "resume", arguments: { handle } }),
      ]
    ) {
      const error = await ask().then(() => undefined, (error: unknown) => error);
      assert(error instanceof Error && "data" in error);
      assertStringIncludes(error.message, "did not answer within 0.02 seconds. Nothing was changed");
      assertEquals(error.data, { code: "backend_error" });
    }
  }
  for (const path of ["state", "state/to", "turns"]) {
    const answer = await fetch(new URL(`/threads/${handle}/${path}`, server.url));
    assertEquals([answer.status, (await answer.json()).error.code], [503, "backend_error"]);
  }
  resolve();
  assertEquals((await (await fetch(new URL(`/threads/${handle}/turns`, server.url))).json()).total, 1);
});
