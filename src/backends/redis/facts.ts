/**
 * What the records of one document say of each other, apart from its journal.
 *
 * @module
 */

import type { Head } from "../records.ts";
import { list, number, text, toHead } from "./records.ts";

/** All that is kept of a document beside its journal, as of one moment. */
export interface Facts {
  readonly id: string;
  readonly now: number;
  /** The head; absent if there is none. */
  readonly head?: Head;
  /** What its tombstone tells, or will tell. */
  readonly mark?: string;
  /** Its place in the index of documents, of what ends, and of tombstones. */
  readonly seq?: number;
  readonly endsAt?: number;
  readonly forgottenAt?: number;
  /** How long each of its keys has to live, in milliseconds; −1: for ever, −2: there is none. */
  readonly lives: readonly number[];
  /** Versions in the index of keyframes. */
  readonly frames: readonly string[];
  /** Versions of which there is a body of a keyframe. */
  readonly states: readonly string[];
  /** The write id of version 1; absent if nobody will send that again. */
  readonly firstWriteId?: string;
}

/** @throws {BackendError} if the head is damaged. */
export function toFacts(id: string, now: number, reply: unknown): Facts {
  const [head, mark, seq, endsAt, forgottenAt, lives, frames, states, firstWriteId] = list(reply);
  const optional = (value: unknown) => value === null ? undefined : number(value);
  return {
    id,
    now,
    ...(list(head)[0] === null ? {} : { head: toHead(head, id) }),
    ...(mark === null ? {} : { mark: text(mark) }),
    seq: optional(seq),
    endsAt: optional(endsAt),
    forgottenAt: optional(forgottenAt),
    lives: list(lives).map(number),
    frames: list(frames).map((row) => text(row).split(" ")[0]),
    states: list(states).map(text),
    ...(firstWriteId === null ? {} : { firstWriteId: text(firstWriteId) }),
  };
}

/** A disagreement, and what puts it right without losing anything. */
export interface Disagreement {
  readonly problem: string;
  readonly remedy: "record" | "states";
}

const NAMES = ["head", "journal", "index of keyframes", "keyframes", "index of turns"];
/** A key may be told to end a moment later than the head: the server rounds. */
const TOLERANCE_MS = 1_000;

/** Everything that disagrees. */
export function* disagreements(facts: Facts): Generator<Disagreement> {
  const { head, mark, endsAt, forgottenAt, frames, states } = facts;
  const strays = states.filter((version) => !frames.includes(version));
  if (strays.length > 0) {
    yield {
      problem: `Keyframes of version ${strays.join(", ")} are kept, and no index leads to them.`,
      remedy: "states",
    };
  }
  if (head !== undefined) return yield* ofLive(facts, head);
  if (mark === undefined) return; // the document cannot be read, and that is told already
  if (mark.startsWith("live ")) {
    if (endsAt === undefined) {
      yield {
        problem: "It has expired, and no sweep will find it: the index of what ends says nothing of it.",
        remedy: "record",
      };
    }
    return;
  }
  if (forgottenAt === undefined) {
    yield {
      problem: "It has ended, and no sweep will find it: the index of tombstones says nothing of it.",
      remedy: "record",
    };
  }
  if (endsAt !== undefined) {
    yield { problem: "It has ended, and the index of what ends still says that it will.", remedy: "record" };
  }
}

function* ofLive(
  { seq, mark, endsAt, forgottenAt, lives, now, firstWriteId = "-" }: Facts,
  head: Head,
): Generator<Disagreement> {
  if (seq !== head.seq) {
    yield { problem: `The index of documents has it at ${seq}, and its head at ${head.seq}.`, remedy: "record" };
  }
  if (endsAt !== head.expiresAt) {
    yield {
      problem: `It is to end at ${moment(head.expiresAt)}, and the index of what ends says ${moment(endsAt)}.`,
      remedy: "record",
    };
  }
  const { expiresAt, ttlDays = "-", kind, createdSeq } = head;
  const told = `live ${expiresAt} ${ttlDays} ${kind} ${createdSeq} ${firstWriteId} - 0`;
  if (mark !== (expiresAt === undefined ? undefined : told)) {
    yield { problem: "What its tombstone will tell is not what its head says.", remedy: "record" };
  }
  if (forgottenAt !== undefined) {
    yield { problem: "It is alive, and the index of tombstones says that it has ended.", remedy: "record" };
  }
  const wanted = expiresAt === undefined ? -1 : expiresAt - now;
  const wrong = NAMES.filter((_, i) => lives[i] !== -2 && !isNear(lives[i], wanted));
  if (wrong.length > 0) {
    yield { problem: `Its ${wrong.join(", ")} would not end when it does, at ${moment(expiresAt)}.`, remedy: "record" };
  }
}

function isNear(life: number, wanted: number): boolean {
  return life === -1 || wanted === -1 ? life === wanted : Math.abs(life - wanted) <= TOLERANCE_MS;
}

function moment(time: number | undefined): string {
  return time === undefined ? "no time" : new Date(time).toISOString();
}
