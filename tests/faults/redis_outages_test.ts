import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import type { Backend, Head } from "../../src/backends/backend.ts";
import { openRedisBackend } from "../../src/backends/redis.ts";
import { BackendError } from "../../src/document/errors.ts";
import type { Entry } from "../../src/document/journal.ts";
import { HandleStore } from "../../src/store/store.ts";
import type { WatchEvent } from "../../src/store/watch.ts";
import { AARHUS, appendAfter, expected, find, HEAD, mint, TRIP, until, write } from "../contract/drafts.ts";
import { startRedis, startRedisCluster } from "../redis_server.ts";
import { TcpProxy } from "../tcp_proxy.ts";

/** What a call may take longer than its deadline on a machine that is busy. */
const SLACK_MS = 2_000;
const quiet = { onWarning: () => {} };

async function within<T>(limitMs: number, call: Promise<T>): Promise<T> {
  const begun = performance.now();
  try {
    return await call;
  } finally {
    const tookMs = performance.now() - begun;
    assert(tookMs < limitMs + SLACK_MS, `took ${Math.round(tookMs)} ms of ${limitMs}`);
  }
}

Deno.test("openRedisBackend: a closed port, a server that says nothing and a name that is none are told in time", async () => {
  const free = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = free.addr;
  const accepted: Deno.Conn[] = [];
  const accepting = (async () => {
    for await (const connection of free) accepted.push(connection);
  })();
  const urls = [
    `redis://127.0.0.1:1`,
    `redis://user:secret@127.0.0.1:${port}`,
    `redis://127.0.0.1:${port}/?cluster=true`,
    `redis://no-such-host.invalid:6379`,
  ];
  for (const url of urls) {
    const opening = openRedisBackend({ url, deadlineMs: 600, connectTimeoutMs: 300, ...quiet });
    const error = await within(600, assertRejects(() => opening, BackendError, "could not be reached"));
    assertEquals(error.outcomeUnknown, false);
    assert(!/127\.0|invalid|secret|user/.test(error.message), error.message);
  }
  for (const connection of accepted) connection.close();
  free.close();
  await accepting.catch(() => {});
});

Deno.test("redis: a server that has stopped is waited for no longer than the deadline, and no write is lost or doubled", async () => {
  await using server = await startRedis();
  await using backend = await openRedisBackend({ url: server.url, deadlineMs: 800, ...quiet });
  const head = await mint(backend, TRIP);
  const draft = appendAfter(head, ['[{"op":"add","path":"/stop","value":"Odense"}]']);
  server.pause();
  const read = await within(800, assertRejects(() => backend.read(TRIP, HEAD), BackendError));
  assertEquals(read.outcomeUnknown, false);
  const writing = await within(800, assertRejects(() => backend.append(TRIP, expected(head), draft), BackendError));
  assertMatch(writing.message, /not known|could not be reached/);
  server.resume();
  const answer = await backend.append(TRIP, expected(head), draft);
  assert(answer.outcome === "appended");
  assertEquals((await find(backend, TRIP)).entries.map(({ version }) => version), [1, 2]);
});

Deno.test("redis: a connection that falls silent is given up, and the write is answered over another", async () => {
  await using server = await startRedis();
  await using proxy = new TcpProxy(server.port);
  const url = `redis://127.0.0.1:${proxy.port}`;
  await using backend = await openRedisBackend({ url, deadlineMs: 2_000, ...quiet });
  const head = await mint(backend, TRIP);
  proxy.silence();
  const draft = appendAfter(head, ['[{"op":"add","path":"/stop","value":"Odense"}]']);
  const appending = backend.append(TRIP, expected(head), draft);
  await new Promise((resolve) => setTimeout(resolve, 100));
  proxy.retarget(server.port);
  const answer = await within(2_000, appending);
  assert(answer.outcome === "appended");
  assertEquals((await find(backend, TRIP)).head.version, 2);
});

