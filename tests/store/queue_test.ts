import { assertEquals, assertRejects } from "@std/assert";
import { openSqliteBackend } from "../../src/backends/sqlite.ts";
import { HandleNotFound } from "../../src/document/errors.ts";
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
