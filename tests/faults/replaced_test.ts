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

for (const engine of ["sqlite", "kv"]) {
  const open = (path: string) => HandleStore.fromUrl(`${engine}:///${path}`);

  Deno.test(`${engine}: a database that was removed takes no more writes`, async () => {
    await using site = new Place();
    const { path } = site;
    await using store = await open(path);
    const handle = await store.mint("trip", { cities: [] }, alice);
    for (const suffix of ["", "-wal", "-shm"]) await Deno.remove(path + suffix);
    const error = await assertRejects(() => store.patch(handle, [append("cities", "Aarhus")], alice), BackendError);
    assertEquals([error.message.includes(path), error.outcomeUnknown], [false, false]);
    await assertRejects(() => store.mint("trip", {}, alice), BackendError, "removed or replaced");
  });

  Deno.test(`${engine}: a database in whose place another was put takes no more writes, and is soon read no more`, async () => {
    await using site = new Place();
    const { path } = site;
    await using store = await open(path);
    const handle = await store.mint("trip", { city: "Copenhagen" }, alice);
    const other = join(site.directory, "other");
    await (await open(other)).close();
    for (const suffix of ["-wal", "-shm"]) await Deno.remove(path + suffix);
    await Deno.rename(other, path);
    await assertRejects(() => store.patch(handle, [append("cities", "Aarhus", { create: true })], alice), BackendError);
    let isServed = true;
    while (isServed) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      isServed = await store.get(handle, alice).then(() => true, () => false);
    }
    await using restarted = await open(path);
    assertEquals((await restarted.list("alice")).handles, []);
  });
}

/** A directory with room for a database. */
class Place implements AsyncDisposable {
  readonly directory = Deno.makeTempDirSync();
  readonly path = join(this.directory, "state");
  [Symbol.asyncDispose](): Promise<void> {
    return Deno.remove(this.directory, { recursive: true });
  }
}
