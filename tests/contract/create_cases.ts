import { assert, assertEquals } from "@std/assert";
import {
  AARHUS,
  assertSame,
  creation,
  find,
  HEAD,
  mint,
  outlive,
  removal,
  requestDraft,
  seconds,
  TRIP,
  write,
} from "./drafts.ts";
import type { Case } from "./target.ts";

export function createCases(contract: Case): void {
  contract("create: writes version 1 and answers its head and stamp", async (backend) => {
    const draft = creation({}, { title: "Spring", ttlDays: 2, turn: 3 });
    const answer = await backend.create(TRIP, draft);
    assert(answer.outcome === "appended");
    const { writeId, writer, offset } = draft.entry;
    const at = answer.head.createdAt;
    const head = {
      id: TRIP.id,
      kind: "trip",
      title: "Spring",
      version: 1,
      writeId,
      createdAt: at,
      updatedAt: at,
      writer,
      turn: 3,
      firstTurn: 3,
      ttlDays: 2,
      expiresAt: at + 2 * 86_400_000,
      bytes: draft.bytes,
      oldest: 1,
      offset,
      base: { version: 1, bytes: draft.bytes, offset },
      seq: 1,
      createdSeq: 1,
    };
    const stamp = { version: 1, writeId, at, turn: 3, writer, seq: 1, offset };
    assertSame(answer, { outcome: "appended", head, stamps: [stamp] });
    const found = await find(backend, TRIP);
    assertSame(found, {
      outcome: "found",
      head,
      target: stamp,
      onto: "nothing",
      entries: [{ ...stamp, body: draft.entry.body }],
    });
    assert(Math.abs(at - Date.now()) < 3_600_000, "times are milliseconds since 1970");
  });

  contract("create: needs neither title, nor time to live, nor turn", async (backend) => {
    const head = await mint(backend, TRIP);
    assertSame(
      { title: head.title, ttlDays: head.ttlDays, expiresAt: head.expiresAt, turn: head.turn, first: head.firstTurn },
      { turn: 0, first: 0 },
    );
    assertSame((await find(backend, TRIP)).head, head);
  });

  contract("create: answers what is there where the id is taken", async (backend) => {
    const head = await mint(backend, TRIP);
    const answer = await backend.create(TRIP, creation({ kind: "cart" }, { body: '{"items":[]}' }));
    assert(answer.outcome === "exists");
    assertSame(answer.found.head, head);
    assertEquals(answer.found.entries.map(({ version }) => version), [1]);
    assertSame((await find(backend, TRIP)).head, head);
    assertEquals((await backend.list(TRIP.user, { direction: "down", from: 99, limit: 9, tombstones: true })).seq, 1);
  });

  contract("create: sent twice has one effect, also after others wrote", async (backend) => {
    const draft = creation();
    const first = await backend.create(TRIP, draft);
    assert(first.outcome === "appended");
    assertSame(await backend.create(TRIP, draft), first);
    const head = await write(backend, TRIP, first.head, [AARHUS]);
    assertSame(await backend.create(TRIP, draft), { ...first, head });
    assertSame((await find(backend, TRIP)).head, head);
  });

  contract("create: sent twice is the same creation, not a replay of its request", async (backend) => {
    const draft = creation({ request: requestDraft("mint-1") });
    const first = await backend.create(TRIP, draft);
    assertEquals(first.outcome, "appended");
    assertSame(await backend.create(TRIP, draft), first);
    const again = await backend.create(TRIP, creation({ request: requestDraft("mint-1") }));
    assertEquals(again.outcome, "replayed");
  });

  contract("create: sent again after its document was deleted does not make it anew", async (backend) => {
    const draft = creation();
    const made = await backend.create(TRIP, draft);
    assert(made.outcome === "appended");
    await write(backend, TRIP, made.head, [AARHUS]);
    await backend.remove(TRIP, removal());
    const gone = await backend.read(TRIP, HEAD);
    assertEquals(gone.outcome, "gone");
    assertSame(await backend.create(TRIP, draft), gone);
    assertSame(await backend.read(TRIP, HEAD), gone);
    assertEquals((await backend.list("alice", { direction: "up", from: 0, limit: 9, tombstones: true })).seq, 3);
    await mint(backend, TRIP); // whoever names it anew means another
  });

  contract("create: sent again after its document has expired does not make it anew", async (backend) => {
    const ttlDays = seconds(0.3);
    const drafts = [creation({}, { ttlDays }), creation()];
    for (const [i, draft] of drafts.entries()) await backend.create({ user: "alice", id: `cart_${i}` }, draft);
    await backend.touch({ user: "alice", id: "cart_1" }, { ttlDays });
    await outlive(backend, ttlDays);
    const again = await Promise.all(
      drafts.map((draft, i) => backend.create({ user: "alice", id: `cart_${i}` }, draft)),
    );
    assertEquals(again.map(({ outcome }) => outcome), ["gone", "gone"]);
    await backend.sweep("alice", 9);
    const last = await Promise.all(drafts.map((draft, i) => backend.create({ user: "alice", id: `cart_${i}` }, draft)));
    assertSame(last, again);
    for (const answer of last) assert(answer.outcome === "gone" && answer.tombstone.writeId !== "");
  });

  contract("create: sent again after its document was deleted is a replay of its request", async (backend) => {
    const draft = creation({ request: requestDraft("mint-1") });
    await backend.create(TRIP, draft);
    await backend.remove(TRIP, removal());
    const record = await backend.findRequest("alice", "mint-1");
    assertSame(await backend.create(TRIP, draft), { outcome: "replayed", record });
    assertEquals((await backend.read(TRIP, HEAD)).outcome, "gone");
  });

  contract("create: of many at once with one id, one lands", async (_, open) => {
    const connections = await Promise.all(Array.from({ length: 4 }, open));
    const answers = await Promise.all(connections.map((backend) => backend.create(TRIP, creation())));
    assertEquals(answers.map(({ outcome }) => outcome).sort(), ["appended", "exists", "exists", "exists"]);
  });

  contract("create: refuses beyond the quota and changes nothing", async (backend) => {
    for (const id of ["cart_a", "cart_b"]) await mint(backend, { user: "alice", id });
    assertSame(await backend.create(TRIP, creation({ quota: 2 })), { outcome: "quota", held: 2 });
    assertEquals((await backend.read(TRIP, HEAD)).outcome, "absent");
    await mint(backend, { user: "bob", id: TRIP.id }, {}, { quota: 1 });
    await backend.remove({ user: "alice", id: "cart_a" }, removal());
    assertEquals((await mint(backend, TRIP, {}, { quota: 2 })).createdSeq, 4);
  });

  contract("create: keeps the quota when many come at once", async (_, open) => {
    const connections = await Promise.all(Array.from({ length: 8 }, open));
    const answers = await Promise.all(
      connections.map((backend, i) => backend.create({ user: "alice", id: `cart_${i}` }, creation({ quota: 3 }))),
    );
    const landed = answers.filter(({ outcome }) => outcome === "appended");
    assertEquals(landed.length, 3);
    assertEquals(answers.filter(({ outcome }) => outcome === "quota").length, 5);
  });

  contract("create: does not count past due documents into the quota", async (backend) => {
    const ttlDays = seconds(0.3);
    for (let i = 0; i < 12; i++) await mint(backend, { user: "alice", id: `cart_${i}` }, { ttlDays });
    await outlive(backend, ttlDays);
    await mint(backend, TRIP, {}, { quota: 1 });
    assertSame(await backend.create({ user: "alice", id: "trip_late" }, creation({ quota: 1 })), {
      outcome: "quota",
      held: 1,
    });
  });

  contract("create: takes the place of a tombstone, with a journal of its own", async (backend) => {
    const old = await write(backend, TRIP, await mint(backend, TRIP, { turn: 4, title: "Old" }), [AARHUS]);
    await backend.remove(TRIP, removal());
    const deleted = await mint(backend, TRIP, { body: '{"city":"Ribe"}', ttlDays: seconds(0.3) });
    assertSame([deleted.version, deleted.turn, deleted.title, deleted.oldest], [1, 0, undefined, 1]);
    assert(deleted.createdSeq > old.seq);
    assertEquals((await find(backend, TRIP)).entries.map(({ body }) => body), ['{"city":"Ribe"}']);
    await outlive(backend, seconds(0.3));
    const expired = await mint(backend, TRIP, { body: '{"city":"Skagen"}' });
    assert(expired.createdSeq > deleted.createdSeq);
    assertEquals((await find(backend, TRIP, HEAD, old)).entries.map(({ body }) => body), ['{"city":"Skagen"}']);
    const page = await backend.list("alice", { direction: "down", from: 999, limit: 9, tombstones: true });
    assertEquals(page.documents.map(({ id }) => id), [TRIP.id]);
    assertEquals(page.forgotten, expired.createdSeq - 1, "a tombstone that made room is no longer kept");
  });
}
