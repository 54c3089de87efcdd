/**
 * Three replicas on one Redis behind a proxy that sends each request to the next: a caller notices nothing, not even that
 * one of them is killed.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { addToken } from "../../src/server/identity/tokens.ts";
import { SCOPES } from "../../src/server/scopes.ts";
import { toUri } from "../../src/server/resources.ts";
import { HandleStore } from "../../src/store/store.ts";
import { until } from "../contract/drafts.ts";
import { startRedis } from "../redis_server.ts";
import { emptyHome, PROGRAM } from "./client.ts";
import { callTool, CLIENTS, readCall } from "./http_client.ts";
import { type HttpProcess, startServer } from "./http_process.ts";
import { connectListener } from "./listening.ts";
import { journey } from "./journey.ts";

/** A proxy that takes turns, and goes on to the next where nobody answers. */
function startProxy(replicas: readonly URL[]): { readonly url: URL; readonly served: number[] } & AsyncDisposable {
  const served = replicas.map(() => 0);
  let turn = 0;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const body = await request.bytes();
    const first = turn++;
    for (let tries = 0; tries < replicas.length; tries++) {
      const index = (first + tries) % replicas.length;
      const headers = new Headers(request.headers);
      headers.delete("host");
      try {
        const answer = await fetch(replicas[index], { method: request.method, headers, body });
        served[index]++;
        return answer;
      } catch {
        // It is gone: the next one takes it. What it may have done by then, a request id makes safe.
      }
    }
    return new Response(null, { status: 502 });
  });
  return {
    url: new URL(`http://127.0.0.1:${server.addr.port}/mcp`),
    served,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

Deno.test("replicas: the whole journey in turns, and nothing is lost or done twice when one is killed", async (t) => {
  await using home = emptyHome();
  await using redis = await startRedis();
  await using stack = new AsyncDisposableStack();
  const { host } = new URL(redis.url);
  const start = async (): Promise<HttpProcess> => {
    const flags = `--allow-net=127.0.0.1:0,${host} --allow-env=HOME`;
    const line = `deno run ${flags} ${PROGRAM} --transport http --port 0 --backend ${redis.url}`;
    return stack.use(await startServer(line, home.path));
  };
  const replicas = [await start(), await start(), await start()];
  await using proxy = startProxy(replicas.map(({ url }) => url));
  await using store = await HandleStore.fromUrl(redis.url);
  const caller = async (user: string, writer: string) => {
    const { token } = await addToken(store, { user, scopes: SCOPES, writer });
    return { url: proxy.url, token };
  };

  for (const [name, connect] of Object.entries(CLIENTS)) {
    await t.step(`the journey with ${name}`, async () => {
      await using laptop = await connect(await caller(`alice with ${name}`, "laptop"));
      await using phone = await connect(await caller(`alice with ${name}`, "phone"));
      await journey(laptop, phone, "laptop");
    });
  }
  assertEquals(proxy.served.every((count) => count > 0), true, String(proxy.served));

  await t.step("a listener on one hears what is written on the others", async () => {
    const alice = await caller("alice who listens", "laptop");
    const { handle } = await readCall(await callTool(alice, "state_save", { kind: "log", state: { entries: [] } }));
    await using phone = await connectListener({ ...alice, url: replicas[0].url });
    const subscription = await phone.client.listen({ resourceSubscriptions: [toUri(String(handle))] });
    for (const [i, { url }] of [replicas[1], replicas[2], replicas[0]].entries()) {
      const ops = [{ op: "append", path: "entries", value: i }];
      assertEquals((await readCall(await callTool({ ...alice, url }, "state_patch", { handle, ops }))).ok, true);
      await until(() => phone.heard.length > i, `what replica ${i} wrote is heard`);
    }
    assertEquals(phone.heard, Array(3).fill(toUri(String(handle))));
    await subscription.close();
  });

  await t.step("one is killed among 300 writes", async () => {
    const alice = await caller("alice", "laptop");
    const { handle } = await readCall(await callTool(alice, "state_save", { kind: "log", state: { entries: [] } }));
    const write = async (i: number) => {
      const ops = [{ op: "append", path: "entries", value: i }];
      return await readCall(await callTool(alice, "state_patch", { handle, ops, request_id: `entry ${i}` }));
    };
    const writing = Array.from({ length: 300 }, async (_, i) => {
      const answer = await write(i);
      if (i === 50) replicas[1].kill("SIGKILL");
      return answer.ok;
    });
    assertEquals((await Promise.all(writing)).filter((ok) => ok !== true), []);
    await replicas[1].finish();
    const { state } = await readCall(await callTool(alice, "state_load", { handle })) as {
      state: { entries: number[] };
    };
    assertEquals(state.entries.toSorted((a, b) => a - b), Array.from({ length: 300 }, (_, i) => i));
  });

  for (const [name, connect] of Object.entries(CLIENTS)) {
    await t.step(`the journey with ${name}, another one killed in the middle`, async () => {
      const spare = await start();
      await using others = startProxy([replicas[0].url, spare.url, replicas[2].url]);
      const on = async (writer: string) => ({ ...await caller(`carol with ${name}`, writer), url: others.url });
      await using laptop = await connect(await on("laptop"));
      await using phone = await connect(await on("phone"));
      await journey(laptop, phone, "laptop", async () => {
        spare.kill("SIGKILL");
        await spare.finish();
      });
    });
  }
});
