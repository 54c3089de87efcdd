/**
 * The part of a LangGraph.js checkpointer that is read here, by shape: any saver fits, and none is imported.
 *
 * @module
 */

/** Which checkpoint is meant; without `checkpoint_id` the newest. */
export interface CheckpointConfig {
  /** `thread_id`, `checkpoint_ns`, `checkpoint_id`, and whatever else the saver wants to know. */
  configurable: Record<string, unknown>;
}

/** A write that belongs to a checkpoint without being part of its state. */
export type PendingWrite = readonly [taskId: string, channel: string, value: unknown, ...unknown[]];

/** A checkpoint as savers hand it out. */
export interface CheckpointTuple {
  /** What is in it. */
  readonly checkpoint: {
    /** Its id. */
    readonly id: string;
    /** The value of each channel that has one. Delta channels are not among them. */
    readonly channel_values?: Readonly<Record<string, unknown>>;
    /** The version of each channel that was ever written. */
    readonly channel_versions?: Readonly<Record<string, string | number>>;
  };
  /** How it came about. */
  readonly metadata?: {
    /** `input`, `loop`, `update` or `fork`. */
    readonly source?: string;
  };
  /** The checkpoint that it was made from. Absent for the first one of a thread. */
  readonly parentConfig?: { readonly configurable?: Readonly<Record<string, unknown>> };
  /** What tasks have written since. */
  readonly pendingWrites?: readonly PendingWrite[];
}

/** What a delta channel is rebuilt from. */
export interface DeltaHistory {
  /** The writes up to the checkpoint, the oldest first. */
  readonly writes: readonly PendingWrite[];
  /** The value that they come on top of. */
  readonly seed?: unknown;
}

/** A checkpointer: `MemorySaver`, `PostgresSaver`, or any other. */
export interface CheckpointSource {
  /** A checkpoint. `undefined` if there is none. */
  getTuple(config: CheckpointConfig): Promise<CheckpointTuple | undefined>;
  /** What delta channels are rebuilt from. Savers older than delta channels do not have it. */
  getDeltaChannelHistory?(
    options: { config: CheckpointConfig; channels: string[] },
  ): Promise<Record<string, DeltaHistory>>;
}

/** The channel by which every LangGraph.js graph takes its input (`START`). */
export const INPUT_CHANNEL = "__start__";

/** What a checkpoint tells of its graph's input. */
export interface InputSeen {
  /** Moves whenever an input arrives, and once more when it was consumed. */
  readonly version: string | number | undefined;
  /** Whether the input has not been consumed yet. */
  readonly isPending: boolean;
}

/** What a checkpoint tells of its graph's input. */
export function inputSeen({ checkpoint }: CheckpointTuple): InputSeen {
  const { channel_values: values = {}, channel_versions: versions = {} } = checkpoint;
  return { version: versions[INPUT_CHANNEL], isPending: values[INPUT_CHANNEL] !== undefined };
}

/**
 * Whether an input of the graph has arrived between a checkpoint and the one that it was made from: a turn begins.
 *
 * Not so with a resumed interrupt, a retry, a `Command`, an update of the state, or a fork of what there was: LangGraph
 * continues with them what it was at. Neither messages, which may be trimmed or replaced, nor `source`, which a graph
 * that keeps a checkpoint only at its exit never sets to `input`, would tell this.
 */
export function takesInput(tuple: CheckpointTuple, before: InputSeen | undefined): boolean {
  const { version, isPending } = inputSeen(tuple);
  if (version === undefined) return tuple.metadata?.source === "input";
  // What was pending before and is not any more was consumed, which moves the version as well.
  return version !== before?.version && (isPending || before?.isPending !== true);
}

/** The id of the checkpoint that one was made from. */
export function parentOf({ parentConfig }: CheckpointTuple): string | undefined {
  const id = parentConfig?.configurable?.checkpoint_id;
  return typeof id === "string" && id !== "" ? id : undefined;
}
