import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { openRedisBackend } from "../../src/backends/redis.ts";
import { slotOf } from "../../src/backends/redis/cluster.ts";
import { Keys } from "../../src/backends/redis/keys.ts";
import { parseRedisUrl } from "../../src/backends/redis/options.ts";
import { InvalidInput } from "../../src/document/errors.ts";

Deno.test("parseRedisUrl: reads host, port, database, credentials and parameters", () => {
  const server = {
    host: "db.example",
    port: 6379,
    username: undefined,
    password: undefined,
    database: undefined,
    tls: undefined,
  };
  const plain = { servers: [server], isCluster: false, prefix: undefined, caPath: undefined };
  assertEquals(parseRedisUrl("redis://db.example"), plain);
  assertEquals(parseRedisUrl("redis://db.example:6380/3"), {
    ...plain,
    servers: [{ ...server, port: 6380, database: 3 }],
  });
  assertEquals(parseRedisUrl("redis://[::1]:7000/?prefix=test:1"), {
    ...plain,
    servers: [{ ...server, host: "::1", port: 7000 }],
    prefix: "test:1",
  });
  const credentials = { username: "alice", password: "p@ss/w:rd#?" };
  assertEquals(parseRedisUrl("rediss://alice:p%40ss%2Fw:rd%23%3F@db.example/?ca=/etc/ca.pem"), {
    ...plain,
    servers: [{ ...server, ...credentials, tls: {} }],
    caPath: "/etc/ca.pem",
  });
  assertEquals(parseRedisUrl("redis://:secret@db.example").servers[0].password, "secret");
  const cluster = parseRedisUrl("redis://a:1,b:2/?cluster=true");
  assertEquals([cluster.isCluster, cluster.servers.map(({ host, port }) => `${host}:${port}`)], [true, ["a:1", "b:2"]]);
});

Deno.test("parseRedisUrl: refuses what it does not understand and never repeats it", async () => {
  const urls = [
    "redis://",
    "redis:db.example",
    "redis://alice:hunter/2@db.example",
    "redis://alice:hunter@2@db.example",
    "redis://alice:hunter?2@db.example",
    "redis://alice:hunter#2@db.example",
    "redis://alice:hunter%2@db.example",
    "redis://db.example:99999",
    "redis://db.example:hunter2",
    "redis://db.example/hunter2",
    "redis://db.example?password=hunter2",
    "redis://db.example?hunter2",
    "redis://db.example?cluster=hunter2",
    "redis://a,hunter2",
    "redis://db.example/1?cluster=true",
    "redis://db.example?ca=/hunter2.pem",
  ];
  for (const url of urls) {
    const error = assertThrows(() => parseRedisUrl(url), InvalidInput);
    assert(!/hunter|alice/.test(error.message), error.message);
    await assertRejects(() => openRedisBackend({ url }), InvalidInput);
  }
  for (const prefix of ["", "{a}", "a b", "*", "x".repeat(65)]) {
    await assertRejects(() => openRedisBackend({ url: "redis://127.0.0.1:1", prefix }), InvalidInput, "prefix");
  }
  await assertRejects(() => openRedisBackend({ url: "rediss://127.0.0.1:1/?ca=/no/such/file" }), InvalidInput);
});

Deno.test("Keys: all of one user share a slot, and no two users share a key", () => {
  const keys = new Keys("mcpstate");
  const users = ["alice", "a:b", "a", "{a}", "}", "{", "%7B", "a/b", "🦊", "a}:head:x", "+", "%2B"];
  const seen = new Set<string>();
  for (const user of users) {
    const key = { user, id: "x}:{y}:user" };
    const all = [
      ...keys.user(user),
      ...keys.document(key),
      keys.requests(user),
      keys.request(user, "{r}"),
      ...keys.staged(user),
    ];
    assertEquals(new Set(all.map(slotOf)).size, 1);
    for (const each of all) {
      assert(!seen.has(each), each);
      seen.add(each);
      assertEquals(keys.parse(each)?.user, user);
      assertEquals(keys.parse(each)?.name === "user", each === keys.channel(user));
    }
  }
  for (const foreign of ["mcpstate:{+}:probe", "mcpstate:{%}:user", "mcpstate:user", "other:{a}:user", "mcpstate:{a"]) {
    assertEquals(keys.parse(foreign), undefined, foreign);
  }
  assertEquals([slotOf("123456789"), slotOf("{user1000}.following"), slotOf("foo{}{bar}")], [
    12_739,
    slotOf("user1000"),
    8_363,
  ]);
});
