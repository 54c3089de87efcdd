/**
 * Turns queued writes of one document into one append: consecutive entries on the version that was last seen.
 *
 * @module
 */

import type { Append, EntryDraft, Head, Step } from "../backends/backend.ts";
import { MAX_BATCH } from "../backends/records.ts";
import { StateTooLarge } from "../document/errors.ts";
import { advance, encodeBody, entryBytes, type Folded, isKeyframeDue } from "../document/journal.ts";
import type { JsonPatch } from "../document/json_patch.ts";
import { encodeKeyframe } from "../document/keyframe.ts";
import type { Current } from "./cache.ts";
import { checkTurnJump } from "../document/checks.ts";
import { mintWriteId } from "./handle.ts";
import type { Plan, Planner } from "./plans.ts";
import { type Request, toDraft } from "./requests.ts";
import { toIso, type WriteFacts } from "./snapshots.ts";

/** A write, waiting to be planned. */
export interface Write {
  readonly plan: Planner;
  readonly writer: string;
  readonly turn?: number;
  readonly title?: string;
  readonly ttlDays?: number | null;
  readonly request?: Request;
}

/** A write that became a step of an append. */
export interface Planned<W extends Write> {
  readonly write: W;
  /** The version that it makes; that of the base where nothing changes. */
  readonly folded: Folded;
  readonly facts: WriteFacts;
  readonly step: Step;
}

/** Some writes as steps, up to the first that cannot be told before the others have landed. */
export interface Batch<W extends Write> {
  readonly planned: readonly Planned<W>[];
  /** Where the first of all failed: why. Then nothing is planned. */
  readonly refused?: { readonly write: W; readonly error: unknown };
  /** Where the first of all changes nothing and needs no record: it. Then nothing is planned. */
  readonly unchanged?: W;
}

/** The most bytes of bodies in one append, beyond the first. */
const MAX_BATCH_BYTES = 256 * 1024;

/**
 * Plans writes in order, each on the one before. A failure or a no-op is only told of the first, on a version that has
 * landed: of a later one it would speak of versions that may never be.
 */
export function planBatch<W extends Write>(
  writes: readonly W[],
  base: Current,
  maxStateBytes: number,
): Batch<W> | Promise<Batch<W>> {
  const batch = planEach(writes, base, maxStateBytes);
  return settle(batch, batch.next());
}

/** Runs a generator to its end: at once, unless it yields something to wait for. */
function settle<T, R>(steps: Generator<Promise<T>, R, T>, step: IteratorResult<Promise<T>, R>): R | Promise<R> {
  if (step.done) return step.value;
  return step.value.then(
    (value) => settle(steps, steps.next(value)),
    (error) => settle(steps, steps.throw(error)),
  );
}

function* planEach<W extends Write>(
  writes: readonly W[],
  base: Current,
  maxStateBytes: number,
): Generator<Promise<Plan>, Batch<W>, Plan> {
  const planned: Planned<W>[] = [];
  let { folded, head } = base;
  let offset = head.offset;
  let turn = head.turn;
  let bodies = 0;
  for (const write of writes) {
    if (planned.length === MAX_BATCH) break;
    // The second of two with one request id is answered by what the first one leaves.
    if (write.request !== undefined && planned.some((before) => before.write.request?.id === write.request?.id)) break;
    let plan: Plan;
    try {
      const pending = write.plan(planned.length === 0 ? base : { ...base, folded, head: { ...head, turn } });
      plan = pending instanceof Promise ? yield pending : pending;
      checkTurnJump(turn, write.turn);
      if (plan.outcome === "write" && plan.after.bytes > maxStateBytes) {
        throw new StateTooLarge(plan.after.bytes, maxStateBytes);
      }
    } catch (error) {
      if (planned.length > 0) break;
      return { planned, refused: { write, error } };
    }
    if (plan.outcome === "unchanged") {
      if (planned.length > 0) break;
      if (write.request === undefined) return { planned, unchanged: write };
      planned.push(asNoOp(write, base));
      break;
    }
    const body = encodeBody(plan.patch, plan.after);
    const size = entryBytes(body);
    if (planned.length > 0 && bodies + size > MAX_BATCH_BYTES) break;
    bodies += size;
    offset += size;
    turn = Math.max(turn, write.turn ?? 0);
    // As a fold will count it: where the entry is a whole state, a key that was changed and changed back was not written.
    const patch: JsonPatch = body.startsWith("{") ? [{ op: "replace", path: "", value: plan.after.state }] : plan.patch;
    const { after } = plan;
    folded = advance(folded, { patch, after, writeId: mintWriteId(), writer: write.writer, turn });
    planned.push(asEntry(write, plan, folded, body, offset, head));
    // A keyframe goes with the last of a batch, and those behind it would have to be read from before it.
    if (isKeyframeDue(head.base, offset, folded.bytes)) break;
    if (write.title !== undefined) head = { ...head, title: write.title };
  }
  return { planned };
}

function asEntry<W extends Write>(
  write: W,
  plan: Plan & { readonly outcome: "write" },
  folded: Folded,
  body: string,
  offset: number,
  head: Head,
): Planned<W> {
  const changed = Object.freeze(plan.patch.map(({ path }) => path));
  const facts: WriteFacts = plan.merged === undefined ? { changed } : { changed, merged: plan.merged };
  const entry: EntryDraft = {
    writeId: folded.writeId,
    writer: write.writer,
    body,
    offset,
    turn: write.turn,
    title: write.title,
    ttlDays: write.ttlDays,
  };
  if (write.request === undefined) return { write, folded, facts, step: { entry } };
  const meta = {
    kind: head.kind,
    title: write.title ?? head.title,
    createdAt: toIso(head.createdAt),
    writer: write.writer,
    bytes: folded.bytes,
    ...facts,
  };
  return { write, folded, facts, step: { entry, request: toDraft(write.request, meta) } };
}

function asNoOp<W extends Write>(write: W, { head, folded, stamp }: Current): Planned<W> {
  const meta = {
    kind: head.kind,
    title: head.title,
    createdAt: toIso(head.createdAt),
    updatedAt: toIso(stamp.at),
    writer: stamp.writer,
    bytes: folded.bytes,
    changed: [],
  };
  return { write, folded, facts: { changed: [] }, step: { request: toDraft(write.request, meta) } };
}

/** The append of a batch, with the keyframe of its last version where one is due. */
export function toAppend<W extends Write>(planned: readonly Planned<W>[], base: Current, oldest: number): Append {
  const steps = planned.map(({ step }) => step);
  const { folded, step } = planned[planned.length - 1];
  return isDue(planned, base)
    ? { steps, bytes: folded.bytes, oldest, keyframe: encodeKeyframe(folded, step.entry?.body) }
    : { steps, bytes: folded.bytes, oldest };
}

/** Whether the last version of a batch deserves a keyframe. */
export function isDue<W extends Write>(planned: readonly Planned<W>[], { head }: Current): boolean {
  const { step, folded } = planned[planned.length - 1];
  return step.entry !== undefined && isKeyframeDue(head.base, step.entry.offset, folded.bytes);
}
