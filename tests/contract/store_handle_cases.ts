import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { HandleNotFound, InvalidInput, StateError } from "../../src/document/errors.ts";
import { append } from "../../src/document/ops.ts";
import type { HandleStore } from "../../src/store/store.ts";
import type { StoreCase } from "./store.ts";

const alice = { user: "alice" };
const RESEARCH = { topic: "arm64", sources: [] };

/** Every method that takes a handle. */
const METHODS: { [name: string]: (store: HandleStore, handle: string, user: string) => Promise<unknown> } = {
  get: (store, handle, user) => store.get(handle, { user }),
  getVersion: (store, handle, user) => store.get(handle, { user, version: 1 }),
  getTurn: (store, handle, user) => store.get(handle, { user, turn: 1 }),
  save: (store, handle, user) => store.save(handle, {}, { user, expectVersion: 1 }),
  merge: (store, handle, user) => store.save(handle, {}, { user, expectVersion: 1, onConflict: "merge" }),
  patch: (store, handle, user) => store.patch(handle, [append("sources", 1)], { user }),
  restore: (store, handle, user) => store.restore(handle, 1, { user, expectVersion: 1 }),
  touch: (store, handle, user) => store.touch(handle, { user, ttlDays: 1 }),
  advance: (store, handle, user) => store.touch(handle, { user, turn: 2 }),
  changes: (store, handle, user) => store.changes(handle, { user }),
  revoke: (store, handle, user) => store.revoke(handle, { user }),
};

