/**
 * Texts of any size. Small ones are in the record that they belong to; large ones go into chunks that the record names.
 *
 * What a step cannot hold is **staged** before it: chunks under a fresh name, with an intent in the first of the staging
 * commits. Every later one, and the step that makes the chunks visible, checks that the intent is still as it was written;
 * the step also deletes it. Whoever finds an old intent may turn it into a leftover, and its owner cannot use it any more.
 *
 * @module
 */

import type { RequestRecord } from "../records.ts";
import type { Connection, Mutation } from "./connection.ts";
import { type KvEntry, MOST_BYTES } from "./database.ts";
import { cleanUp } from "./leftovers.ts";
import type { Step } from "./step.ts";
import { type Intent, type Leftover, type StoredText, toIntent, toRequest } from "./values.ts";

/** The most bytes of a text in its record, and of a chunk. A value may have 64 KiB. */
const CHUNK_BYTES = 60 * 1024;
/** How many chunks are staged in one commit. */
const STAGED_AT_ONCE = 13;
/** What a step needs beside texts, and beside each of them: heads, stamps, keys. */
const STEP_BYTES = 16 * 1024;
const RECORD_BYTES = 4 * 1024;

const encoder = new TextEncoder();

/** The texts of one step, wherever its attempts put them. */
export class Stage implements AsyncDisposable {
  readonly #connection: Connection;
  readonly #user: string;
  /** Each text in parts that a value can hold. */
  readonly #texts: readonly (readonly Uint8Array[])[];
  readonly #isInline: readonly boolean[];
  readonly #chunks: readonly Uint8Array[];
  /** How many of the chunks no step can hold beside the rest. */
  readonly #ahead: number;
  /** The intent, as it was written. */
  #intent: KvEntry | undefined;
  #name = "";
  readonly #since = Date.now();

