import { assert, assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("./streams_program.ts", import.meta.url));
const [ROUNDS, STREAMS] = [4, 500];
/** What a thousand streams may leave behind, in bytes: what a few caches take, not what a thousand of anything would. */
const SLACK = 1024 * 1024;

Deno.test("listen: memory stays flat over thousands of streams that are opened and closed", async () => {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-q", "-A", "--no-lock", "--v8-flags=--expose-gc", PROGRAM, String(ROUNDS), String(STREAMS)],
  }).output();
  assertEquals(code, 0, new TextDecoder().decode(stderr));
  const used: number[] = JSON.parse(new TextDecoder().decode(stdout));
  // The first round compiles and fills caches.
  const growth = used[ROUNDS - 1] - used[1];
  assert(growth < SLACK, `after each ${STREAMS} streams: ${used}`);
});
