/**
 * The turn that a graph is in while it runs: its checkpointer may be behind, or hear of it only at the end.
 *
 * @module
 */

import { inputSeen } from "./checkpoint_source.ts";
import type { CheckpointSnapshots } from "./checkpoints.ts";
import type { SessionState } from "./entry.ts";
import { lastHumanMessage } from "./messages.ts";
import type { Snapshots } from "./port.ts";

/** A run, as one of its nodes sees it. */
export interface Run {
  /** The session as it is now. */
  readonly session: SessionState;
  /** The messages as they are now. */
  readonly messages: unknown;
  /** The checkpoint that the step began at. */
  readonly checkpointId: string | undefined;
}

/**
 * Which turn a run is in. If the checkpointer does not have the checkpoint of its step yet, the last human message
 * tells whether it has at least the turn.
 *
 * @param messages The channel that holds the messages.
 */
export function turnOfRun({ head, total }: CheckpointSnapshots, run: Run, messages: string): number {
  if (head === undefined || total === 0) return 1;
  if (head.checkpoint.id === run.checkpointId || inputSeen(head).isPending) return total;
  const asked = lastHumanMessage(run.messages);
  const stored = head.checkpoint.channel_values?.[messages];
  return asked === undefined || stored === undefined || asked === lastHumanMessage(stored) ? total : total + 1;
}

/** The past of a thread up to a turn that runs, as it is so far. */
export function withRun({ retained, at }: Snapshots, run: Run, turn: number): Snapshots {
  const last = retained.at(-1);
  const ranges = last === undefined ? [{ from: turn, to: turn }] : [...retained.slice(0, -1), { ...last, to: turn }];
  return {
    total: turn,
    retained: ranges,
    at: (asked) => asked === turn ? Promise.resolve(run.session) : at(asked),
  };
}
