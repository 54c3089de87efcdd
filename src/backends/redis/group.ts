/**
 * Plain appends of one user that come in the same turn of the event loop go to Redis as one script. Each stands for itself:
 * what came between one of them and its document is no matter of the others.
 *
 * @module
 */

import type { Append, Appended, DocumentKey, Expected } from "../backend.ts";
import { APPEND_EACH } from "./append_script.ts";
import { type PlainAppend, pushPlain } from "./arguments.ts";
import type { Caller } from "./caller.ts";
import type { Keys } from "./keys.ts";
import { list, toAppended } from "./records.ts";

/** How many go together, so that Redis soon looks after others and begins while the next are made ready. */
const MOST = 32;
/** How many characters of bodies go together. */
const MOST_CHARACTERS = 128 * 1024;

interface Waiting {
  readonly key: DocumentKey;
  readonly expected: Expected;
  readonly append: PlainAppend;
  readonly resolve: (answer: Appended | undefined) => void;
  readonly reject: (error: unknown) => void;
}

interface Group {
  readonly waiting: Waiting[];
  characters: number;
}

/** Appends on their way. */
export class Groups {
  readonly #groups = new Map<string, Group>();

  constructor(readonly caller: Caller, readonly keys: Keys) {}

  /**
   * Appends. Answers `undefined` if nothing was done, or if it is the only one: then the script for
   * one document is to be asked, which tells why or does more.
   *
   * @throws {BackendError}
   */
  append(key: DocumentKey, expected: Expected, append: PlainAppend): Promise<Appended | undefined> {
    return new Promise((resolve, reject) => {
      let group = this.#groups.get(key.user);
      if (group === undefined) {
        const begun: Group = { waiting: [], characters: 0 };
        this.#groups.set(key.user, group = begun);
        queueMicrotask(() => this.#send(key.user, begun));
      }
      group.waiting.push({ key, expected, append, resolve, reject });
      group.characters += append.entry.body.length;
      if (group.waiting.length === MOST || group.characters > MOST_CHARACTERS) this.#send(key.user, group);
    });
  }

  async #send(user: string, { waiting }: Group): Promise<void> {
    if (waiting.length === 0) return; // it was full before
    if (this.#groups.get(user)?.waiting === waiting) this.#groups.delete(user);
    const sent = waiting.splice(0);
    if (sent.length === 1) return sent[0].resolve(undefined);
    const keys = this.keys.index(user);
    const args: string[] = [];
    for (const { key, expected, append } of sent) {
      this.keys.pushWritten(keys, key);
      pushPlain(args, key, expected, append);
    }
    try {
      const answers = list(await this.caller.run(APPEND_EACH, keys, args));
      sent.forEach((each, i) => settle(each, answers[i]));
    } catch (error) {
      for (const { reject } of sent) reject(error);
    }
  }
}

function settle({ key, resolve, reject }: Waiting, answer: unknown): void {
  try {
    resolve(answer === null ? undefined : toAppended(answer, key.id));
  } catch (error) {
    reject(error);
  }
}

/** An append as one entry and nothing besides; `undefined` if it has a request, a keyframe or a time to live, or is large. */
export function toPlain({ steps, bytes, oldest, keyframe }: Append): PlainAppend | undefined {
  const [{ entry, request }] = steps;
  const isPlain = steps.length === 1 && keyframe === undefined && request === undefined;
  if (!isPlain || entry === undefined || entry.ttlDays !== undefined) return undefined;
  return entry.body.length <= MOST_CHARACTERS / 4 ? { entry, bytes, oldest } : undefined;
}
