import { assertEquals, assertRejects } from "@std/assert";
import { HandleNotFound, InvalidInput, StateTooLarge } from "../../src/document/errors.ts";
import type { JsonObject } from "../../src/document/json.ts";
import { seconds, until } from "./drafts.ts";
import type { StoreCase } from "./store.ts";

const alice = { user: "alice" };

function counted({ visits = 0 }: JsonObject): JsonObject {
  return { visits: Number(visits) + 1 };
}

export function updateCases(contract: StoreCase): void {
  contract("update: works out from what stands there, and nothing is lost to a race", async (store, open) => {
    const stores = [store, await open(), await open()];
    const handle = await store.mint("trip", { city: "Copenhagen", visits: 0 }, alice);
    await Promise.all(Array.from({ length: 30 }, (_, i) => stores[i % 3].update(handle, counted, alice)));
    const { state, version } = await store.get(handle, alice);
    assertEquals([state, version], [{ city: "Copenhagen", visits: 30 }, 31]);
  });

  contract(
    "update: sets and removes keys with a patch of just these; what changes nothing writes nothing",
    async (store) => {
      const handle = await store.mint("trip", { city: "Copenhagen", stops: ["Odense"] }, alice);
      const places: unknown[] = [];
      const after = await store.update(handle, (_, place) => {
        places.push(place);
        return { city: undefined, stops: ["Odense", "Aarhus"] };
      }, { ...alice, turn: 3 });
      assertEquals([after.version, after.turn, after.state], [2, 3, { stops: ["Odense", "Aarhus"] }]);
      assertEquals(places, [{ version: 2, turn: 3 }]);
      const { changes: [change] } = await store.changes(handle, { ...alice, since: 1 });
      assertEquals(change.patch.map(({ op, path }) => [op, path]).sort(), [["add", "/stops/1"], ["remove", "/city"]]);
      assertEquals((await store.update(handle, () => ({ gone: undefined }), alice)).version, 2);
    },
  );

  contract("update: makes the document that is not there, once", async (store, open) => {
    const stores = [store, await open(), await open()];
    await assertRejects(() => store.update("trip/of/1814", counted, alice), HandleNotFound);
    const making = { ...alice, create: "trip" };
    await Promise.all(Array.from({ length: 9 }, (_, i) => stores[i % 3].update("trip/of/1814", counted, making)));
    const { state, version, kind } = await store.get("trip/of/1814", alice);
    assertEquals([state, version, kind], [{ visits: 9 }, 9, "trip"]);
    await assertRejects(() => store.update("trip/of/1814", counted, { ...alice, create: "cart" }), InvalidInput);
  });

  contract("update: takes the place of a document that has expired or was deleted", async (store) => {
    const making = { ...alice, create: "trip" };
    await store.update("a", counted, { ...making, ttlDays: seconds(0.5) });
    await until(async () => (await store.list("alice")).handles.length === 0, "the trip to expire");
    assertEquals((await store.update("a", counted, making)).state, { visits: 1 });
    await store.revoke("a", alice);
    assertEquals((await store.update("a", counted, making)).state, { visits: 1 });
  });

  contract("update: that is refused leaves everything as it was", async (_, open) => {
    const store = await open({ maxStateBytes: 100 });
    const handle = await store.mint("trip", { city: "Copenhagen" }, alice);
    await assertRejects(() => store.update(handle, () => ({ city: NaN }), alice), InvalidInput, "/city");
    await assertRejects(() => store.update(handle, () => ({ city: "c".repeat(100) }), alice), StateTooLarge);
    await assertRejects(
      () =>
        store.update("new", () => {
          throw new InvalidInput("city", "no city");
        }, { ...alice, create: "trip" }),
      InvalidInput,
      "no city",
    );
    assertEquals((await store.get(handle, alice)).version, 1);
    assertEquals((await store.list("alice")).handles.length, 1);
  });

  contract("update: with a request id has one effect, in making and in changing", async (store, open) => {
    const other = await open();
    const call = (requestId: string) => ({ ...alice, create: "trip", requestId, args: { by: 1 } });
    await store.update("a", counted, call("first"));
    assertEquals((await other.update("a", counted, call("first"))).version, 1);
    await other.update("a", counted, call("second"));
    const replayed = await store.update("a", counted, call("second"));
    assertEquals([replayed.version, replayed.replayed], [2, true]);
    await assertRejects(() => store.update("a", counted, { ...call("second"), args: { by: 2 } }), InvalidInput);
    assertEquals((await store.get("a", alice)).version, 2);
  });
}
