import { assert, assertEquals, assertRejects } from "@std/assert";
import { openRedisBackend } from "../../src/backends/redis.ts";
import { StateError } from "../../src/document/errors.ts";
import { append } from "../../src/document/ops.ts";
import { HandleStore } from "../../src/store/store.ts";
import { AARHUS, appendAfter, expected, find, HEAD, mint, ODENSE, TRIP, until, write } from "../contract/drafts.ts";
import { startRedis } from "../redis_server.ts";
import { TcpProxy } from "../tcp_proxy.ts";

const quiet = { onWarning: () => {} };

/** A primary and a replica that follows it over a link that can be cut, and a proxy to whoever is primary. */
async function startPair() {
  const stack = new AsyncDisposableStack();
  const primary = stack.use(await startRedis("--repl-diskless-sync-delay", "0"));
  const link = stack.use(new TcpProxy(primary.port));
  const replica = stack.use(
    await startRedis("--replicaof", `127.0.0.1 ${link.port}`),
  );
  const front = stack.use(new TcpProxy(primary.port));
  const follows = async () => {
    const offset = async (server: typeof primary, name: string) =>
      new RegExp(`${name}:(\\d+)`).exec(await server.cli("INFO", "replication"))?.[1];
    const isUp = (await replica.cli("INFO", "replication")).includes("master_link_status:up");
    return isUp && await offset(primary, "master_repl_offset") === await offset(replica, "slave_repl_offset");
  };
  const commands = async () => Number(/total_commands_processed:(\d+)/.exec(await primary.cli("INFO", "stats"))?.[1]);
  const isAtRest = async () => {
    const [one, two] = [await commands(), await commands()];
    await new Promise((resolve) => setTimeout(resolve, 50));
    return await commands() - two === two - one; // what it takes to ask, and nothing else
  };
  let first = primary;
  const failOver = async () => {
    first = replica;
    await replica.cli("REPLICAOF", "NO", "ONE");
    front.retarget(replica.port);
    await primary.kill();
  };
  return {
    url: `redis://127.0.0.1:${front.port}`,
    caughtUp: () => until(follows, "the replica follows"),
    lag: () => link.retarget(0),
    /** Once nobody asks the primary for anything. */
    atRest: () => until(isAtRest, "nothing is asked"),
    failOver,
    /** That of whoever is primary. */
    port: () => first.port,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

Deno.test("redis: after a failover to a replica that lags by three versions, none of them is served or built upon", async () => {
  await using pair = await startPair();
  await using phone = new HandleStore(await openRedisBackend({ url: pair.url, ...quiet }));
  await using laptop = new HandleStore(await openRedisBackend({ url: pair.url, ...quiet }));
  const user = "alice";
  const handle = await phone.mint("trip", { stops: ["Copenhagen"] }, { user });
  await pair.caughtUp();
  pair.lag();
  for (const stop of ["Odense", "Aarhus", "Aalborg"]) await phone.patch(handle, [append("stops", stop)], { user });
  const lost = await phone.get(handle, { user });
  assertEquals([lost.version, (await laptop.get(handle, { user })).version], [4, 4]);
  await pair.failOver();

  for (const store of [phone, laptop]) {
    const now = await store.get(handle, { user });
    assertEquals([now.version, now.state], [1, { stops: ["Copenhagen"] }]);
  }
  const save = () => phone.save(handle, { stops: ["Skagen"] }, { user, expectVersion: lost.version });
  await assertRejects(save, StateError);
  const roskilde = await laptop.patch(handle, [append("stops", "Roskilde")], { user });
  assertEquals([roskilde.version, roskilde.state], [2, { stops: ["Copenhagen", "Roskilde"] }]);
  for (const stop of ["Ribe", "Billund"]) await laptop.patch(handle, [append("stops", stop)], { user });
  // The same version number as the phone has in its memory, with other content.
  const again = await phone.get(handle, { user });
  assertEquals([again.version, again.state], [4, { stops: ["Copenhagen", "Roskilde", "Ribe", "Billund"] }]);
  const mine = await phone.patch(handle, [append("stops", "Esbjerg")], { user });
  assertEquals(mine.state.stops, ["Copenhagen", "Roskilde", "Ribe", "Billund", "Esbjerg"]);
});

Deno.test("redis: a held version that a failover has lost is no base, whatever came in its place", async () => {
  await using pair = await startPair();
  await using backend = await openRedisBackend({ url: pair.url, ...quiet });
  const first = await mint(backend, TRIP);
  await pair.caughtUp();
  pair.lag();
  const lost = await write(backend, TRIP, first, [AARHUS, ODENSE, AARHUS]);
  let calls = 0;
  await using _subscription = await backend.subscribe(TRIP.user, () => calls++);
  const before = calls;
  await pair.failOver();
  await until(() => calls > before, "those who listen are told");
  assertEquals((await find(backend, TRIP, HEAD, lost)).head, first);
  const stale = await backend.append(TRIP, expected(lost), appendAfter(lost, [ODENSE]));
  assert(stale.outcome === "lost");
  assertEquals([stale.found.head, stale.found.onto], [first, "nothing"]);
  await write(backend, TRIP, first, [ODENSE, ODENSE, ODENSE]);
  const found = await find(backend, TRIP, HEAD, lost);
  assertEquals([found.onto, found.entries.map(({ version }) => version)], ["nothing", [1, 2, 3, 4]]);
  const twin = await backend.append(TRIP, expected(lost), appendAfter(lost, [AARHUS]));
  assertEquals(twin.outcome, "lost");
});

Deno.test("redis: after a failover that lost writes a listener is told of a gap, and of what follows", async () => {
  for (const written of [0, 5]) {
    await using pair = await startPair();
    await using writer = new HandleStore(await openRedisBackend({ url: pair.url, ...quiet }));
    await using ear = new TcpProxy(pair.port());
    const url = `redis://127.0.0.1:${ear.port}`;
    await using listener = new HandleStore(await openRedisBackend({ url, ...quiet }));
    const handle = await writer.mint("trip", { stops: [] }, { user: "alice" });
    const other = await writer.mint("cart", {}, { user: "alice" });
    const events = listen(listener);
    await events.ready;
    await pair.caughtUp();
    pair.lag();
    await writer.patch(handle, [append("stops", "Odense")], { user: "alice" });
    await writer.revoke(other, { user: "alice" });
    await until(() => events.told.length === 2, "what will be lost is told");
    await pair.atRest(); // what is read in part from either of them tells the gap earlier
    ear.retarget(0); // so that it meets the server again only when as much was written as was lost
    await pair.failOver();
    for (let i = 0; i < written; i++) await writer.patch(handle, [append("stops", `Ribe ${i}`)], { user: "alice" });
    if (written > 0) await writer.revoke(other, { user: "alice" });
    ear.retarget(pair.port());
    await until(() => events.told.length > 2, "the gap is told");
    const last = await writer.patch(handle, [append("stops", "Skagen")], { user: "alice" });
    await until(() => events.told.at(-1) === `change ${last.version}`, "what follows is told");
    await listener.close();
    assertEquals(events.told, ["change 2", "deleted", "gap rewound", `change ${last.version}`]);
  }
});

/** What a listener is told from now on. */
function listen(store: HandleStore): { readonly told: string[]; readonly ready: Promise<void> } {
  const told: string[] = [];
  const watch = store.watch("alice");
  (async () => {
    for await (const event of watch) {
      told.push(
        event.type === "change" ? `change ${event.version}` : event.type === "gap" ? `gap ${event.reason}` : event.type,
      );
    }
  })();
  return { told, ready: watch.ready };
}
