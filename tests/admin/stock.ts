/**
 * Stores of many documents with a past, made the same way on any size.
 *
 * @module
 */

import { append, increment, setKey } from "../../src/document/ops.ts";
import type { HandleStore } from "../../src/store/store.ts";
import { seconds, until } from "../contract/drafts.ts";

/** Research sessions and carts of several users: titles, turns, times to live, long pasts, deleted and expired ones. */
export async function stock(store: HandleStore, short: HandleStore, documents: number): Promise<void> {
  for (let i = 0; i < documents; i++) {
    const user = `user ${i % 7}`;
    const ttlDays = i % 5 === 0 ? 30 + i / 3 : undefined;
    const handle = await store.mint("research", { topic: `Topic ${i}`, notes: [], found: 0 }, {
      user,
      ttlDays,
      writer: "laptop",
      ...i % 3 === 0 ? { title: `Research no. ${i} 🔎` } : {},
      ...i % 2 === 0 ? { turn: 1 } : {},
    });
    for (let j = 0; j < i % 9; j++) {
      const edits = [append("notes", `note ${j} æble ${"n".repeat((i * j) % 300)}`), increment("found", j)];
      await store.patch(handle, edits, { user, writer: "phone", ...i % 2 === 0 ? { turn: 2 + j } : {} });
    }
    if (i % 4 === 0) await store.touch(handle, { user, ttlDays: 90 });
    if (i % 23 === 22) await store.revoke(handle, { user });
  }
  const user = "user 0";
  const log = await short.mint("log", { n: 0, pad: "" }, { user });
  for (let n = 1; n <= 40; n++) {
    await short.patch(log, [setKey("", "n", n), setKey("", "pad", `${n}`.repeat(4_000))], { user });
  }
  const large = await store.mint("notes", { text: "日".repeat(300_000) }, { user });
  for (let n = 0; n < 6; n++) await store.patch(large, [setKey("", "text", `${n}`.repeat(900_000))], { user });
  const expired = await store.mint("cart", { items: [] }, { user, ttlDays: seconds(0.05) });
  const isGone = async () => (await store.list(user, { query: expired })).handles.length === 0;
  await until(async () => await isGone() && await store.sweep(user) >= 0, "it expires");
}
