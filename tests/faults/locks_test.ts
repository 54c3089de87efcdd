/**
 * Two stores of one process on one file. SQLite before 3.41, which a Debian has, deletes the log of a file on which it
 * finds no lock when it closes it: whoever looks into a database with it must find ours.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { HandleStore } from "../../src/store/store.ts";

/** Whether this process holds a lock on the file, as the kernel tells. Deno lets none but the all-powerful read below /proc. */
function isLocked(path: string): boolean {
  const { ino } = Deno.statSync(path);
  const { stdout } = new Deno.Command("cat", { args: ["/proc/locks"] }).outputSync();
  return new TextDecoder().decode(stdout).split("\n").some((line) => {
    const [, , , kind, pid, file] = line.split(/\s+/);
    return kind === "READ" && Number(pid) === Deno.pid && file.endsWith(`:${ino}`);
  });
}

for (const engine of ["sqlite", "kv"]) {
  Deno.test({
    name: `${engine}: a second store of the process on the same file leaves the first one its lock`,
    ignore: Deno.build.os !== "linux", // no other system tells who holds what
    async fn() {
      const directory = await Deno.makeTempDir();
      const path = join(directory, "state");
      const url = `${engine}:///${path}`;
      {
        await using store = await HandleStore.fromUrl(url);
        await store.mint("trip", { n: 1 }, { user: "alice" });
        assertEquals(isLocked(path), true);
        await (await HandleStore.fromUrl(url)).close();
        assertEquals(isLocked(path), true);
      }
      assertEquals(isLocked(path), false);
      await Deno.remove(directory, { recursive: true });
    },
  });
}
