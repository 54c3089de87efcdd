/**
 * A process of its own that opens a store and does what it is told: started by the tests of this directory.
 *
 * Arguments: the URL of the store, a command, and what that needs. Each answer is a line of JSON.
 *
 * @module
 */

import { DatabaseSync } from "node:sqlite";
import { openKvBackend } from "../../src/backends/kv.ts";
import { needsOf, openBackend } from "../../src/backends/open.ts";
import { BackendError, StateError } from "../../src/document/errors.ts";
import { append } from "../../src/document/ops.ts";
import { HandleStore } from "../../src/store/store.ts";

const [url, command, ...args] = Deno.args;
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

function doubtsOf(error: StateError): object {
  return error instanceof BackendError ? { busy: error.busy, unknown: error.outcomeUnknown } : { busy: false };
}

function failure(error: unknown): object {
  if (!(error instanceof StateError)) return { failed: String(error) };
  return { failed: error.code, message: error.message, ...doubtsOf(error) };
}

/** Kills this process at its n-th commit: while it is under way, or once it is done. */
function dieAt(kv: Deno.Kv, commit: number, when: string): Deno.Kv {
  const begin = kv.atomic.bind(kv);
  let commits = 0;
  kv.atomic = () => {
    const atomic = begin();
    const land = atomic.commit.bind(atomic);
    atomic.commit = async () => {
      const landing = land();
      if (++commits < commit) return await landing;
      if (when === "after") await landing;
      Deno.kill(Deno.pid, "SIGKILL");
      return await new Promise(() => {});
    };
    return atomic;
  };
  return kv;
}

switch (command) {
  case "append": { // so many writers at once, each so many items
    const [handle, name, count, bytes = "0", writers = "1"] = args;
    const backend = await openBackend(url);
    await using store = new HandleStore(backend);
    await using _subscription = await backend.subscribe(user, () => {}); // must not keep the process alive
    await ready();
    const write = async (writer: string): Promise<void> => {
      for (let i = 0; i < Number(count); i++) {
        // Now and then a large one, so that keyframes are laid and pages spill.
        const item = `${writer}-${i}`.padEnd(i % 5 === 4 ? Number(bytes) : 0, ".");
        try {
          const { version } = await store.patch(handle, [append("items", item)], { user, writer, turn: i + 1 });
          say({ item, version });
        } catch (error) {
          say({ item, ...failure(error) });
        }
      }
    };
    const names = writers === "1" ? [name] : Array.from({ length: Number(writers) }, (_, i) => `${name}.${i}`);
    await Promise.all(names.map(write));
    break;
  }
  case "save": { // a large state again and again
    const [handle] = args;
    await using store = new HandleStore(await openBackend(url));
    await ready();
    for (let { version } = await store.get(handle, { user });;) {
      const fill = String.fromCharCode(97 + version % 26);
      const state = { notes: fill.repeat(1_000_000) };
      ({ version } = await store.save(handle, state, { user, expectVersion: version }));
      say({ item: fill, version });
    }
  }
  case "die": { // in a commit of Deno KV
    const [id, fill, bytes, commit, when] = args;
    const { appendAfter, expected } = await import("../contract/drafts.ts");
    const key = { user, id };
    const kv = await Deno.openKv((await needsOf(url)).file);
    await using backend = await openKvBackend({ kv });
    const read = await backend.read(key, { as: "head" });
    if (read.outcome !== "found") throw new Error(read.outcome);
    dieAt(kv, Number(commit), when);
    const draft = appendAfter(read.head, [`{"notes":"${fill.repeat(Number(bytes))}"}`]);
    const appending = backend.append(key, expected(read.head), draft);
    say(await appending.then(({ outcome }) => ({ item: outcome }), failure));
    break;
  }
  case "open": {
    await ready();
    try {
      await using store = new HandleStore(await openBackend(url));
      const handle = await store.mint("cart", { by: Deno.pid }, { user });
      say({ handle, state: (await store.get(handle, { user })).state, pid: Deno.pid });
    } catch (error) {
      say(failure(error));
    }
    break;
  }
  case "listen": { // ends by itself, although nobody ends the subscription
    const backend = await openBackend(url);
    await backend.subscribe(user, () => {});
    await backend[Symbol.asyncDispose]();
    await backend[Symbol.asyncDispose]();
    say({ item: "closed" });
    break;
  }
  case "hold": { // a lock of SQLite
    const database = new DatabaseSync((await needsOf(url)).file ?? "");
    database.exec("BEGIN EXCLUSIVE");
    await ready();
    database.exec("ROLLBACK");
    database.close();
    say({ released: true });
  }
}
