/**
 * Follows a journal entry by entry, and its keyframes beside it, and collects what does not agree.
 *
 * @module
 */

import type { Maintenance, Unreadable } from "../backends/maintenance.ts";
import type { DocumentKey, Head } from "../backends/records.ts";
import { equal, jsonBytes } from "../document/json.ts";
import { decodeBody, EMPTY, type Entry, entryBytes, fold, type Folded, type Keyframe } from "../document/journal.ts";
import { decodeKeyframe } from "../document/keyframe.ts";
import type { KeyHistory } from "../document/key_writes.ts";
import { damageOf } from "./damage.ts";
import { compareHead, type Seen } from "./examine_head.ts";
import { compareTurns } from "./examine_turns.ts";

/** What is wrong with a live document, each in one sentence. */
export async function examine(source: Maintenance, key: DocumentKey, head: Head): Promise<readonly string[]> {
  const examination = new Examination(head);
  const keyframes = source.keyframes(key)[Symbol.asyncIterator]();
  try {
    let frame = await examination.nextKeyframe(keyframes);
    for await (const entry of source.entries(key)) {
      if ("unreadable" in entry) {
        examination.unreadable("entry", entry);
        continue;
      }
      for (; frame !== undefined && frame.version < entry.version; frame = await examination.nextKeyframe(keyframes)) {
        examination.stray(frame);
      }
      const here = frame?.version === entry.version ? frame : undefined;
      examination.entry(entry, here);
      if (here !== undefined) frame = await examination.nextKeyframe(keyframes);
    }
    for (; frame !== undefined; frame = await examination.nextKeyframe(keyframes)) examination.stray(frame);
  } finally {
    await keyframes.return?.();
  }
  return [...examination.end(), ...await compareTurns(source.turns(key), examination)];
}

class Examination {
  /** The last version of each turn, as the entries tell. */
  readonly turns = new Map<number, number>();
  /** Versions whose entries cannot be read. */
  readonly lost = new Set<number>();
  readonly #head: Head;
  readonly #problems: string[] = [];
  #first: Entry | undefined;
  #last: Entry | undefined;
  /** The newest version of which there is an entry, readable or not. */
  #reached = 0;
  /** The version of `#last`, folded; absent where that cannot be told any more. */
  #folded: Folded | undefined = EMPTY;
  #atHead: Seen | undefined;
  #atBase: Seen | undefined;
  #isBeyond = false;

  constructor(head: Head) {
    this.#head = head;
  }

  /** The next keyframe that can be read. */
  async nextKeyframe(keyframes: AsyncIterator<Keyframe | Unreadable>): Promise<Keyframe | undefined> {
    for (;;) {
      const { done, value } = await keyframes.next();
      if (done) return undefined;
      if (!("unreadable" in value)) return value;
      this.unreadable("keyframe", value);
    }
  }