  constructor(connection: Connection, user: string, texts: readonly string[]) {
    this.#connection = connection;
    this.#user = user;
    this.#texts = texts.map(toParts);
    const room = MOST_BYTES - STEP_BYTES - texts.length * RECORD_BYTES;
    this.#isInline = chooseInline(this.#texts, room);
    this.#chunks = this.#texts.flatMap((parts, i) => this.#isInline[i] ? [] : parts);
    let left = room - this.#texts.reduce((sum, parts, i) => this.#isInline[i] ? sum + sizeOf(parts) : sum, 0);
    let ahead = this.#chunks.length;
    while (ahead > 0 && (left -= this.#chunks[ahead - 1].length) >= 0) ahead--;
    this.#ahead = ahead;
  }

  /** Puts the texts into a step, after staging what it cannot hold. Answers where each of them is. */
  async join(step: Step): Promise<readonly StoredText[]> {
    const { keys } = this.#connection;
    if (this.#ahead > 0) {
      // Staged for an attempt that failed, the chunks serve the next one, if nobody has taken them for orphans.
      const seen = this.#intent && await this.#connection.get(this.#intent.key);
      if (this.#intent === undefined || seen?.versionstamp !== this.#intent.versionstamp) await this.#writeAhead();
      if (this.#intent !== undefined) {
        step.check(this.#intent);
        step.delete(this.#intent.key);
        step.onLanded = () => this.#intent = undefined;
      }
    } else this.#name ||= crypto.randomUUID();
    for (let i = this.#ahead; i < this.#chunks.length; i++) step.set(keys.chunk(this.#name, i), this.#chunks[i]);
    let from = 0;
    return this.#texts.map((parts, i) => {
      if (this.#isInline[i]) return parts[0];
      from += parts.length;
      return { stage: this.#name, from: from - parts.length, count: parts.length };
    });
  }

  /** Gives up what no step has used. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#intent === undefined) return;
    try {
      const leftover = await abandon(this.#connection, this.#intent);
      if (leftover !== undefined) await cleanUp(this.#connection, leftover);
    } catch {
      // Somebody's sweep will do it.
    }
  }

  async #writeAhead(): Promise<void> {
    const { keys } = this.#connection;
    await this.#connection.insist(async () => {
      this.#name = crypto.randomUUID();
      const key = keys.intent(this.#user, this.#name);
      const value: Intent = { count: this.#ahead, at: this.#connection.now() };
      let intent: KvEntry = { key, value, versionstamp: null };
      for (let from = 0; from < this.#ahead; from += STAGED_AT_ONCE) {
        const part = this.#chunks.slice(from, Math.min(from + STAGED_AT_ONCE, this.#ahead));
        const mutations: Mutation[] = part.map((chunk, i) => ({ key: keys.chunk(this.#name, from + i), value: chunk }));
        if (from === 0) mutations.unshift({ key, value });
        const versionstamp = await this.#writeWhile(intent, mutations);
        if (versionstamp === undefined) return undefined; // taken for an orphan: all over again
        if (from === 0) this.#intent = intent = { key, value, versionstamp };
      }
      return intent;
    }, this.#since);
  }

  /** Writes, if the intent is as it was; answers `undefined` if it is not. */
  async #writeWhile(intent: KvEntry, mutations: readonly Mutation[]): Promise<string | undefined> {
    const { versionstamp } = await this.#connection.insist(async () => {
      const versionstamp = await this.#connection.stage({ checks: [intent], mutations });
      if (versionstamp !== undefined) return { versionstamp };
      const seen = await this.#connection.get(intent.key);
      return seen.versionstamp === intent.versionstamp ? undefined : { versionstamp };
    }, this.#since);
    return versionstamp;
  }
}

/** Turns an intent into a leftover, which anybody may delete; unless it was used or changed meanwhile. */
export async function abandon(connection: Connection, intent: KvEntry): Promise<KvEntry | undefined> {
  const [, , userPart, name] = intent.key;
  const wanted = toIntent(intent.value);
  const value: Leftover = "journal" in wanted
    ? { journal: wanted.journal, before: Infinity }
    : { stage: String(name), from: 0, count: wanted.count };
  const key = connection.keys.leftover(userPart, String(name));
  const mutations = [{ deleted: intent.key }, { key, value }];
  const versionstamp = await connection.commit({ checks: [intent], mutations });
  return versionstamp === undefined ? undefined : { key, value, versionstamp };
}

/** The text; `undefined` if some of it is deleted already, as what holds it will be. */
export async function loadText(connection: Connection, stored: StoredText): Promise<string | undefined> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  if (stored instanceof Uint8Array) return decoder.decode(stored);
  const { stage, from, count } = stored;
  const keys = Array.from({ length: count }, (_, i) => connection.keys.chunk(stage, from + i));
  let text = "";
  for (const { value } of await connection.getMany(keys)) {
    if (!(value instanceof Uint8Array)) return undefined;
    text += decoder.decode(value, { stream: true });
  }
  return text + decoder.decode();
}

/** What is remembered of a request; `undefined` if it is being deleted. */
export async function loadRequest(connection: Connection, entry: KvEntry): Promise<RequestRecord | undefined> {
  if (entry.versionstamp === null) return undefined;
  const stored = toRequest(entry.value);
  const meta = await loadText(connection, stored.meta);
  return meta === undefined ? undefined : { ...stored, meta };
}

/** Which texts stay in their records: the small ones, as far as a step can hold them all. */
function chooseInline(texts: readonly (readonly Uint8Array[])[], room: number): boolean[] {
  const isInline = texts.map((parts) => parts.length === 1);
  let bytes = texts.reduce((sum, parts, i) => isInline[i] ? sum + sizeOf(parts) : sum, 0);
  for (const i of [...texts.keys()].sort((a, b) => sizeOf(texts[b]) - sizeOf(texts[a]))) {
    if (bytes <= room) break;
    if (!isInline[i]) continue;
    isInline[i] = false;
    bytes -= sizeOf(texts[i]);
  }
  return isInline;
}

function sizeOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}

/** The UTF-8 bytes of a text, in parts of whole characters. Encoding a large text at once is many times slower. */
export function toParts(text: string): Uint8Array[] {
  if (text.length <= CHUNK_BYTES / 3) return [encoder.encode(text)];
  const parts: Uint8Array[] = [];
  for (let rest = text; rest !== "";) {
    const part = new Uint8Array(CHUNK_BYTES);
    const { read, written } = encoder.encodeInto(rest, part);
    parts.push(written === part.length ? part : part.slice(0, written));
    rest = rest.slice(read);
  }
  return parts;
}
