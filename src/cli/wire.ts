/**
 * What is known of documents and their changes, as the JSON that `--json` prints: snake_case, absent values `null`.
 *
 * @module
 */

import type { JsonPatch } from "../document/json_patch.ts";
import { type Change, type HandleInfo, toWireMetadata, type WireMetadata } from "../document/snapshot.ts";

/** A document without its state. */
export type WireInfo = WireMetadata & {
  readonly handle: string;
  readonly ttl_days: number | null;
  readonly turn: number | null;
};

/** A document without its state. */
export function toWireInfo(info: HandleInfo): WireInfo {
  return { handle: info.handle, ...toWireMetadata(info), ttl_days: info.ttlDays ?? null, turn: info.turn || null };
}

/** A change with its patch. */
export type WireChange = {
  readonly version: number;
  readonly writer: string;
  readonly at: string;
  readonly turn: number | null;
  readonly patch: JsonPatch;
};

/** A change with its patch. */
export function toWireChange({ version, writer, at, turn, patch }: Change): WireChange {
  return { version, writer, at, turn: turn || null, patch };
}
