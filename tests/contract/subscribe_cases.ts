import { assertEquals } from "@std/assert";
import type { Backend } from "../../src/backends/backend.ts";
import { AARHUS, mint, outlive, removal, seconds, TRIP, until, write } from "./drafts.ts";
import type { Case } from "./target.ts";

export function subscribeCases(contract: Case): void {
  contract(
    "subscribe: tells of everything that takes a sequence number, on every connection",
    async (backend, open) => {
      const writer = await open();
      const own = await listen(backend, "alice");
      const other = await listen(writer, "alice");
      const told = async (what: string) => {
        await until(() => own.calls > 0 && other.calls > 0, `both are told of ${what}`);
        await quiet([own, other]);
      };
      let head = await mint(writer, TRIP, { ttlDays: 1 });
      await told("a mint");
      head = await write(backend, TRIP, head, [AARHUS], { ttlDays: 1 });
      await told("a write");
      head = await write(writer, TRIP, head, [AARHUS], { ttlDays: seconds(0.3) });
      await told("a write by the other");
      await outlive(writer, seconds(0.3));
      await quiet([own, other]);
      await writer.read(TRIP, { as: "head" });
      await told("an expiry");
      await mint(backend, { user: "alice", id: "cart_1" });
      await told("another mint");
      await backend.remove({ user: "alice", id: "cart_1" }, removal());
      await told("a deletion");
      await own.subscription[Symbol.asyncDispose]();
      await other.subscription[Symbol.asyncDispose]();
    },
  );

  contract("subscribe: ends when it is disposed of, and with its backend", async (backend, open) => {
    const writer = await open();
    const ended = await listen(backend, "alice");
    const lasting = await listen(backend, "alice");
    await ended.subscription[Symbol.asyncDispose]();
    await ended.subscription[Symbol.asyncDispose]();
    ended.calls = 0;
    const head = await mint(writer, TRIP);
    await until(() => lasting.calls > 0, "the one that lasts is told");
    assertEquals(ended.calls, 0);
    await backend[Symbol.asyncDispose]();
    lasting.calls = 0;
    const witness = await listen(writer, "alice");
    await write(writer, TRIP, head, [AARHUS]);
    await until(() => witness.calls > 0, "the witness is told");
    await witness.subscription[Symbol.asyncDispose]();
    await lasting.subscription[Symbol.asyncDispose]();
    assertEquals(ended.calls, 0);
  });
}

interface Listening {
  calls: number;
  subscription: AsyncDisposable;
}

async function listen(backend: Backend, user: string): Promise<Listening> {
  const listening: Listening = { calls: 0, subscription: { [Symbol.asyncDispose]: () => Promise.resolve() } };
  listening.subscription = await backend.subscribe(user, () => listening.calls++);
  return listening;
}

/** Waits until nobody is told anything any more, and forgets what was told. */
async function quiet(all: readonly Listening[]): Promise<void> {
  let seen = -1;
  let still = 0;
  await until(() => {
    const calls = all.reduce((sum, { calls }) => sum + calls, 0);
    still = calls === seen ? still + 1 : 0;
    seen = calls;
    return still >= 15;
  }, "all is quiet");
  for (const listening of all) listening.calls = 0;
}
