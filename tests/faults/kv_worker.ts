/**
 * A process of its own that opens a Deno KV database and does what it is told: started by the tests of this directory.
 *
 * Arguments: the path of the database, a command, and what that needs. Each answer is a line of JSON.
 *
 * @module
 */

import { openKvBackend } from "../../src/backends/kv.ts";
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

function failure(error: unknown): object {
  if (!(error instanceof StateError)) return { failed: String(error) };
  return { failed: error.code, message: error.message, busy: error instanceof BackendError && error.busy };
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
  case "append": {
    const [handle, writer, count] = args;
    await using store = new HandleStore(await openKvBackend({ path }));
    await ready();
    for (let i = 0; i < Number(count); i++) {
      const item = `${writer}-${i}`;
      try {
        const { version } = await store.patch(handle, [append("items", item)], { user, writer });
        say({ item, version });
      } catch (error) {
        say({ item, ...failure(error) });
      }
    }
    break;
  }
  case "save": { // a large state again and again
    const [handle] = args;
    await using store = new HandleStore(await openKvBackend({ path }));
    await ready();
    for (let { version } = await store.get(handle, { user });;) {
      const fill = String.fromCharCode(97 + version % 26);
      const state = { notes: fill.repeat(1_000_000) };
      ({ version } = await store.save(handle, state, { user, expectVersion: version }));
      say({ item: fill, version });
    }
  }
  case "die": {
    const [id, fill, bytes, commit, when] = args;
    const { appendAfter, expected } = await import("../contract/drafts.ts");
    const key = { user, id };
    const kv = await Deno.openKv(path);
    await using backend = await openKvBackend({ kv });
    const read = await backend.read(key, { as: "head" });
    if (read.outcome !== "found") throw new Error(read.outcome);
    dieAt(kv, Number(commit), when);
    const draft = appendAfter(read.head, [`{"notes":"${fill.repeat(Number(bytes))}"}`]);
    const { outcome } = await backend.append(key, expected(read.head), draft);
    say({ item: outcome });
    break;
  }
  case "open": {
    await ready();
    try {
      await using store = new HandleStore(await openKvBackend({ path }));
      const handle = await store.mint("cart", { by: Deno.pid }, { user });
      say({ handle, pid: Deno.pid });
    } catch (error) {
      say(failure(error));
    }
    break;
  }
  case "listen": { // ends by itself, although nobody ends the subscription
    const backend = await openKvBackend({ path });
    await backend.subscribe(user, () => {});
    await backend[Symbol.asyncDispose]();
    await backend[Symbol.asyncDispose]();
    say({ item: "closed" });
  }
}
