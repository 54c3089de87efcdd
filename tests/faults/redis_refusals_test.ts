import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { openRedisBackend } from "../../src/backends/redis.ts";
import { BackendError } from "../../src/document/errors.ts";
import { AARHUS, appendAfter, expected, find, HEAD, mint, seconds, TRIP, until } from "../contract/drafts.ts";
import { startRedis } from "../redis_server.ts";

const quiet = { onWarning: () => {} };

async function warningsOf(...args: string[]): Promise<string[]> {
  await using server = await startRedis(...args);
  const warnings: string[] = [];
  await using _backend = await openRedisBackend({ url: server.url, onWarning: (message) => warnings.push(message) });
  return warnings;
}

Deno.test("openRedisBackend: warns about a policy that drops parts of documents, and about keeping nothing", async () => {
  const [policy, ...rest] = await warningsOf("--maxmemory-policy", "allkeys-lru", "--appendonly", "yes");
  assertStringIncludes(policy, "allkeys-lru");
  assertEquals(rest, []);
  const [persistence, ...others] = await warningsOf();
  assertStringIncludes(persistence, "appendonly");
  assertEquals(others, []);
  assertEquals(await warningsOf("--save", "60 1"), []);
});

Deno.test("openRedisBackend: is told apart why a server does not let it in", async () => {
  await using locked = await startRedis("--requirepass", "hunter2");
  await using primary = await startRedis();
  await using replica = await startRedis("--replicaof", `127.0.0.1 ${primary.port}`);
  const at = (credentials: string, port: number) => `redis://${credentials}127.0.0.1:${port}`;
  const cases: [url: string, message: string][] = [
    [at("", locked.port), "asks for a password"],
    [at(":wrong@", locked.port), "refused the user name or the password"],
    [at("nobody:hunter2@", locked.port), "refused the user name or the password"],
    [`${at(":hunter2@", locked.port)}/999`, "no database of that number"],
    [at("", replica.port), "read-only replica"],
    [`${at("", primary.port)}/?cluster=true`, "no cluster"],
  ];
  for (const [url, message] of cases) {
    const error = await assertRejects(
      () => openRedisBackend({ url, deadlineMs: 1_000, ...quiet }),
      BackendError,
      message,
    );
    assert(!/hunter|nobody|wrong|127/.test(error.message), error.message);
  }
  await using backend = await openRedisBackend({ url: `${at(":hunter2@", locked.port)}/5`, ...quiet });
  assertEquals((await mint(backend, TRIP)).version, 1);
});

Deno.test("openRedisBackend: a user who may not do all that a write does is refused before any write is torn", async () => {
  await using server = await startRedis();
  const rights = "on >hunter2 ~mcpstate:* &mcpstate:* +@read +@write +@scripting +@pubsub +@connection +time +info";
  await server.cli("ACL", "SETUSER", "alice", ...rights.split(" "));
  await server.cli("ACL", "SETUSER", "bob", ...rights.split(" "), "-xtrim");
  await server.cli("ACL", "SETUSER", "carol", ...rights.replace("~mcpstate:*", "~other:*").split(" "));
  const url = (user: string) => `redis://${user}:hunter2@127.0.0.1:${server.port}`;
  for (const user of ["bob", "carol"]) {
    await assertRejects(() => openRedisBackend({ url: url(user), ...quiet }), BackendError, "may not do");
  }
  await using backend = await openRedisBackend({ url: url("alice"), ...quiet });
  await using _subscription = await backend.subscribe("alice", () => {});
  assertEquals((await mint(backend, TRIP)).version, 1);
});

Deno.test("redis: refuses a write whole when the server cannot save, and goes on afterwards", async () => {
  await using server = await startRedis("--save", "3600 1");
  await using backend = await openRedisBackend({ url: server.url, deadlineMs: 1_000, ...quiet });
  const head = await mint(backend, TRIP);
  await Deno.remove(server.directory, { recursive: true });
  await server.cli("BGSAVE");
  const draft = appendAfter(head, [AARHUS]);
  await until(
    async () => (await server.cli("INFO", "persistence")).includes("rdb_last_bgsave_status:err"),
    "saving has failed",
  );
  const error = await assertRejects(() => backend.append(TRIP, expected(head), draft), BackendError, "save to disk");
  assertEquals(error.outcomeUnknown, false);
  assertEquals((await find(backend, TRIP)).entries.length, 1);
  await server.cli("CONFIG", "SET", "stop-writes-on-bgsave-error", "no");
  assertEquals((await backend.append(TRIP, expected(head), draft)).outcome, "appended");
});

Deno.test("redis: a primary that has become a replica refuses writes, and still tells what has expired", async () => {
  await using server = await startRedis();
  await using backend = await openRedisBackend({ url: server.url, deadlineMs: 1_000, ...quiet });
  const head = await mint(backend, TRIP, { ttlDays: seconds(0.5) });
  await server.cli("REPLICAOF", "127.0.0.1", "1"); // one that it never reaches: it keeps what it has
  const draft = appendAfter(head, [AARHUS]);
  const error = await assertRejects(
    () => backend.append(TRIP, expected(head), draft),
    BackendError,
    "read-only replica",
  );
  assertEquals(error.outcomeUnknown, false);
  await until(async () => (await backend.read(TRIP, HEAD)).outcome === "gone", "it has expired");
});

Deno.test("redis: what is missing or belongs to another program is damaged, not absent", async () => {
  await using server = await startRedis();
  await using backend = await openRedisBackend({ url: server.url, ...quiet });
  await mint(backend, TRIP);
  await mint(backend, { user: "alice", id: "cart_1" });
  const base = "mcpstate:{alice}:";
  await server.cli("DEL", `${base}head:${TRIP.id}`);
  await assertRejects(() => backend.read(TRIP, HEAD), BackendError, "damaged");
  await assertRejects(() => backend.touch(TRIP, { ttlDays: 1 }), BackendError, "damaged");
  await server.cli("HDEL", `${base}head:cart_1`, "kind");
  await assertRejects(() => backend.read({ user: "alice", id: "cart_1" }, HEAD), BackendError, "damaged");
  await mint(backend, { user: "alice", id: "cart_2" });
  const page = await backend.list("alice", { direction: "up", from: 0, limit: 9, tombstones: true });
  assertEquals(page.documents.map(({ id }) => id), ["cart_2"], "the others are listed");
  await server.cli("SET", `${base}head:cart_3`, "of another program");
  await assertRejects(() => backend.read({ user: "alice", id: "cart_3" }, HEAD), BackendError, "another program");
});

Deno.test("redis: dropped parts of documents are told as damage, and are in nobody's way", async () => {
  await using server = await startRedis();
  await using backend = await openRedisBackend({ url: server.url, ...quiet });
  await mint(backend, TRIP, { ttlDays: seconds(0.2) });
  await server.cli("HDEL", "mcpstate:{alice}:marks", TRIP.id);
  await mint(backend, { user: "alice", id: "cart_1" }, { ttlDays: seconds(0.2) });
  await until(async () => await backend.sweep("alice", 1) === 1, "the whole one is buried");
  assertEquals((await backend.read({ user: "alice", id: "cart_1" }, HEAD)).outcome, "gone");
  await assertRejects(() => backend.read(TRIP, HEAD), BackendError, "damaged");
});
