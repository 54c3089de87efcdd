import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import * as v from "valibot";
import { z } from "zod";
import { InvalidInput } from "../../src/document/errors.ts";
import { append, delKey, increment, setKey } from "../../src/document/ops.ts";
import type { StandardSchema } from "../../src/store/kind.ts";
import type { StoreCase } from "./store.ts";

const alice = { user: "alice" };

interface Cart {
  items: { name: string; count: number }[];
  coupon?: string | undefined;
}

const SCHEMAS: { [name: string]: StandardSchema<Cart> } = {
  zod: z.strictObject({
    items: z.array(z.strictObject({ name: z.string().min(1), count: z.int().positive() })),
    coupon: z.string().optional(),
  }),
  valibot: v.strictObject({
    items: v.array(
      v.strictObject({
        name: v.pipe(v.string(), v.minLength(1)),
        count: v.pipe(v.number(), v.integer(), v.minValue(1)),
      }),
    ),
    coupon: v.optional(v.string()),
  }),
  "zod, async": z.strictObject({
    items: z.array(z.strictObject({ name: z.string().min(1), count: z.int().positive() })),
    coupon: z.string().optional(),
  }).refine(async () => await Promise.resolve(true)),
  "valibot, async": v.pipeAsync(
    v.strictObject({
      items: v.array(v.strictObject({ name: v.string(), count: v.pipe(v.number(), v.integer(), v.minValue(1)) })),
      coupon: v.optional(v.string()),
    }),
    v.checkAsync(async (cart) => await Promise.resolve(cart.items.every(({ name }) => name !== ""))),
  ),
};

const BREAD: Cart = { items: [{ name: "bread", count: 1 }] };

