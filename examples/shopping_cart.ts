/**
 * One cart on a laptop and a phone: two processes that share nothing but a Redis, and both edit at once.
 *
 * ```sh
 * deno run --allow-net=127.0.0.1 --allow-run=deno examples/shopping_cart.ts redis://127.0.0.1:6379
 * ```
 *
 * @module
 */

import { append, HandleStore, increment, mergeInto } from "../mod.ts";

const [url = "redis://127.0.0.1:6379", device, handle = ""] = Deno.args;
const user = "alice";

/** What each device puts into the cart. */
const SHOPPING: Readonly<Record<string, readonly { readonly name: string; readonly price: number }[]>> = {
  laptop: [{ name: "rye bread", price: 32 }, { name: "butter", price: 24 }],
  phone: [{ name: "coffee", price: 65 }, { name: "apples", price: 18 }, { name: "milk", price: 14 }],
};

await using store = await HandleStore.fromUrl(url);

/** A device: adds its items one by one. None of them needs to know what the other does. */
async function shop(items: (typeof SHOPPING)[string]): Promise<void> {
  for (const item of items) {
    await store.patch(handle, [append("items", item), increment("total", item.price)], { user, writer: device });
  }
}

/** The shop: makes a cart, lets both devices loose on it, and shows what became of it. */
async function open(): Promise<void> {
  const cart = await store.mint("cart", { items: [], total: 0, currency: "DKK" }, { user, ttlDays: 14 });
  const devices = Object.keys(SHOPPING).map((name) => {
    const args = ["run", "--allow-net=127.0.0.1", import.meta.filename ?? "", url, name, cart];
    return new Deno.Command("deno", { args, stderr: "inherit" }).output();
  });
  if (!(await Promise.all(devices)).every(({ success }) => success)) throw new Error("a device failed");

  const { state, version } = await store.get(cart, { user });
  const items = state.items as readonly { readonly name: string }[];
  console.log(`Both at once: version ${version}, ${items.length} items, total ${state.total} ${state.currency}.`);
  console.log(`Nothing is lost: ${items.map(({ name }) => name).toSorted().join(", ")}.`);

  const { changes } = await store.changes(cart, { user, since: 1 });
  for (const name of Object.keys(SHOPPING)) {
    console.log(`${name} wrote ${changes.filter(({ writer }) => writer === name).length} versions.`);
  }
  await store.patch(cart, [mergeInto({ paid: true })], { user, writer: "checkout" });
  const before = await store.get(cart, { user, version });
  const now = await store.get(cart, { user });
  console.log(`Paid: ${now.state.paid === true}; before the checkout: ${before.state.paid === true}.`);
  await store.revoke(cart, { user });
}

await (device === undefined ? open() : shop(SHOPPING[device]));
