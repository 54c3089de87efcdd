/**
 * The append that nearly all are: one entry by a writer who knows the head, and nothing besides.
 *
 * @module
 */

import type { Keyframe } from "../../document/journal.ts";
import type { Append, Appended, Base, DocumentKey, EntryDraft, Expected, Head } from "../backend.ts";
import { packHead, packRest, packStamp } from "./packed.ts";
import { number } from "./records.ts";

/** How many characters a body may have. */
const MOST_CHARACTERS = 32 * 1024;

/** One entry, on the head as its writer has seen it. */
export interface Plain {
  readonly key: DocumentKey;
  readonly head: Head;
  readonly entry: EntryDraft;
  /** {@link Append.bytes}. */
  readonly bytes: number;
  /** The oldest version to retain from now on. */
  readonly oldest: number;
  /** The turn of the entry. */
  readonly turn: number;
  /** That of the entry, if it is due. */
  readonly keyframe?: Keyframe;
}

/**
 * An append as a plain one; `undefined` if it is more: a batch, a request, a time to live, or a large body.
 */
export function toPlain(key: DocumentKey, expected: Expected, append: Append): Plain | undefined {
  const { head, version, writeId, turn } = expected;
  if (head === undefined || head.version !== version || head.writeId !== writeId || head.turn !== turn) {
    return undefined;
  }
  const { steps, keyframe, bytes, oldest } = append;
  const { entry, request } = steps[0];
  if (steps.length > 1 || request !== undefined || entry === undefined) return undefined;
  if (entry.ttlDays !== undefined || entry.body.length > MOST_CHARACTERS) return undefined;
  return {
    key,
    head,
    entry,
    bytes,
    oldest: Math.max(oldest, head.oldest),
    turn: Math.max(turn, entry.turn ?? 0),
    keyframe,
  };
}

/** Where reading starts once it is written. */
function baseOf({ head, entry, bytes, keyframe }: Plain): Base {
  return keyframe === undefined ? head.base : { version: keyframe.version, bytes, offset: entry.offset };
}

/** Adds its five arguments. */
export function pushPlain(args: string[], plain: Plain): void {
  const { key, head, entry, bytes, oldest, turn } = plain;
  const { expiresAt, ttlDays } = head;
  const base = baseOf(plain);
  const { writeId, writer, body, offset, title } = entry;
  const rest = {
    version: head.version + 1,
    expiresAt,
    ttlDays,
    firstTurn: head.firstTurn || turn,
    bytes,
    oldest,
    base,
  };
  const named = title === undefined ? key.id : `${key.id}\0${title}`;
  args.push(named, packHead(head), packRest(rest), packStamp({ turn, writeId, offset, writer }), body);
}

/**
 * The answer to it: what the writer knew of the head, what it has written, and the news, a time and a number.
 *
 * @throws {BackendError} if the news are damaged.
 */
export function toAppended(news: string, plain: Plain): Appended {
  const { head: before, entry, bytes, oldest, turn } = plain;
  const space = news.indexOf(" ");
  const at = number(news.slice(0, space));
  const seq = number(news.slice(space + 1));
  const { writeId, writer, offset, title = before.title } = entry;
  const version = before.version + 1;
  const head: Head = {
    id: before.id,
    kind: before.kind,
    title,
    version,
    writeId,
    createdAt: before.createdAt,
    updatedAt: at,
    writer,
    turn,
    firstTurn: before.firstTurn || turn,
    ttlDays: before.ttlDays,
    expiresAt: before.expiresAt,
    bytes,
    oldest,
    offset,
    base: baseOf(plain),
    seq,
    createdSeq: before.createdSeq,
  };
  return { outcome: "appended", head, stamps: [{ version, writeId, at, turn, writer, seq, offset }] };
}
