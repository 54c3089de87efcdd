import { assert, assertEquals, assertRejects } from "@std/assert";
import { openSqliteBackend } from "../../src/backends/sqlite.ts";
import { BackendError, HandleNotFound } from "../../src/document/errors.ts";
import { setKey } from "../../src/document/ops.ts";
import { HandleStore } from "../../src/store/store.ts";
import { forward, inOneConnection } from "../contract/target.ts";

const alice = { user: "alice" };

Deno.test("patch: of a document that came back is not answered with what was true before it", async () => {
  await using target = await inOneConnection(() => openSqliteBackend({ path: ":memory:" }));
  const backend = await target.open();
  const answered = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  await using slow = new HandleStore({
    ...forward(backend),
    async read(key, want, held) {
      const answer = await backend.read(key, want, held);
      answered.resolve();
      await released.promise;
      return answer;
    },
  });
  await using other = new HandleStore(await target.open());
  const early = assertRejects(() => slow.patch("trip", [setKey("", "city", "Odense")], alice), HandleNotFound);
  await answered.promise;
  await other.update("trip", () => ({ city: "Copenhagen" }), { ...alice, create: "trip" });
  const late = slow.patch("trip", [setKey("", "city", "Aarhus")], alice);
  released.resolve();
  await early;
  assertEquals((await late).state, { city: "Aarhus" });
});

Deno.test("patch: whose reply and whose look-up are both lost is not said to have failed", async () => {
  await using target = await inOneConnection(() => openSqliteBackend({ path: ":memory:" }));
  const backend = await target.open();
  let isCut = false;
  await using cut = new HandleStore({
    ...forward(backend),
    async append(...args) {
      await backend.append(...args);
      isCut = true;
      throw new BackendError("The connection was cut.", { outcomeUnknown: true });
    },
    findRequest(...args) {
      if (isCut) throw new BackendError("The connection was cut.");
      return backend.findRequest(...args);
    },
  });
  const { handle } = await cut.create("trip", { city: "Odense" }, alice);
  const move = [setKey("", "city", "Aarhus")];
  const error = await assertRejects(
    () => cut.patch(handle, move, { ...alice, requestId: "move" }),
    BackendError,
  );
  assert(error.outcomeUnknown);
  await using other = new HandleStore(await target.open());
  assertEquals((await other.patch(handle, move, { ...alice, requestId: "move" })).version, 2);
});

Deno.test("save: refused while its request cannot be looked up may have landed before", async () => {
  await using target = await inOneConnection(() => openSqliteBackend({ path: ":memory:" }));
  const backend = await target.open();
  await using store = new HandleStore(backend);
  const { handle } = await store.create("trip", { city: "Odense" }, alice);
  const options = { ...alice, expectVersion: 1, requestId: "move" };
  await store.save(handle, { city: "Aarhus" }, options);
  await using cut = new HandleStore({
    ...forward(await target.open()),
    findRequest: () => Promise.reject(new BackendError("The connection was cut.")),
  });
  const error = await assertRejects(() => cut.save(handle, { city: "Aarhus" }, options), BackendError);
  assert(error.outcomeUnknown);
});

Deno.test("patch: of several that go together, each is answered the life that the document has, whoever renewed it", async () => {
  await using target = await inOneConnection(() => openSqliteBackend({ path: ":memory:" }));
  await using store = new HandleStore(await target.open());
  await using other = new HandleStore(await target.open());
  const handle = await store.mint("trip", { city: "Odense" }, { ...alice, ttlDays: 1 });
  await other.touch(handle, { ...alice, ttlDays: null });
  const patches = ["a", "b", "c"].map((key) => store.patch(handle, [setKey("", key, 1)], alice));
  const lives = (await Promise.all(patches)).map(({ version, expiresAt, ttlDays }) => [version, expiresAt, ttlDays]);
  assertEquals(lives, [[2, undefined, undefined], [3, undefined, undefined], [4, undefined, undefined]]);
});