export function kindCases(contract: StoreCase): void {
  for (const [name, schema] of Object.entries(SCHEMAS)) {
    contract(`kind: holds every write to its schema (${name})`, async (store) => {
      const carts = store.kind("cart", schema);
      const handle = await carts.mint(BREAD, alice);
      const saved = await carts.save(handle, { items: [], coupon: "SPRING" }, { ...alice, expectVersion: 1 });
      const typed: Cart = saved.state;
      assertEquals([typed.coupon, (await carts.get(handle, { ...alice, version: 1 })).state], ["SPRING", BREAD]);
      const patched = await carts.patch(handle, [append("items", { name: "milk", count: 2 })], alice);
      assertEquals(patched.state.items[0].name, "milk");
      const merged = await store.save(handle, { items: [], coupon: "AUTUMN" }, {
        ...alice,
        expectVersion: 2,
        onConflict: "merge",
      });
      assertEquals([merged.version, (await carts.restore(handle, 1, { ...alice, expectVersion: 4 })).state], [
        4,
        BREAD,
      ]);
      const wrong: (() => Promise<unknown>)[] = [
        () => store.mint("cart", { items: [{ name: "", count: 1 }] }, alice),
        () => store.save(handle, { items: "none" }, { ...alice, expectVersion: 5 }),
        () => store.patch(handle, [increment("items.0.count", -1)], alice),
        () => store.patch(handle, [delKey("", "items")], alice),
        () => carts.patch(handle, [setKey("", "coupon", 5)], alice),
      ];
      for (const call of wrong) assertEquals((await assertRejects(call, InvalidInput)).field, "state");
      assertEquals((await carts.get(handle, alice)).version, 5);
    });
  }

  contract("kind: names the path of what does not fit", async (store) => {
    for (const [name, schema] of Object.entries({ zod: SCHEMAS.zod, valibot: SCHEMAS.valibot })) {
      store.kind(name, schema);
      const error = await assertRejects(
        () => store.mint(name, { items: [{ name: "bread", count: 1 }, { name: "milk", count: 0.5 }] }, alice),
        InvalidInput,
      );
      assertEquals(error.path, "/items/1/count");
    }
  });

  contract("kind: refuses a state that its schema would alter", async (store) => {
    const altering: StandardSchema[] = [
      z.object({ items: z.array(z.string()) }),
      z.looseObject({ coupon: z.string().default("NONE") }),
      z.looseObject({ items: z.coerce.string() }),
      z.looseObject({}).transform(() => 5),
      z.looseObject({}).transform(() => undefined),
      z.looseObject({ note: z.string().trim() }),
    ];
    for (const [i, schema] of altering.entries()) {
      store.kind(`kind${i}`, schema);
      const state = { items: ["bread"], more: 1, note: " x " };
      assertEquals((await assertRejects(() => store.mint(`kind${i}`, state, alice), InvalidInput)).field, "state");
    }
    assertEquals((await store.list("alice")).handles, []);
  });

  contract("kind: gets no hold on the state that is checked", async (store) => {
    const meddling: StandardSchema<{ n: number }> = {
      "~standard": {
        version: 1,
        vendor: "meddler",
        validate: (value) => {
          (value as { n: number }).n++;
          return { value: { n: 1 } };
        },
      },
    };
    const counters = store.kind("counter", meddling);
    const handle = await counters.mint({ n: 1 }, alice);
    assertEquals((await counters.get(handle, alice)).state, { n: 1 });
  });

  contract("kind: old versions are read as they are, and cannot come back if they do not fit", async (_, open) => {
    const loose = await open();
    const handle = await loose.mint("cart", { basket: [] }, alice);
    await loose.save(handle, BREAD, { ...alice, expectVersion: 1 });
    const store = await open();
    const carts = store.kind("cart", SCHEMAS.zod);
    assertEquals((await store.get(handle, { ...alice, version: 1 })).state, { basket: [] });
    await assertRejects(() => carts.restore(handle, 1, { ...alice, expectVersion: 2 }), InvalidInput);
    const base = { ...alice, expectVersion: 1, onConflict: "merge" } as const;
    await assertRejects(() => store.save(handle, { basket: [], note: 1 }, base), InvalidInput);
    assertEquals((await store.get(handle, alice)).version, 2);
  });

  contract("kind: a rebased write is checked again", async (store, open) => {
    const limited = z.looseObject({ items: z.array(z.string()).max(2) });
    const carts = store.kind("cart", limited);
    const handle = await carts.mint({ items: [] }, alice);
    const other = await open();
    other.kind("cart", limited);
    await other.patch(handle, [append("items", "bread")], alice);
    await store.get(handle, alice);
    await other.patch(handle, [append("items", "milk")], alice);
    await assertRejects(() => store.patch(handle, [append("items", "eggs")], alice), InvalidInput);
    const results = await Promise.allSettled(
      [store, other, store, other].map((each) => each.patch(handle, [append("items", "more")], alice)),
    );
    assertEquals(results.map(({ status }) => status), Array(4).fill("rejected"));
    assertEquals((await store.get(handle, alice)).state, { items: ["bread", "milk"] });
  });

  contract("kind: refuses handles of another kind, and a second schema", async (store) => {
    const carts = store.kind("cart", SCHEMAS.zod);
    assertEquals(store.kind("cart", SCHEMAS.zod).name, "cart");
    assertThrows(() => store.kind("cart", SCHEMAS.valibot), TypeError);
    assertThrows(() => store.kind("Cart", SCHEMAS.zod), InvalidInput);
    const trip = await store.mint("trip", { ...BREAD }, alice);
    await assertRejects(() => carts.get(trip, alice), InvalidInput);
    await assertRejects(() => carts.save(trip, BREAD, { ...alice, expectVersion: 1 }), InvalidInput);
    await assertRejects(() => carts.patch(trip, [append("items", 1)], alice), InvalidInput);
    await assertRejects(() => carts.restore(trip, 1, { ...alice, expectVersion: 1 }), InvalidInput);
    assertEquals((await store.get(trip, alice)).version, 1);
  });
}
