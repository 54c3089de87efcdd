/**
 * Follows the live branch of a thread from its newest checkpoint, by `parentConfig`, and remembers where turns ended.
 *
 * A list of checkpoints would not do: it has those of abandoned branches too.
 *
 * @module
 */

import { type CheckpointTuple, type InputSeen, inputSeen, parentOf, takesInput } from "./checkpoint_source.ts";

/** A checkpoint that is known to be in a turn; the last of its turn, but for the head of a branch. */
export interface Mark {
  /** The turn. */
  readonly turn: number;
  /** The checkpoint. */
  readonly id: string;
  /** What it tells of the input. */
  readonly input: InputSeen;
}

/** What is known of the live branch of a thread. */
export interface Branch {
  /** The newest checkpoint. */
  readonly head: Mark;
  /** The oldest turn that can be read. */
  readonly oldest: number;
  /** Where ended turns ended, ascending: all of them, or in a long thread every so many, and always the newest. */
  readonly ends: readonly Mark[];
}

/** Reads a checkpoint of a thread by its id. */
export type ReadTuple = (id: string) => Promise<CheckpointTuple | undefined>;

/** Judges from checkpoints at which turns ended how many turns there were at least, where the first are gone. */
export interface TurnHints {
  /** The highest turn that the state names. */
  turnNamed(tuple: CheckpointTuple): number;
  /** The human messages that there are. */
  humanMessages(tuple: CheckpointTuple): number;
}

/** How many ends of turns are remembered of a thread. */
export const MARKS_KEPT = 1024;

/**
 * Follows the branch from its head to what is known of it, or to its first checkpoint. One checkpoint is held at a time.
 *
 * Where the first checkpoints are gone, the number of turns is the most that the state and the messages of the others
 * speak of.
 */
export async function followBranch(
  head: CheckpointTuple,
  known: Branch | undefined,
  read: ReadTuple,
  hints: TurnHints,
): Promise<Branch> {
  const marks = new Map((known === undefined ? [] : [...known.ends, known.head]).map((mark) => [mark.id, mark]));
  /** Ends of turns, the newest first, numbered backwards from 0 for the turn of the head. */
  let ends: Mark[] = [];
  let turn = 0;
  let least = hints.turnNamed(head);
  let oldestMessages = hints.humanMessages(head);
  for (let tuple = head;;) {
    const joint = marks.get(tuple.checkpoint.id);
    if (joint !== undefined && known !== undefined) return joined(head, known, joint, ends, turn);
    const parentId = parentOf(tuple);
    const mark = parentId === undefined ? undefined : marks.get(parentId);
    const parent = parentId === undefined || mark !== undefined ? undefined : await read(parentId);
    const before = mark?.input ?? (parent === undefined ? undefined : inputSeen(parent));
    const begins = takesInput(tuple, before);
    if (begins) {
      turn--;
      if (parentId !== undefined && before !== undefined) {
        ends.push({ turn, id: parentId, input: before });
        ends = thinned(ends);
      }
    }
    if (mark !== undefined && known !== undefined) return joined(head, known, mark, ends, turn);
    if (parent === undefined) {
      const isCut = parentId !== undefined;
      // What is left of a turn whose beginning is gone is a turn.
      const turns = -turn + (isCut && !begins ? 1 : 0);
      const total = isCut ? Math.max(turns, least, oldestMessages + turns - 1) : turns;
      return branchOf(head, total, total - turns + 1, numbered(ends, total));
    }
    if (begins) {
      least = Math.max(least, hints.turnNamed(parent) - turn);
      oldestMessages = hints.humanMessages(parent);
    }
    tuple = parent;
  }
}

/** Finds the last checkpoint of a turn from that of a later one. `undefined` if the branch is cut before it. */
export async function findEnd(from: Mark, turn: number, read: ReadTuple): Promise<CheckpointTuple | undefined> {
  let tuple = await read(from.id);
  for (let at = from.turn; tuple !== undefined && at > turn;) {
    const parentId = parentOf(tuple);
    const parent: CheckpointTuple | undefined = parentId === undefined ? undefined : await read(parentId);
    if (parent !== undefined && takesInput(tuple, inputSeen(parent))) at--;
    tuple = parent;
  }
  return tuple;
}

/** The branch from where it leaves, or goes on from, what was known. */
function joined(head: CheckpointTuple, known: Branch, joint: Mark, ends: readonly Mark[], turn: number): Branch {
  const total = joint.turn - turn;
  const kept = known.ends.filter((end) => end.turn < joint.turn);
  return branchOf(
    head,
    total,
    Math.min(known.oldest, Math.max(total, 1)),
    thinned([...kept, ...numbered(ends, total)]),
  );
}

function branchOf(head: CheckpointTuple, total: number, oldest: number, ends: readonly Mark[]): Branch {
  return {
    head: { turn: total, id: head.checkpoint.id, input: inputSeen(head) },
    oldest,
    ends: ends.filter((end) => end.turn >= 1),
  };
}

function numbered(ends: readonly Mark[], total: number): Mark[] {
  return ends.map((end) => ({ ...end, turn: total + end.turn })).reverse();
}

/** At most {@link MARKS_KEPT} of the ends, evenly spread, and always the last one. */
function thinned(ends: Mark[]): Mark[] {
  if (ends.length <= MARKS_KEPT) return ends;
  const stride = Math.ceil(2 * Math.abs(ends[ends.length - 1].turn - ends[0].turn) / MARKS_KEPT);
  const kept = [ends[0]];
  for (const end of ends.slice(1, -1)) if (Math.abs(end.turn - kept[kept.length - 1].turn) >= stride) kept.push(end);
  return [...kept, ends[ends.length - 1]];
}
