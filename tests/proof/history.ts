/**
 * What was asked of a store and what it answered, by whom and when: the input of the checker.
 *
 * Every write is labelled, and its label is the writer of the entry that it makes. So a journal says by itself which call
 * made which version, and nothing has to be searched for.
 *
 * @module
 */

import type { JsonValue } from "../../src/document/json.ts";
import type { JsonPatch } from "../../src/document/json_patch.ts";

/** A change that can be told from every other one, and commutes with those of others. */
export type Edit =
  | { readonly append: string }
  | { readonly set: readonly [key: string, value: JsonValue] }
  | { readonly add: number }
  | { readonly fill: readonly [character: string, length: number] };

/** What a call asks. */
export type Call =
  | { readonly do: "mint"; readonly state: JsonValue }
  | { readonly do: "patch"; readonly handle: string; readonly edits: readonly Edit[] }
  /** The state at `expect` with the edits done. */
  | {
    readonly do: "save";
    readonly handle: string;
    readonly edits: readonly Edit[];
    readonly expect: number;
    readonly merge: boolean;
  }
  | { readonly do: "restore"; readonly handle: string; readonly version: number; readonly expect: number }
  | { readonly do: "get"; readonly handle: string; readonly version?: number }
  | { readonly do: "changes"; readonly handle: string; readonly since: number }
  | { readonly do: "touch"; readonly handle: string; readonly ttlDays: number | null }
  | { readonly do: "revoke"; readonly handle: string; readonly expect?: number }
  | { readonly do: "list" }
  | { readonly do: "sweep" };

/** What names a document that it is about. */
export type AboutOne = Exclude<Call, { readonly do: "mint" | "list" | "sweep" }>;

/** What came of a call. */
export type Result =
  /** A version with its state; `current` is what was newest then. */
  | {
    readonly is: "version";
    readonly handle: string;
    readonly version: number;
    readonly digest: string;
    readonly current: number;
    readonly writer: string;
    readonly at: string;
    readonly expiresAt?: string;
  }
  | { readonly is: "changes"; readonly changes: readonly Told[]; readonly current: number; readonly more: boolean }
  | { readonly is: "list"; readonly versions: Readonly<Record<string, number>> }
  | { readonly is: "revoked"; readonly version: number }
  | { readonly is: "swept" }
  /** Nothing was changed. `current` and `expiredAt` where the refusal named them. */
  | {
    readonly is: "refused";
    readonly code: string;
    readonly current?: number;
    readonly expiredAt?: string;
    readonly message?: string;
  }
  /** It may have landed. */
  | { readonly is: "unknown" };

/** A journal's entry as a reader is told it. */
export interface Told {
  readonly version: number;
  readonly writer: string;
  readonly at: string;
  readonly digest: string;
}

/** A call and its result. Times are of one clock, in milliseconds or in steps. */
export interface Operation {
  /** The same for a call and its repetition under one request id; otherwise unique. */
  readonly label: string;
  readonly process: string;
  readonly invokedAt: number;
  /** Infinite for one that was never answered. */
  readonly returnedAt: number;
  readonly call: Call;
  readonly result: Result;
}

/** An event as a watcher was told it. */
export interface Seen {
  readonly type: "change" | "deleted" | "expired" | "gap";
  readonly handle?: string;
  readonly version?: number;
  readonly writer?: string;
  readonly at?: string;
  readonly reason?: string;
  readonly seenAt: number;
}

/** A stream of events, put together from all its parts if it was cut and resumed. */
export interface Watch {
  readonly name: string;
  /** When it had begun: what is minted later must be told from version 1. */
  readonly since: number;
  readonly events: readonly Seen[];
  /** Whether it was let go on until all was told. */
  readonly isComplete: boolean;
}

/** A document's journal as it stands in the end, from its start; no entries where the document is gone. */
export interface Journal {
  readonly handle: string;
  readonly entries: readonly Recorded[];
  /** Digest of the state as the store reads it in the end. */
  readonly digest: string;
}

/** An entry as it stands in the end. */
export interface Recorded {
  readonly version: number;
  readonly writer: string;
  readonly at: string;
  readonly turn: number;
  readonly patch: JsonPatch;
}

/** All that is known of a run. */
export interface History {
  readonly operations: readonly Operation[];
  readonly watches: readonly Watch[];
  readonly journals: readonly Journal[];
  /** How far apart two processes' clocks may be, in the unit of the times. */
  readonly slack: number;
  /** Whether something may have been lost on purpose, so that a watcher may be told of a gap. */
  readonly mayHaveGaps?: boolean;
  /** When the store was put back to what it had been. What was asked before may be lost, and what follows may not build on it. */
  readonly rewoundAt?: number;
  /** The latest that the engine's clock showed between two times of the history, ISO 8601; absent where nobody knows. */
  readonly latest?: (from: number, to: number) => string;
}