Deno.test("redis: where a write may have landed, its failure says so", async () => {
  await using server = await startRedis();
  await using proxy = new TcpProxy(server.port);
  const url = `redis://127.0.0.1:${proxy.port}`;
  await using backend = await openRedisBackend({ url, deadlineMs: 1_000, ...quiet });
  const head = await write(backend, TRIP, await mint(backend, TRIP), [AARHUS]);
  const draft = appendAfter(head, ['[{"op":"add","path":"/stop","value":"Odense"}]']);
  proxy.endWithNextReply();
  const error = await assertRejects(() => backend.append(TRIP, expected(head), draft), BackendError);
  assertEquals([error.outcomeUnknown, proxy.cuts], [true, 1]);
  proxy.retarget(server.port);
  assertEquals((await find(backend, TRIP)).head.version, 3);
});

Deno.test("redis: where a write cannot have landed, its failure says so", async () => {
  await using server = await startRedis();
  await using backend = await openRedisBackend({ url: server.url, deadlineMs: 500, ...quiet });
  const head = await mint(backend, TRIP);
  await server.kill();
  await until(async () => {
    const draft = appendAfter(head, ['[{"op":"add","path":"/stop","value":"Odense"}]']);
    const error = await assertRejects(() => backend.append(TRIP, expected(head), draft), BackendError);
    return !error.outcomeUnknown; // the very first may have been sent before the connection was seen to be lost
  }, "a write that was not sent");
});

Deno.test("redis: 50 restarts under load lose nothing acknowledged, are over in five seconds, and a listener misses nothing", async () => {
  await using server = await startRedis("--appendonly", "yes", "--appendfsync", "always");
  await using backend = await openRedisBackend({ url: server.url, deadlineMs: 5_000, ...quiet });
  await using listener = new HandleStore(await openRedisBackend({ url: server.url, deadlineMs: 5_000, ...quiet }));
  const told: WatchEvent[] = [];
  const watch = listener.watch("alice");
  await watch.ready;
  const listening = (async () => {
    for await (const event of watch) told.push(event);
  })();
  let isOver = false;
  let lastLandedAt = performance.now();
  const work = async (writer: number) => {
    const key = { user: "alice", id: `trip_${writer}` };
    let head = await mint(backend, key);
    const acknowledged: string[] = [];
    for (let i = 0; !isOver; i++) {
      const body = `[{"op":"add","path":"/stop-${writer}-${i}","value":1}]`;
      const draft = appendAfter(head, [body]);
      try {
        const answer = await within(5_000, backend.append(key, expected(head), draft));
        assert(answer.outcome === "appended", answer.outcome);
        head = answer.head;
        acknowledged.push(body);
        lastLandedAt = performance.now();
      } catch (error) {
        assert(error instanceof BackendError, String(error));
        head = await headOf(backend, key);
      }
    }
    return acknowledged;
  };
  const writers = [0, 1, 2, 3].map(work);
  for (let restart = 0; restart < 50; restart++) {
    const seen = lastLandedAt;
    await until(() => lastLandedAt > seen, "writes go on");
    await server.kill();
    await server.start();
    const back = performance.now();
    await until(() => lastLandedAt > back, "the service is back");
    assert(lastLandedAt - back < 5_000 + SLACK_MS, `back after ${Math.round(lastLandedAt - back)} ms`);
  }
  isOver = true;
  const journals: (Entry & { readonly handle: string })[] = [];
  for (const [writer, acknowledged] of (await Promise.all(writers)).entries()) {
    const handle = `trip_${writer}`;
    const { head, entries } = await find(backend, { user: "alice", id: handle });
    journals.push(...entries.map((entry) => ({ ...entry, handle })));
    const bodies = entries.map(({ body }) => body);
    assertEquals(entries.map(({ version }) => version), entries.map((_, i) => i + 1));
    assertEquals(head.version, entries.length);
    assertEquals(new Set(bodies).size, bodies.length, "none twice");
    assertEquals(acknowledged.filter((body) => !bodies.includes(body)), [], "none lost");
  }
  await until(() => told.length >= journals.length, "the listener is told of everything");
  await listener.close();
  await listening;
  const brief = told.map((event) => event.type === "change" ? `${event.handle} ${event.version}` : event.type);
  const written = journals.toSorted((a, b) => a.seq - b.seq).map(({ handle, version }) => `${handle} ${version}`);
  assertEquals(brief, written, "each once, in order, and no gap");
});

