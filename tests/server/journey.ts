/**
 * The whole journey of a document.
 *
 * @module
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { type Connection, fail, succeed } from "./client.ts";

/** What appending a second source touches. */
const ITEM = "/sources/1";

/**
 * From minting to deletion, on two devices of one user.
 *
 * @param laptopWriter Who is recorded where the laptop writes.
 * @param halfway What happens in the middle.
 */
export async function journey(
  laptop: Connection,
  phone: Connection,
  laptopWriter: string,
  halfway: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  // Mint, and find it from elsewhere.
  const minted = await succeed(laptop, "state_save", {
    kind: "research",
    title: "Danish cities",
    state: { city: "Copenhagen", sources: ["https://kk.dk"] },
    ttl_days: 7,
  });
  const { handle } = minted;
  assertMatch(handle, /^research_[a-z2-7]{8}$/);
  assertEquals({ ...minted, expires_at: undefined }, {
    ok: true,
    handle,
    version: 1,
    kind: "research",
    bytes: 49,
    expires_at: undefined,
  });
  const { handles, next_cursor } = await succeed(phone, "state_list", { query: "danish" });
  assertEquals(handles.map((info) => info.handle), [handle]);
  assertEquals(next_cursor, null);

  // Load, and edit without loading.
  const loaded = await succeed(phone, "state_load", { handle });
  assertEquals(loaded.state, { city: "Copenhagen", sources: ["https://kk.dk"] });
  assertEquals([loaded.version, loaded.last_writer, loaded.title], [1, laptopWriter, "Danish cities"]);
  const patched = await succeed(phone, "state_patch", {
    handle,
    ops: [{ op: "append", path: "sources", value: "https://visitaarhus.dk" }],
  });
  assertEquals([patched.version, patched.changed, patched.state], [2, [ITEM], undefined]);

  // Two writers, one of them late.
  const late = { handle, expect_version: 1, state: { city: "Aarhus", sources: ["https://kk.dk"] } };
  const stale = await fail(laptop, "state_save", late);
  assertEquals([stale.code, stale.expected_version], ["stale_write", 1]);
  assertEquals([stale.current.version, stale.current.last_writer], [2, "phone"]);
  assertEquals(stale.current.state, { city: "Copenhagen", sources: ["https://kk.dk", "https://visitaarhus.dk"] });
  assertEquals(stale.changes.map(({ version, writer, paths }) => ({ version, writer, paths })), [
    { version: 2, writer: "phone", paths: [ITEM] },
  ]);
  const merged = await succeed(laptop, "state_save", { ...late, on_conflict: "merge" });
  assertEquals([merged.version, merged.merged], [3, true]);

  await halfway();

  // The past.
  const { entries, current_version, more } = await succeed(phone, "state_changes", { handle, since_version: 1 });
  assertEquals(entries.map(({ version, writer }) => [version, writer]), [[2, "phone"], [3, laptopWriter]]);
  assertEquals(entries[1].patch, [{ op: "replace", path: "/city", value: "Aarhus" }]);
  assertEquals([current_version, more], [3, false]);
  const past = await phone.raw("state_load", { handle, version: 1, path: "city" });
  const text = past.content[0].text ?? "";
  assertEquals(JSON.parse(text).state, "Copenhagen");
  assertEquals(JSON.parse(text).as_of, { version: 1 });
  assert(!text.includes("current"));
  const restored = await succeed(phone, "state_restore", { handle, version: 1, expect_version: 3 });
  assertEquals([restored.version, restored.last_writer], [4, "phone"]);
  assertEquals((await succeed(laptop, "state_load", { handle })).state, {
    city: "Copenhagen",
    sources: ["https://kk.dk"],
  });

  // The end.
  const kept = await succeed(phone, "state_touch", { handle, persist: true });
  assertEquals([kept.version, kept.expires_at], [4, null]);
  const request = { handle, expect_version: 4, request_id: "the end" };
  assertEquals<unknown>(await succeed(phone, "state_delete", request), { ok: true, handle, deleted: true });
  assertEquals<unknown>(await succeed(phone, "state_delete", request), {
    ok: true,
    handle,
    deleted: true,
    replayed: true,
  });
  assertEquals((await fail(laptop, "state_load", { handle })).code, "handle_not_found");
  assertEquals((await succeed(laptop, "state_list", {})).handles, []);
}