  unreadable(what: "entry" | "keyframe", { unreadable, version }: Unreadable): void {
    this.#say(`${version === undefined ? `One ${what}` : toName(what, version)} ${unreadable}.`);
    if (what === "keyframe" || version === undefined) return;
    this.lost.add(version);
    this.#folded = undefined;
    if (this.#reached === 0 || version === this.#reached + 1) this.#reached = version;
  }

  /** A keyframe of a version whose entry is not there. */
  stray({ version }: Keyframe): void {
    this.#say(`${toName("keyframe", version)} is kept, and the entry of that version is not.`);
  }

  entry(entry: Entry, keyframe: Keyframe | undefined): void {
    this.#first ??= entry;
    if (entry.turn > 0) this.turns.set(entry.turn, entry.version);
    if (entry.version > this.#head.version) {
      if (!this.#isBeyond) {
        this.#say(
          `The journal goes on with version ${entry.version}, beyond the head at version ${this.#head.version}.`,
        );
      }
      this.#isBeyond = true;
      return;
    }
    if (this.#reached === 0) this.#checkFirst(entry, keyframe);
    else this.#checkNext(entry);
    this.#fold(entry);
    if (keyframe !== undefined) this.#compareKeyframe(keyframe, entry);
    this.#last = entry;
    this.#reached = entry.version;
    const seen = { entry, folded: this.#folded, isKeyframe: keyframe !== undefined };
    if (entry.version === this.#head.version) this.#atHead = seen;
    if (entry.version === this.#head.base.version) this.#atBase = seen;
  }

  end(): readonly string[] {
    if (this.#reached === 0 && !this.#isBeyond) {
      this.#say(`The head is at version ${this.#head.version}, and there are no entries.`);
    } else if (this.#reached < this.#head.version) {
      this.#say(`The head is at version ${this.#head.version}, and the journal ends with ${this.#reached}.`);
    }
    this.#problems.push(...compareHead(this.#head, this.#first, this.#atHead, this.#atBase));
    return this.#problems;
  }

  #checkFirst({ version }: Entry, keyframe: Keyframe | undefined): void {
    const { oldest } = this.#head;
    if (version > oldest) {
      this.#say(`Versions from ${oldest} are said to be kept, and the journal begins with ${version}.`);
    }
    if (version === 1) return;
    this.#folded = undefined;
    if (keyframe === undefined) {
      this.#say(`The journal begins with version ${version}, and no keyframe is kept there: it cannot be read.`);
    }
  }

  #checkNext(entry: Entry): void {
    const { version } = entry;
    const next = this.#reached + 1;
    if (version !== next) {
      this.#say(next === version - 1 ? `Entry ${next} is missing.` : `Entries ${next} to ${version - 1} are missing.`);
      this.#folded = undefined;
    }
    const last = this.#last;
    if (last === undefined) return;
    if (last.version === version - 1 && entry.offset !== last.offset + entryBytes(entry.body)) {
      this.#say(`The offset of entry ${version} is ${entry.offset}, and its bytes say otherwise.`);
    }
    if (entry.at < last.at) this.#say(`Entry ${version} was written before the one before it.`);
    if (entry.turn < last.turn) {
      this.#say(`Entry ${version} is filed under turn ${entry.turn}, after turn ${last.turn}.`);
    }
    if (entry.seq <= last.seq) this.#say(`Entry ${version} has the sequence number ${entry.seq}, after ${last.seq}.`);
  }

  #fold(entry: Entry): void {
    try {
      if (this.#folded === undefined) decodeBody(entry.body);
      else this.#folded = fold(this.#folded, [entry]);
    } catch (error) {
      this.#say(`Entry ${entry.version} does not fold: ${damageOf(error)}.`);
      this.#folded = undefined;
    }
  }

  /** Where nothing could be folded any more, a keyframe is where that can go on. */
  #compareKeyframe(keyframe: Keyframe, entry: Entry): void {
    const name = toName("keyframe", keyframe.version);
    const kept = decodeKeyframe(keyframe, entry);
    if (keyframe.writeId !== entry.writeId) this.#say(`${name} has another write id than its entry.`);
    if (kept === undefined) return this.#say(`${name} cannot be read.`);
    const folded = this.#folded;
    const bytes = folded?.bytes ?? jsonBytes(kept.state);
    if (kept.bytes !== bytes) this.#say(`${name} says that its state has ${kept.bytes} bytes, and it has ${bytes}.`);
    if (folded === undefined) this.#folded = { ...kept, bytes };
    else if (!equal(kept.state, folded.state)) this.#say(`${name} holds another state than the journal gives.`);
    else if (!isSameHistory(kept.keys, folded.keys)) {
      this.#say(`${name} counts the writes of its keys otherwise than the journal gives.`);
    }
  }

  #say(problem: string): void {
    this.#problems.push(problem);
  }
}

function isSameHistory(a: KeyHistory, b: KeyHistory): boolean {
  if (a.size !== b.size) return false;
  for (const [key, writes] of a) if (JSON.stringify(writes) !== JSON.stringify(b.get(key))) return false;
  return true;
}

function toName(what: "entry" | "keyframe", version: number): string {
  return what === "entry" ? `Entry ${version}` : `The keyframe of version ${version}`;
}
