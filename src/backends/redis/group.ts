/**
 * Plain appends of one user that come in the same turn of the event loop go to Redis as one script. Each stands for itself:
 * what came between one of them and its document is no matter of the others.
 *
 * @module
 */

import { APPEND, APPEND_EACH, APPEND_FRAMED } from "./append_script.ts";
import type { Keyframe } from "../../document/journal.ts";
import type { Absent, Appended, Gone, Lost, Replayed } from "../backend.ts";
import type { Caller } from "./caller.ts";
import type { Keys } from "./keys.ts";
import { type Plain, pushPlain, toAppended } from "./plain.ts";
import { only, text, toAnswer } from "./records.ts";
import type { Rivals } from "./rivals.ts";

/** How many go together, so that Redis soon looks after others and begins while the next are made ready. */
const MOST = 32;
/** How many characters of bodies go together. */
const MOST_CHARACTERS = 128 * 1024;

/** What may come of an append. */
type Answer = Appended | Lost | Absent | Gone | Replayed;

interface Waiting {
  readonly plain: Plain;
  readonly resolve: (answer: Answer | Promise<Answer>) => void;
  readonly reject: (error: unknown) => void;
}

interface Group {
  readonly waiting: Waiting[];
  characters: number;
}

/** Plain appends on their way. */
export class Groups {
  readonly #groups = new Map<string, Group>();

  constructor(readonly caller: Caller, readonly keys: Keys, readonly rivals: Rivals) {}

  /** Appends one entry. @throws {BackendError} */
  append(plain: Plain): Promise<Answer> {
    // What has happened where others write is told in the same answer.
    if (this.rivals.has(plain.key)) return this.#one(plain);
    return new Promise((resolve, reject) => {
      const { user } = plain.key;
      let group = this.#groups.get(user);
      if (group === undefined) {
        const begun: Group = { waiting: [], characters: 0 };
        this.#groups.set(user, group = begun);
        queueMicrotask(() => this.#send(user, begun));
      }
      group.waiting.push({ plain, resolve, reject });
      group.characters += plain.entry.body.length;
      if (group.waiting.length === MOST || group.characters > MOST_CHARACTERS) this.#send(user, group);
    });
  }

  /** Appends one entry with its keyframe; `undefined` where nothing was done. @throws {BackendError} */
  async framed(plain: Plain, { version, bytes, writeId, body }: Keyframe): Promise<Appended | undefined> {
    const args: string[] = [];
    pushPlain(args, plain);
    args.push(`${version} ${bytes} ${writeId}`, body);
    const news = text(await this.caller.run(APPEND_FRAMED, this.keys.all(plain.key), args));
    return news === "" ? undefined : toAppended(news, plain);
  }

  #send(user: string, { waiting }: Group): void {
    if (waiting.length === 0) return; // it was full before
    if (this.#groups.get(user)?.waiting === waiting) this.#groups.delete(user);
    this.#each(user, waiting.splice(0));
  }

  /** By the script that tells, where nothing was done, why. */
  async #one(plain: Plain): Promise<Answer> {
    const { key, head } = plain;
    const args: string[] = [];
    pushPlain(args, plain);
    args.push(head.writeId, String(head.turn));
    const reply = await this.caller.run(APPEND, this.keys.all(key), args);
    if (typeof reply !== "string") {
      return only(toAnswer(reply, key.id), "appended", "lost", "absent", "gone", "replayed");
    }
    this.rivals.unseen(key);
    return toAppended(reply, plain);
  }

  async #each(user: string, sent: readonly Waiting[]): Promise<void> {
    const keys = this.keys.index(user);
    const args: string[] = [];
    for (const { plain } of sent) {
      this.keys.pushWritten(keys, plain.key, plain.turn);
      pushPlain(args, plain);
    }
    try {
      const news = text(await this.caller.run(APPEND_EACH, keys, args)).split(",");
      sent.forEach((each, i) => this.#settle(each, news[i]));
    } catch (error) {
      for (const { reject } of sent) reject(error);
    }
  }

  #settle({ plain, resolve, reject }: Waiting, news: string | undefined): void {
    if (news === "") {
      this.rivals.seen(plain.key);
      return resolve(this.#one(plain));
    }
    try {
      resolve(toAppended(text(news), plain));
    } catch (error) {
      reject(error);
    }
  }
}
