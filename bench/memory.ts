/**
 * What a process keeps in memory that reads ten thousand documents again and again, with a cache of a given size.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { HandleStore } from "../mod.ts";
import { text } from "./texts.ts";

/** Resident memory in MiB before the first document was read, and after each round over all of them. */
export interface Memory {
  readonly cacheMiB: number;
  readonly resident: readonly number[];
}

const user = "alice";
const DOCUMENTS = 10_000;
const ROUNDS = 4;
const MIB = 2 ** 20;

/** For caches of so many MiB each, over ten thousand documents of 10 KB. */
export async function memoryOf(caches: readonly number[]): Promise<Memory[]> {
  const directory = await Deno.makeTempDir();
  const url = `sqlite:///${directory}/state.db?synchronous=normal`;
  {
    await using store = await HandleStore.fromUrl(url);
    for (let i = 0; i < DOCUMENTS; i++) await store.mint("bench", { note: text(10_000, i) }, { user });
  }
  const found: Memory[] = [];
  for (const cacheMiB of caches) {
    const args = [
      "run",
      "-q",
      "--allow-read",
      "--allow-write",
      fileURLToPath(import.meta.url),
      url,
      `${cacheMiB * MIB}`,
    ];
    const { stdout, success } = await new Deno.Command(Deno.execPath(), { args, stderr: "inherit" }).output();
    if (!success) throw new Error("the reading process failed");
    found.push({ cacheMiB, resident: JSON.parse(new TextDecoder().decode(stdout)) });
  }
  await Deno.remove(directory, { recursive: true });
  return found;
}

if (import.meta.main) {
  const [url, cacheBytes] = Deno.args;
  await using store = await HandleStore.fromUrl(url, { cacheBytes: Number(cacheBytes) });
  const handles: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list(user, { limit: 100, cursor });
    handles.push(...page.handles.map(({ handle }) => handle));
    cursor = page.cursor;
  } while (cursor !== undefined);
  const resident = [Deno.memoryUsage().rss / MIB];
  for (let round = 0; round < ROUNDS; round++) {
    for (const handle of handles) await store.get(handle, { user });
    resident.push(Deno.memoryUsage().rss / MIB);
  }
  console.log(JSON.stringify(resident));
}
