/**
 * What the documented command lines speak of, made real.
 *
 * @module
 */

import type { CommandSite } from "./command_site.ts";

/** A documented line with a handle and a server that are there. */
export function wordsOf(line: string, handle: string, redis: string | undefined): string[] {
  const words = line.split(" ").filter((word) => word !== "");
  return words.map((word) => {
    if (word === "research_k7q2v9xa") return handle;
    if (word === "2026-07-28T09:30:00Z") return new Date().toISOString();
    return word.startsWith("redis://") && redis !== undefined ? redis : word;
  });
}

/** Makes what a command reads. */
export async function prepare(site: CommandSite, name: string): Promise<void> {
  if (name !== "import") return;
  const { stdout } = await site.run("export");
  await Deno.writeTextFile(`${site.home}/backup.jsonl`, stdout);
}
