/**
 * Starts moves as processes, and kills them on their way.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { toLines } from "../../src/admin/lines.ts";
import type { Said } from "./mover.ts";

const MOVER = fileURLToPath(new URL("mover.ts", import.meta.url));

/** Moves all of it, and answers what was said at the end. */
export async function moveAll(from: string, to: string): Promise<Said> {
  let last: Said | undefined;
  for await (const said of says(start(from, to))) last = said;
  if (last === undefined) throw new Error("the move said nothing");
  return last;
}

/** Kills a move once so many documents are in, before the one of number `hold`. */
export async function moveAndKill(from: string, to: string, after: number, hold: number): Promise<void> {
  const child = start(from, to, String(hold));
  for await (const { adopted } of says(child)) {
    if (adopted >= after) break;
  }
  child.kill("SIGKILL");
  await child.status;
}

function start(...args: string[]): Deno.ChildProcess {
  const flags = [
    "--quiet",
    "--no-lock",
    "--unstable-kv",
    "--allow-read",
    "--allow-write",
    "--allow-net",
    "--allow-env",
  ];
  return new Deno.Command(Deno.execPath(), { args: ["run", ...flags, MOVER, ...args], stdin: "null", stdout: "piped" })
    .spawn();
}

async function* says(child: Deno.ChildProcess): AsyncGenerator<Said> {
  for await (const line of toLines(child.stdout)) yield JSON.parse(line);
}
