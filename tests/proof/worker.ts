/**
 * A process of its own that makes seeded calls of a store and says what it asks and what it is answered, line by line;
 * or that listens and says what it hears. Started by `campaign.ts`.
 *
 * Arguments: `call` URL NAME SEED COUNT CALLERS SHIFT HANDLES, or `listen` URL CURSOR.
 *
 * @module
 */

import { openBackend } from "../../src/backends/open.ts";
import { HandleStore } from "../../src/store/store.ts";
import { Client, toSeen, USER } from "./client.ts";
import { type Intent, toCall, type Wish } from "./intents.ts";
import { randomOf } from "./world.ts";

const [command, url, ...args] = Deno.args;

/** The machine's time of day, which all its processes share; what the store is told is another. */
const clock = Date.now;

function say(line: unknown): void {
  const bytes = new TextEncoder().encode(JSON.stringify(line) + "\n");
  for (let written = 0; written < bytes.length;) written += Deno.stdout.writeSync(bytes.subarray(written));
}

const MIX: readonly Wish[] = [
  ...Array<Wish>(8).fill("patch"),
  ...Array<Wish>(3).fill("merge"),
  ...Array<Wish>(3).fill("get"),
  "save",
  "old",
  "changes",
  "list",
  "restore",
  "mint",
  "touch",
  "clear",
  "sweep",
  "revoke",
];

async function call(): Promise<void> {
  const [name, seed, count, callers, shift, documents] = args;
  const now = Date.now;
  Date.now = () => now() + (Math.floor(now() / 100) % 2) * Number(shift);
  await using store = new HandleStore(await openBackend(url, { maxContentionMs: 5_000 }), { maxContentionMs: 5_000 });
  const handles = documents.split(",");
  const own: string[] = [];
  const random = randomOf(Number(seed));
  const caller = async (number: number): Promise<void> => {
    const client = new Client(store);
    for (let i = 0; i < Number(count); i++) {
      const draw = (below: number) => Math.floor(random() * below);
      const intent: Intent = {
        wish: MIX[draw(MIX.length)],
        document: draw(8),
        pick: draw(400),
        repeatable: draw(3) === 0,
      };
      const label = `${name}-${number}-${i}`;
      // What others work on goes on: only what this process has minted is deleted.
      const known = intent.wish === "revoke" ? own : [...handles, ...own];
      const asked = toCall(intent, label, known, client, 1);
      if (asked === undefined) continue;
      for (let attempt = 0; attempt < 8; attempt++) {
        const invokedAt = clock();
        say({ label, invokedAt, call: asked });
        const result = await client.make(label, asked, intent.repeatable);
        say({ label, returnedAt: clock(), result });
        if (asked.do === "mint" && result.is === "version") own.push(result.handle);
        if (result.is === "unknown" || result.is === "refused" && result.code === "backend_error") {
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        const isSame = asked.do !== "save" || client.seen.get(asked.handle)?.version === asked.expect;
        if (!intent.repeatable || result.is !== "unknown" || !isSame) break;
      }
    }
  };
  await Promise.all(Array.from({ length: Number(callers) }, (_, i) => caller(i)));
}

async function listen(): Promise<void> {
  const [cursor] = args;
  await using store = new HandleStore(await openBackend(url));
  const events = store.watch(USER, { since: cursor === "" ? undefined : cursor });
  say({ listening: true });
  for await (const event of events) say({ seen: toSeen(event, clock()), cursor: event.cursor });
}

if (command === "call") await call();
else await listen();
