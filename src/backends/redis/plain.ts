/**
 * The append that nearly all are: one entry by a writer who knows the head, and nothing besides.
 *
 * @module
 */

import type { Append, DocumentKey, EntryDraft, Expected, Head } from "../backend.ts";

/** How many characters a body may have. */
const MOST_CHARACTERS = 32 * 1024;

/** One entry, on the head as its writer has seen it. */
export interface Plain {
  readonly key: DocumentKey;
  readonly head: Head;
  readonly entry: EntryDraft;
  /** {@link Append.bytes}. */
  readonly bytes: number;
  /** {@link Append.oldest}. */
  readonly oldest: number;
}

/** An append as a plain one; `undefined` if it is more: a batch, a request, a keyframe, a time to live, or a large body. */
export function toPlain(key: DocumentKey, expected: Expected, append: Append): Plain | undefined {
  const { head, version, writeId, turn } = expected;
  if (head === undefined || head.version !== version || head.writeId !== writeId || head.turn !== turn) {
    return undefined;
  }
  const { steps, keyframe, bytes, oldest } = append;
  const { entry, request } = steps[0];
  if (steps.length > 1 || keyframe !== undefined || request !== undefined) return undefined;
  if (entry === undefined || entry.ttlDays !== undefined || entry.body.length > MOST_CHARACTERS) return undefined;
  return { key, head, entry, bytes, oldest };
}

/** Adds its twelve arguments. */
export function pushPlain(args: string[], { key, head, entry, bytes, oldest }: Plain): void {
  const { writeId, writer, body, offset, turn = 0, title } = entry;
  args.push(key.id, String(head.version), head.writeId, String(head.turn), String(bytes), String(oldest));
  args.push(writeId, writer, body, String(offset), String(turn), title === undefined ? "" : `=${title}`);
}
