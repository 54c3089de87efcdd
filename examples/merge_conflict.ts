/**
 * Two devices edit one plan from the same version: what does not clash is merged, what does is decided by a rule.
 *
 * ```sh
 * deno run examples/merge_conflict.ts
 * ```
 *
 * @module
 */

import { HandleStore, type JsonObject, StaleWrite } from "../mod.ts";

await using store = await HandleStore.fromUrl("sqlite:///:memory:");
const alice = { user: "alice" };
const plan: JsonObject = { city: "Copenhagen", days: 3, stops: ["Nyhavn"] };
const handle = await store.mint("plan", plan, alice);

// Both have read version 1. The phone is faster.
await store.save(handle, { ...plan, city: "Aarhus", stops: ["Nyhavn", "ARoS"] }, {
  ...alice,
  expectVersion: 1,
  writer: "phone",
});

// The laptop changed something else, and added to the same list: both land, the phone's first.
const merged = await store.save(handle, { ...plan, days: 5, stops: ["Nyhavn", "Tivoli"] }, {
  ...alice,
  expectVersion: 1,
  writer: "laptop",
  onConflict: "merge",
});
console.log(`version ${merged.version}:`, JSON.stringify(merged.state));

// The tablet chose another city: that clashes, and the error says where, with all three values.
try {
  await store.save(handle, { ...plan, city: "Odense" }, {
    ...alice,
    expectVersion: 1,
    writer: "tablet",
    onConflict: "merge",
  });
} catch (error) {
  if (!(error instanceof StaleWrite)) throw error;
  const [{ path, base, theirs, yours }] = error.details.conflicts ?? [];
  console.log(`clash at ${path}: ${base} became ${theirs} and ${yours}`);
  // The rule: who decided first stays, and the other is kept as a wish.
  const { state, version } = error.current;
  const decided = await store.save(handle, { ...state, wishes: [yours] }, { ...alice, expectVersion: version });
  console.log(`version ${decided.version}:`, JSON.stringify(decided.state));
}
