/**
 * What the documented command lines speak of, made real.
 *
 * @module
 */

import type { CommandSite } from "./command_site.ts";

/** What stands for the names in a documented line. */
export interface Real {
  readonly handle: string;
  readonly redis: string | undefined;
  readonly token: string | undefined;
}

/** A documented line with a handle, a server, a token and a port that are there. */
export function wordsOf(line: string, { handle, redis, token }: Real): string[] {
  const words = line.split(" ").filter((word) => word !== "").map((word) => {
    if (word === "research_k7q2v9xa") return handle;
    if (word === "2026-07-28T09:30:00Z") return new Date().toISOString();
    if (word === "k3x9q2ma" && token !== undefined) return token;
    return word.startsWith("redis://") && redis !== undefined ? redis : word;
  });
  return line.includes("--transport http") ? [...words, "--port", "0"] : words;
}

/** Makes what a command reads. Answers the id of a token, if it is about one. */
export async function prepare(site: CommandSite, name: string): Promise<string | undefined> {
  if (name === "import") await site.run("export", "backup.jsonl");
  if (name !== "token") return undefined;
  return (await site.json("token", "add", "--user", "local")).id;
}
