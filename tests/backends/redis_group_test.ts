import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Backend } from "../../src/backends/backend.ts";
import { openRedisBackend } from "../../src/backends/redis.ts";
import { BackendError } from "../../src/document/errors.ts";
import { append } from "../../src/document/ops.ts";
import { HandleStore } from "../../src/store/store.ts";
import { AARHUS, appendAfter, expected, mint, ODENSE, removal, write } from "../contract/drafts.ts";
import { startRedis } from "../redis_server.ts";

const server = await startRedis();
const DAYS = ["mon", "tue", "wed", "thu"].map((day) => ({ user: "alice", id: `trip_${day}` }));

function open(): Promise<Backend> {
  return openRedisBackend({ url: server.url, prefix: `test-${crypto.randomUUID()}`, onWarning: () => {} });
}

Deno.test("append: of several documents at once is one script, and each has its own outcome", async () => {
  await using backend = await open();
  const [mon, tue, wed] = DAYS;
  const heads = [await mint(backend, mon), await mint(backend, tue), await mint(backend, wed)];
  const moved = await write(backend, tue, heads[1], [ODENSE]);
  await backend.remove(wed, removal());
  const answers = await Promise.all([mon, tue, wed].map((key, i) => {
    return backend.append(key, expected(heads[i]), appendAfter(heads[i], [AARHUS]));
  }));
  assertEquals(answers.map(({ outcome }) => outcome), ["appended", "lost", "gone"]);
  assert(answers[0].outcome === "appended" && answers[1].outcome === "lost");
  const found = await backend.read(mon, { as: "head" });
  assert(found.outcome === "found");
  assertEquals(found.head, answers[0].head);
  assertEquals(found.entries.at(-1)?.body, AARHUS);
  assertEquals(answers[1].found.head, moved);
});

Deno.test("append: of several documents at once that is sent twice is answered alike, and is there once", async () => {
  await using backend = await open();
  const heads = await Promise.all(DAYS.map((key) => mint(backend, key)));
  const drafts = heads.map((head) => appendAfter(head, [AARHUS], {}, { turn: 3, title: "Jutland" }));
  const send = () => Promise.all(DAYS.map((key, i) => backend.append(key, expected(heads[i]), drafts[i])));
  const first = await send();
  assertEquals(await send(), first);
  const page = await backend.list("alice", { direction: "up", from: 0, limit: 10, tombstones: false });
  assertEquals(
    page.documents.map(({ id, seq }) => [id, seq]),
    DAYS.map(({ id }, i) => [id, DAYS.length + 1 + i]),
  );
  const turn = await Promise.all(DAYS.map((key) => backend.locate(key, { turn: 3 })));
  assertEquals(turn.map((stamp) => stamp?.version), DAYS.map(() => 2));
});

Deno.test("append: two of one document at once make one version, and the other is told", async () => {
  await using backend = await open();
  const head = await mint(backend, DAYS[0]);
  const answers = await Promise.all([AARHUS, ODENSE].map((body) => {
    return backend.append(DAYS[0], expected(head), appendAfter(head, [body]));
  }));
  assertEquals(answers.map(({ outcome }) => outcome), ["appended", "lost"]);
});

Deno.test("append: a damaged document among several is told, and the others are written", async () => {
  await using backend = await openRedisBackend({ url: server.url, prefix: "damaged", onWarning: () => {} });
  const [mon, tue] = DAYS;
  const heads = [await mint(backend, mon), await mint(backend, tue)];
  const journal = "damaged:{alice}:journal:trip_mon";
  await server.cli("DEL", journal);
  await server.cli("SET", journal, "of another program");
  const [torn, whole] = [mon, tue].map((key, i) => {
    return backend.append(key, expected(heads[i]), appendAfter(heads[i], [AARHUS]));
  });
  await Promise.all([assertRejects(() => torn, BackendError), whole]);
  assertEquals((await whole).outcome, "appended");
});

Deno.test("patch: a hundred documents at once take a few scripts, and every item lands", async () => {
  await using store = new HandleStore(await open());
  const alice = { user: "alice" };
  const carts = await Promise.all(Array.from({ length: 100 }, () => store.mint("cart", { items: [] }, alice)));
  const before = await scripts();
  const results = await Promise.all(carts.map((cart, i) => store.patch(cart, [append("items", i)], alice)));
  const taken = await scripts() - before;
  assert(taken < 20, `${taken} scripts`);
  assertEquals(results.map(({ state }) => state), carts.map((_, i) => ({ items: [i] })));
  const read = await Promise.all(carts.map((cart) => store.get(cart, alice)));
  assertEquals(
    read.map(({ state, version }) => ({ state, version })),
    carts.map((_, i) => ({ state: { items: [i] }, version: 2 })),
  );
});

async function scripts(): Promise<number> {
  const calls = /cmdstat_evalsha:calls=(\d+)/.exec(await server.cli("INFO", "commandstats"))?.[1];
  return Number(calls ?? 0);
}
