import { assertEquals } from "@std/assert";
import {
  AARHUS,
  append,
  appendAfter,
  assertSame,
  creation,
  entryDraft,
  expected,
  find,
  HEAD,
  mint,
  ODENSE,
  removal,
  requestDraft,
  TRIP,
  write,
} from "./drafts.ts";
import type { Case } from "./target.ts";

export function requestCases(contract: Case): void {
  contract("request: of a creation is remembered and answered again", async (backend) => {
    const request = requestDraft("mint-1");
    const head = await mint(backend, TRIP, { ttlDays: 2, turn: 3 }, { request });
    const record = {
      ...request,
      documentId: TRIP.id,
      version: 1,
      writeId: head.writeId,
      at: head.createdAt,
      turn: 3,
      ttlDays: 2,
      expiresAt: head.expiresAt,
    };
    assertSame(await backend.findRequest("alice", "mint-1"), record);
    const other = { user: "alice", id: "trip_other" };
    const again = creation({ request: { id: "mint-1", fingerprint: "another", meta: "another" }, quota: 1 });
    assertSame(await backend.create(other, again), { outcome: "replayed", record });
    assertEquals((await backend.read(other, HEAD)).outcome, "absent");
    assertSame((await find(backend, TRIP)).head, head);
  });

  contract("request: of each step of an append is remembered, also of one without an entry", async (backend) => {
    const first = await mint(backend, TRIP, { turn: 1 });
    const second = entryDraft(AARHUS, first.offset, { turn: 2 });
    const third = entryDraft(ODENSE, second.offset, { ttlDays: 4 });
    const requests = ["patch-1", "patch-2", "no-op"].map(requestDraft);
    const steps = [
      { entry: second, request: requests[0] },
      { entry: third, request: requests[1] },
      { request: requests[2] },
    ];
    const { head, stamps } = await append(backend, TRIP, first, { steps, bytes: 9, oldest: 1 });
    assertEquals([stamps.length, head.version, head.seq], [2, 3, 3]);
    const common = { documentId: TRIP.id, at: head.updatedAt, turn: 2 };
    const last = { ...common, version: 3, writeId: third.writeId, ttlDays: 4, expiresAt: head.expiresAt };
    assertSame(await Promise.all(requests.map(({ id }) => backend.findRequest("alice", id))), [
      { ...requests[0], ...common, version: 2, writeId: second.writeId },
      { ...requests[1], ...last },
      { ...requests[2], ...last },
    ]);
  });

  contract("request: alone makes no version and takes no sequence number", async (backend) => {
    const head = await mint(backend, TRIP);
    const request = requestDraft("no-op");
    const answer = await append(backend, TRIP, head, { steps: [{ request }], bytes: head.bytes, oldest: 1 });
    assertSame(answer, { outcome: "appended", head, stamps: [] });
    assertSame((await find(backend, TRIP)).head, head);
    const record = await backend.findRequest("alice", "no-op");
    assertSame([record?.version, record?.writeId], [1, head.writeId]);
    const draft = appendAfter(head, [AARHUS]);
    const late = await backend.append(TRIP, expected(head), { ...draft, steps: [{ ...draft.steps[0], request }] });
    assertSame(late, { outcome: "replayed", record });
    assertSame((await find(backend, TRIP)).head, head);
  });

  contract("request: known is answered before anything else is looked at", async (backend) => {
    const first = await mint(backend, TRIP);
    const request = requestDraft("patch-1");
    const draft = appendAfter(first, [AARHUS]);
    const once = { ...draft, steps: [{ ...draft.steps[0], request }] };
    await append(backend, TRIP, first, once);
    const record = await backend.findRequest("alice", "patch-1");
    const replayed = { outcome: "replayed", record };
    const other = appendAfter(first, [ODENSE, ODENSE]);
    const batch = { ...other, steps: [other.steps[0], { ...other.steps[1], request }] };
    assertSame(await backend.append(TRIP, { version: 9, writeId: "stale", turn: 0 }, batch), replayed);
    assertSame(await backend.append({ user: "alice", id: "trip_never" }, expected(first), batch), replayed);
    await backend.remove(TRIP, removal());
    assertSame(await backend.append(TRIP, expected(first), batch), replayed);
    assertSame(await backend.remove(TRIP, removal(1, request)), replayed);
    assertEquals((await backend.read(TRIP, HEAD)).outcome, "gone");
  });

  contract("request: sent twice with its entry has one effect", async (backend) => {
    const first = await mint(backend, TRIP);
    const draft = appendAfter(first, [AARHUS]);
    const once = { ...draft, steps: [{ ...draft.steps[0], request: requestDraft("patch-1") }] };
    const { head } = await append(backend, TRIP, first, once);
    await backend.append(TRIP, expected(first), once);
    await write(backend, TRIP, head, [ODENSE]);
    await backend.append(TRIP, expected(first), once);
    assertEquals((await find(backend, TRIP)).entries.map(({ version }) => version), [1, 2, 3]);
  });

  contract("request: of one step of a batch that is sent twice does not hide the others", async (backend) => {
    const first = await mint(backend, TRIP);
    const draft = appendAfter(first, [AARHUS, ODENSE, AARHUS]);
    const [one, two, three] = draft.steps;
    const batch = { ...draft, steps: [one, { ...two, request: requestDraft("patch-1") }, three] };
    const answer = await append(backend, TRIP, first, batch);
    assertSame(await append(backend, TRIP, first, batch), answer);
    const head = await write(backend, TRIP, answer.head, [ODENSE]);
    assertSame(await append(backend, TRIP, first, batch), { ...answer, head });
    assertEquals((await find(backend, TRIP)).entries.map(({ version }) => version), [1, 2, 3, 4, 5]);
  });

  contract("request: is not remembered where nothing was written", async (backend) => {
    const first = await mint(backend, TRIP);
    const head = await write(backend, TRIP, first, [AARHUS]);
    const request = requestDraft("loser");
    const draft = appendAfter(first, [ODENSE]);
    const losing = { ...draft, steps: [{ ...draft.steps[0], request }] };
    assertEquals((await backend.append(TRIP, expected(first), losing)).outcome, "lost");
    assertEquals((await backend.remove(TRIP, removal(1, request))).outcome, "lost");
    assertEquals((await backend.create(TRIP, creation({ request }))).outcome, "exists");
    const other = { user: "alice", id: "trip_other" };
    assertEquals((await backend.create(other, creation({ request, quota: 1 }))).outcome, "quota");
    assertEquals((await backend.append(other, expected(head), losing)).outcome, "absent");
    await backend.remove(TRIP, removal());
    assertEquals((await backend.append(TRIP, expected(head), losing)).outcome, "gone");
    assertEquals((await backend.remove(TRIP, removal(undefined, request))).outcome, "gone");
    assertEquals(await backend.findRequest("alice", "loser"), undefined);
  });

  contract("request: of two at once on two connections, one lands", async (backend, open) => {
    const head = await mint(backend, TRIP);
    const connections = [backend, await open(), await open()];
    const answers = await Promise.all(connections.map((connection) => {
      const draft = appendAfter(head, [AARHUS]);
      const steps = [{ ...draft.steps[0], request: requestDraft("patch-1") }];
      return connection.append(TRIP, expected(head), { ...draft, steps });
    }));
    assertEquals(answers.map(({ outcome }) => outcome).sort(), ["appended", "replayed", "replayed"]);
    assertEquals((await find(backend, TRIP)).head.version, 2);
    const mints = await Promise.all(
      connections.map((connection, i) =>
        connection.create({ user: "alice", id: `cart_${i}` }, creation({ request: requestDraft("mint-1") }))
      ),
    );
    assertEquals(mints.map(({ outcome }) => outcome).sort(), ["appended", "replayed", "replayed"]);
  });

  contract("request: id is the user's own, any text", async (backend) => {
    const ids = ["mint:1", "{1}", "日".repeat(66), "*", " ", "index", "1/2", "🦊"];
    for (const user of ["alice", "bob"]) {
      for (const [i, id] of ids.entries()) {
        const head = await mint(backend, { user, id: `cart_${i}` }, {}, { request: requestDraft(id) });
        assertEquals(head.version, 1);
      }
    }
    for (const [i, id] of ids.entries()) {
      assertEquals((await backend.findRequest("bob", id))?.documentId, `cart_${i}`);
      assertEquals(await backend.findRequest("carol", id), undefined);
    }
  });
}
