/**
 * A database file that is taken away from under a store: nothing may be acknowledged into it any more.
 *
 * @module
 */

import { assertEquals, assertRejects } from "@std/assert";
import { join } from "node:path";
import { append } from "../../src/document/ops.ts";
import { BackendError } from "../../src/document/errors.ts";
import { HandleStore } from "../../src/store/store.ts";

const alice = { user: "alice" };

async function withStore(body: (store: HandleStore, path: string, directory: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir();
  const path = join(directory, "state.db");
  const store = await HandleStore.fromUrl(`sqlite:///${path}`);
  try {
    await body(store, path, directory);
  } finally {
    await store.close();
    await Deno.remove(directory, { recursive: true });
  }
}

Deno.test("a database that was removed takes no more writes", () =>
  withStore(async (store, path) => {
    const handle = await store.mint("trip", { cities: [] }, alice);
    for (const suffix of ["", "-wal", "-shm"]) await Deno.remove(path + suffix);
    const error = await assertRejects(() => store.patch(handle, [append("cities", "Aarhus")], alice), BackendError);
    assertEquals(error.message.includes(path), false);
    await assertRejects(() => store.mint("trip", {}, alice), BackendError, "removed or replaced");
  }));

Deno.test("a database in whose place another was put takes no more writes, and is soon read no more", () =>
  withStore(async (store, path, directory) => {
    const handle = await store.mint("trip", { city: "Copenhagen" }, alice);
    const other = join(directory, "other.db");
    await (await HandleStore.fromUrl(`sqlite:///${other}`)).close();
    for (const suffix of ["-wal", "-shm"]) await Deno.remove(path + suffix);
    await Deno.rename(other, path);
    await assertRejects(() => store.patch(handle, [append("cities", "Aarhus", { create: true })], alice), BackendError);
    let isServed = true;
    while (isServed) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      isServed = await store.get(handle, alice).then(() => true, () => false);
    }
    const restarted = await HandleStore.fromUrl(`sqlite:///${path}`);
    assertEquals((await restarted.list("alice")).handles, []);
    await restarted.close();
  }));