export function handleCases(contract: StoreCase): void {
  contract("mint: answers the kind and eight base32 characters, never twice", async (store) => {
    const handles = await Promise.all(Array.from({ length: 100 }, () => store.mint("research", RESEARCH, alice)));
    for (const handle of handles) assertMatch(handle, /^research_[a-z2-7]{8}$/);
    assertEquals(new Set(handles).size, 100);
  });

  contract("mint: answers 26 characters where the handle is the only secret", async (_, open) => {
    const store = await open({ handleLength: 26 });
    assertMatch(await store.mint("cart", {}, alice), /^cart_[a-z2-7]{26}$/);
  });

  contract("mint: refuses what is no kind", async (store) => {
    const kinds = ["Research", "re_search", "a".repeat(33), "", "1a", "-a", "cart\n", "\ncart", "café", "a b", 5, null];
    for (const kind of [...kinds, undefined]) {
      const error = await assertRejects(() => store.mint(kind as string, {}, alice), InvalidInput);
      assertEquals(error.field, "kind", String(kind));
    }
    for (const kind of ["a", "a".repeat(32), "to-do-2"]) {
      assertEquals((await store.create(kind, {}, alice)).kind, kind);
    }
    assertEquals((await store.list("alice")).handles.length, 3);
  });

  contract("users: another's handle looks like one that never was, to every method", async (store) => {
    const handle = await store.mint("research", RESEARCH, { ...alice, turn: 1 });
    const before = await store.get(handle, alice);
    const never = "research_aaaaaaaa";
    for (const [name, method] of Object.entries(METHODS)) {
      const foreign = await assertRejects(() => method(store, handle, "bob"), HandleNotFound);
      const absent = await assertRejects(() => method(store, never, "bob"), HandleNotFound);
      const blank = (error: HandleNotFound, of: string) => JSON.stringify(error.toPayload()).replaceAll(of, "…");
      assertEquals(blank(foreign, handle), blank(absent, never), name);
    }
    assertEquals(await store.get(handle, alice), before);
    assertEquals((await store.list("bob")).handles, []);
  });

  contract("users: that are no text, blank, too long or with a NUL are refused", async (store) => {
    const handle = await store.mint("research", RESEARCH, alice);
    const users = [undefined, null, 7, "", "  ", "\n", "x".repeat(513), "日".repeat(171), "a\0b", "\ud800"];
    for (const user of users as string[]) {
      for (const [name, method] of Object.entries(METHODS)) {
        const error = await assertRejects(async () => await method(store, handle, user), InvalidInput);
        assertEquals(error.field, "user", name);
      }
      const calls = [
        () => store.mint("cart", {}, { user }),
        () => store.list(user),
        () => store.sweep(user),
        () => store.purge(user),
      ];
      for (const call of calls) assertEquals((await assertRejects(call, InvalidInput)).field, "user");
    }
    const without = store.get as unknown as (handle: string) => Promise<unknown>;
    assertEquals((await assertRejects(() => without.call(store, handle), InvalidInput)).field, "user");
    for (const user of ["x", "x".repeat(512), "日".repeat(170)]) {
      assertEquals((await store.create("cart", {}, { user })).version, 1);
    }
  });

  contract("users: named like a pattern or a part of a key see only their own", async (store) => {
    const users = ["*", "alice", "alice:", "alice/cart", "{alice}", "%61lice", "#", "🦊", "index", "?", "alice_cart"];
    const handles = new Map<string, string>();
    for (const user of users) handles.set(user, await store.mint("index", { of: user }, { user, requestId: "mint-1" }));
    for (const user of users) {
      const { handles: listed } = await store.list(user);
      assertEquals(listed.map(({ handle }) => handle), [handles.get(user)]);
      assertEquals((await store.get(handles.get(user) ?? "", { user })).state, { of: user });
    }
    assertEquals(await store.purge("*"), 1);
    for (const user of users) assertEquals((await store.list(user)).handles.length, user === "*" ? 0 : 1);
  });

  contract("handles: wrong in one place get a suggestion, from the same user's only", async (store) => {
    const handle = await store.mint("research", RESEARCH, alice);
    const [kind, suffix] = handle.split("_");
    const other = suffix[0] === "a" ? "b" : "a";
    const misses = [
      `${kind}_${other}${suffix.slice(1)}`,
      `${kind}_${suffix.slice(0, -1)}`,
      `${kind}_${suffix}x`,
      `${kind}-${suffix}`,
      `reseach_${suffix}`,
      `rseearch_${suffix}`,
    ];
    for (const miss of misses) {
      const error = await assertRejects(() => store.get(miss, alice), HandleNotFound);
      assertEquals(error.toPayload().did_you_mean, handle, miss);
      const bobs = await assertRejects(() => store.get(miss, { user: "bob" }), HandleNotFound);
      assertEquals(bobs.toPayload(), { code: "handle_not_found", message: bobs.message, handle: miss });
    }
    const far = await assertRejects(() => store.get(`${kind}_${other}${other}`, alice), HandleNotFound);
    assertEquals(far.didYouMean, undefined);
    await store.revoke(handle, alice);
    const gone = await assertRejects(() => store.get(misses[0], alice), HandleNotFound);
    assertEquals(gone.didYouMean, undefined);
  });

  contract("texts: of writer, title, request id and handle are held to their lengths", async (store) => {
    const handle = await store.mint("cart", {}, alice);
    const wrong: [string, () => Promise<unknown>][] = [
      ["writer", () => store.patch(handle, [], { ...alice, writer: "" })],
      ["writer", () => store.patch(handle, [], { ...alice, writer: "日".repeat(86) })],
      ["writer", () => store.mint("cart", {}, { ...alice, writer: "a\0" })],
      ["title", () => store.mint("cart", {}, { ...alice, title: "t".repeat(257) })],
      ["title", () => store.save(handle, {}, { ...alice, expectVersion: 1, title: "\udfff" })],
      ["request_id", () => store.patch(handle, [], { ...alice, requestId: "" })],
      ["request_id", () => store.mint("cart", {}, { ...alice, requestId: "r".repeat(201) })],
      ["handle", () => store.get("", alice)],
      ["handle", () => store.get("h".repeat(1025), alice)],
      ["handle", () => store.get("cart_\0", alice)],
      ["handle", () => store.get(undefined as unknown as string, alice)],
    ];
    for (const [field, call] of wrong) {
      const error = await assertRejects(async () => await call(), StateError);
      assertEquals([error.code, (error as InvalidInput).field], ["invalid_input", field]);
    }
    const longest = { writer: "w".repeat(256), title: "日".repeat(85), requestId: "r".repeat(200) };
    const saved = await store.save(handle, { items: [] }, { ...alice, expectVersion: 1, ...longest });
    assertEquals([saved.lastWriter, saved.title], [longest.writer, longest.title]);
  });
}
