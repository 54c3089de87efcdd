/**
 * A process of its own that opens a database and does what it is told: started by the tests of this directory.
 *
 * Arguments: the path of the database, a command, and what that needs. Each answer is a line of JSON.
 *
 * @module
 */

import { DatabaseSync } from "node:sqlite";
import { openSqliteBackend } from "../../src/backends/sqlite.ts";
import { BackendError, StateError } from "../../src/document/errors.ts";
import { append } from "../../src/document/ops.ts";
import { HandleStore } from "../../src/store/store.ts";

const [path, command, ...args] = Deno.args;
const user = "alice";

function say(answer: unknown): void {
  const bytes = new TextEncoder().encode(JSON.stringify(answer) + "\n");
  for (let written = 0; written < bytes.length;) written += Deno.stdout.writeSync(bytes.subarray(written));
}

/** Says that it is ready, and waits until it is told to go on. */
async function ready(): Promise<void> {
  say({ ready: true });
  await Deno.stdin.read(new Uint8Array(16));
}

function failure(error: unknown): unknown {
  if (!(error instanceof StateError)) return { failed: String(error) };
  return { failed: error.code, message: error.message, busy: error instanceof BackendError && error.busy };
}

switch (command) {
  case "append": {
    const [handle, writer, count, bytes = "0", synchronous] = args;
    const options = { path, synchronous: synchronous === "normal" ? "normal" : "full" } as const;
    await using store = new HandleStore(await openSqliteBackend(options));
    await ready();
    for (let i = 0; i < Number(count); i++) {
      // Now and then a large one, so that keyframes are laid and pages spill.
      const item = `${writer}-${i}`.padEnd(i % 5 === 4 ? Number(bytes) : 0, ".");
      try {
        const { version } = await store.patch(handle, [append("items", item)], { user, writer, turn: i + 1 });
        say({ item, version });
      } catch (error) {
        say({ item, ...Object(failure(error)) });
      }
    }
    break;
  }
  case "open": {
    await ready();
    try {
      await using store = new HandleStore(await openSqliteBackend({ path }));
      const handle = await store.mint("cart", { by: Deno.pid }, { user });
      say({ handle, state: (await store.get(handle, { user })).state, pid: Deno.pid });
    } catch (error) {
      say(failure(error));
    }
    break;
  }
  case "hold": {
    const database = new DatabaseSync(path);
    database.exec("BEGIN EXCLUSIVE");
    await ready();
    database.exec("ROLLBACK");
    database.close();
    say({ released: true });
  }
}
