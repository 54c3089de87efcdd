import { assert, assertEquals, assertRejects } from "@std/assert";
import { BackendError } from "../../src/document/errors.ts";
import type { ListRange } from "../../src/backends/backend.ts";
import {
  AARHUS,
  append,
  appendAfter,
  assertSame,
  creation,
  entriesOf,
  find,
  HEAD,
  keyframeOf,
  mint,
  removal,
  requestDraft,
  TRIP,
  write,
} from "./drafts.ts";
import type { Case } from "./target.ts";

const MEBIBYTE = 1024 * 1024;

export function scaleCases(contract: Case): void {
  contract("size: a body of 1 MiB is kept whole, in every place", async (backend) => {
    const large = (fill: string) => `{"notes":"${fill.repeat(MEBIBYTE - 12)}"}`;
    let head = await mint(backend, TRIP, { body: large("a") });
    const draft = appendAfter(head, [large("b")]);
    const keyframe = keyframeOf(head, draft, `{"state":${large("b")}}`);
    head = (await append(backend, TRIP, head, { ...draft, keyframe })).head;
    head = await write(backend, TRIP, head, [AARHUS]);
    const found = await find(backend, TRIP);
    assertSame([found.head, found.onto, found.entries.map(({ body }) => body)], [head, keyframe, [AARHUS]]);
    const first = await find(backend, TRIP, { as: "version", version: 1 });
    assertSame([first.onto, first.entries.map(({ body }) => body)], ["nothing", [large("a")]]);
    const all = await find(backend, TRIP, HEAD, { version: 0, writeId: "" });
    assertEquals(all.entries.map(({ body }) => body), [large("a"), large("b"), AARHUS]);
    await backend.remove(TRIP, removal());
    assertEquals((await backend.read(TRIP, HEAD)).outcome, "gone");
    assertEquals((await mint(backend, TRIP, { body: large("c") })).version, 1);
    assertEquals((await find(backend, TRIP)).entries.map(({ body }) => body), [large("c")]);
  });

  contract("size: text beyond ASCII is kept whole", async (backend) => {
    const body = JSON.stringify({
      notes: "東京から京都へ、それから奈良へ。".repeat(12_000),
      fox: "🦊é\u0301\u2028\u0001",
    });
    let head = await mint(backend, TRIP, { body, writer: "電話", title: "旅🦊" });
    head = await write(backend, TRIP, head, [body, body]);
    const found = await find(backend, TRIP);
    assertEquals(found.entries.map((entry) => entry.body === body), [true, true, true]);
    assertEquals([found.entries[0].writer, found.head.title], ["電話", "旅🦊"]);
  });

  contract("size: a batch of 64 entries with requests and a keyframe goes as one", async (backend) => {
    const first = await mint(backend, TRIP);
    const item = (i: number) => `[{"op":"add","path":"/n${i}","value":"${"v".repeat(4000)}"}]`;
    const draft = appendAfter(first, Array.from({ length: 64 }, (_, i) => item(i)));
    const steps = draft.steps.map((step, i) => ({ ...step, request: requestDraft(`patch-${i}`) }));
    const keyframe = keyframeOf(first, draft, `{"state":"${"k".repeat(MEBIBYTE)}"}`);
    const { head, stamps } = await append(backend, TRIP, first, { ...draft, steps, keyframe });
    assertEquals([head.version, head.base.version], [65, 65]);
    const all = await find(backend, TRIP, HEAD, { version: 0, writeId: "" });
    assertSame(all.entries.slice(1), entriesOf(draft, stamps));
    assertSame((await find(backend, TRIP)).onto, keyframe);
    const records = await Promise.all(steps.map(({ request }) => backend.findRequest("alice", request.id)));
    assertEquals(records.map((record) => record?.version), stamps.map(({ version }) => version));
  });

  contract("size: more than a thousand documents of one user are listed, counted and purged", async (backend) => {
    const count = 1_100;
    for (let i = 0; i < count; i += 50) {
      const ids = Array.from({ length: 50 }, (_, j) => `cart_${i + j}`);
      await Promise.all(ids.map((id) => mint(backend, { user: "alice", id })));
    }
    for (const direction of ["up", "down"] as const) {
      const ids = new Set<string>();
      const seqs: number[] = [];
      const range: ListRange = { direction, from: direction === "up" ? 0 : 1e15, limit: 333, tombstones: true };
      for (let from: number | undefined = range.from; from !== undefined;) {
        const page = await backend.list("alice", { ...range, from });
        for (const { id, seq } of page.documents) {
          ids.add(id);
          seqs.push(seq);
        }
        assertEquals(page.seq, count);
        from = page.next;
      }
      const ascending = Array.from({ length: count }, (_, i) => i + 1);
      assertEquals([ids.size, seqs.length], [count, count]);
      assertEquals(seqs, direction === "up" ? ascending : ascending.reverse());
    }
    const page = await backend.list("alice", { direction: "down", from: 1e15, limit: 1_000, tombstones: false });
    assertEquals(page.documents.length, 1_000);
    assertSame(await backend.create(TRIP, creation({ quota: count })), { outcome: "quota", held: count });
    assertEquals(await backend.purge("alice"), count);
    assertEquals((await mint(backend, TRIP, {}, { quota: 1 })).seq, 1);
  });

  contract("size: a journal of a thousand entries is found and walked", async (backend) => {
    let head = await mint(backend, TRIP, { turn: 1 });
    for (let i = 0; i < 20; i++) {
      const bodies = Array.from({ length: 50 }, (_, j) => `[{"op":"add","path":"/n${i * 50 + j}","value":1}]`);
      head = await write(backend, TRIP, head, bodies, { turn: i + 1 });
    }
    const { entries } = await find(backend, TRIP);
    assertEquals(entries.map(({ version }) => version), Array.from({ length: 1_001 }, (_, i) => i + 1));
    const turn = await find(backend, TRIP, { as: "turn", turn: 10 });
    assertEquals(turn.entries.at(-1)?.version, 501);
    const tail = await backend.entries(TRIP, 990, 1_000);
    assert(tail.outcome === "found");
    assertSame(tail.entries, entries.slice(990));
    assertEquals((await backend.locate(TRIP, { offset: entries[700].offset }))?.version, 701);
  });

  contract("dispose: twice is fine, and afterwards every call is refused", async (backend) => {
    await mint(backend, TRIP);
    await backend[Symbol.asyncDispose]();
    await backend[Symbol.asyncDispose]();
    await assertRejects(() => backend.read(TRIP, HEAD), BackendError);
    await assertRejects(() => backend.create(TRIP, creation()), BackendError);
    await assertRejects(
      () => backend.list("alice", { direction: "down", from: 9, limit: 9, tombstones: false }),
      BackendError,
    );
  });
}