Deno.test("redis: a subscription outlives the connection and tells of what was missed", async () => {
  await using server = await startRedis();
  await using proxy = new TcpProxy(server.port);
  await using backend = await openRedisBackend({ url: `redis://127.0.0.1:${proxy.port}`, ...quiet });
  await using other = await openRedisBackend({ url: server.url, ...quiet });
  let calls = 0;
  await using _subscription = await backend.subscribe("alice", () => calls++);
  await mint(other, TRIP);
  await until(() => calls > 0, "the mint is told");
  proxy.retarget(0);
  await mint(other, { user: "alice", id: "cart_1" });
  const before = calls;
  proxy.retarget(server.port);
  await until(() => calls > before, "what was missed is told");
  const again = calls;
  await mint(other, { user: "alice", id: "cart_2" });
  await until(() => calls > again, "what follows is told");
});

Deno.test("redis cluster: keys that move to another server are followed, and a server that is back is found again", async () => {
  await using cluster = await startRedisCluster("--appendonly", "yes");
  await using backend = await openRedisBackend({ url: cluster.url, deadlineMs: 3_000, ...quiet });
  const users = ["alice", "bob", "carol", "dave", "erin"];
  for (const user of users) await mint(backend, { user, id: TRIP.id });
  const { servers } = cluster;
  const slotOf = async (user: string) => Number(await servers[0].cli("CLUSTER", "KEYSLOT", `mcpstate:{${user}}:user`));
  const ids = await Promise.all(servers.map(async (server) => (await server.cli("CLUSTER", "MYID")).trim()));
  for (const user of users) {
    const slot = await slotOf(user);
    const owner = (await Promise.all(servers.map((server) => server.cli("CLUSTER", "COUNTKEYSINSLOT", String(slot)))))
      .findIndex((count) => Number(count) > 0);
    const next = (owner + 1) % servers.length;
    await servers[next].cli("CLUSTER", "SETSLOT", String(slot), "IMPORTING", ids[owner]);
    await servers[owner].cli("CLUSTER", "SETSLOT", String(slot), "MIGRATING", ids[next]);
    const keys = (await servers[owner].cli("CLUSTER", "GETKEYSINSLOT", String(slot), "100")).trim().split("\n");
    await servers[owner].cli("MIGRATE", "127.0.0.1", String(servers[next].port), "", "0", "5000", "KEYS", ...keys);
    const key = { user, id: TRIP.id };
    const writing = find(backend, key).then(({ head }) =>
      backend.append(key, expected(head), appendAfter(head, ['[{"op":"add","path":"/a","value":1}]']))
    );
    await new Promise((resolve) => setTimeout(resolve, 50)); // on the way, it is asked to come again
    for (const index of [next, owner]) await servers[index].cli("CLUSTER", "SETSLOT", String(slot), "NODE", ids[next]);
    const answer = await writing;
    assert(answer.outcome === "appended", "while the slot moves");
    const draft = appendAfter(answer.head, ['[{"op":"add","path":"/b","value":1}]']);
    const after = await backend.append(key, expected(answer.head), draft);
    assert(after.outcome === "appended", "after the slot has moved");
    assertEquals((await find(backend, key)).entries.map(({ version }) => version), [1, 2, 3]);
  }
  for (const server of servers) await server.kill();
  await assertRejects(() => backend.read(TRIP, HEAD), BackendError);
  for (const server of servers) await server.start();
  await until(async () => {
    const outcomes = await Promise.all(users.map((user) => backend.read({ user, id: TRIP.id }, HEAD))).catch(() => []);
    return outcomes.length === users.length && outcomes.every(({ outcome }) => outcome === "found");
  }, "the cluster is back");
});

async function headOf(backend: Backend, key: { user: string; id: string }): Promise<Head> {
  for (;;) {
    try {
      return (await find(backend, key)).head;
    } catch (error) {
      if (!(error instanceof BackendError)) throw error;
    }
  }
}
