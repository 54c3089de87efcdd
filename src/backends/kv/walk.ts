/**
 * Walks over many records, some at a time.
 *
 * @module
 */

import type { Connection } from "./connection.ts";
import type { KvEntry, KvKey, KvKeyPart } from "./database.ts";
import { readUser } from "./values.ts";

/** All records below a key, or those whose next part is `from` or more, in the order of their keys. */
export async function* walk(
  connection: Connection,
  prefix: KvKey,
  size: number,
  from?: KvKeyPart,
): AsyncGenerator<KvEntry> {
  let start: KvKey | undefined = from === undefined ? undefined : [...prefix, from];
  for (;;) {
    const selector = start === undefined ? { prefix } : { prefix, start };
    const page = await connection.list(selector, size, { batchSize: size });
    yield* page;
    if (page.length < size) return;
    start = keyAfter(page[page.length - 1].key);
  }
}

/** The key right after one. */
export function keyAfter(key: KvKey): KvKey {
  return [...key, new Uint8Array()];
}

/** Every user that has documents or tombstones. One whose name is too long for a key and was lost with its record is left out. */
export async function* userNames(connection: Connection): AsyncGenerator<string> {
  for await (const part of partsBelow(connection, connection.keys.documents())) {
    const { value } = await connection.get([...connection.keys.users(), part]);
    const name = readUser(value)?.name ?? (typeof part === "string" ? part : undefined);
    if (name !== undefined) yield name;
  }
}

/** The parts that follow a key, each once: a seek for each. */
export async function* partsBelow(connection: Connection, prefix: KvKey): AsyncGenerator<KvKeyPart> {
  let start: KvKey | undefined;
  for (;;) {
    const [first]: KvEntry[] = await connection.list(start === undefined ? { prefix } : { prefix, start }, 1);
    if (first === undefined) return;
    const part = first.key[prefix.length];
    yield part;
    start = [...prefix, after(part)];
  }
}

/** The least part that comes after one and all keys below it. */
function after(part: KvKeyPart): KvKeyPart {
  if (part instanceof Uint8Array) return new Uint8Array([...part, 0]);
  if (typeof part === "string") return `${part}\0`;
  throw new TypeError(`a key has a part that is neither text nor bytes: ${String(part)}`);
}
