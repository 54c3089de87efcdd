/**
 * Errors in wire form: text alone, with a code, a message that says what to do, and facts that fit.
 *
 * @module
 */

import type { CallToolResult } from "@modelcontextprotocol/server";
import { BackendError, type Conflict, InternalError, StaleWrite, StateError } from "../document/errors.ts";
import type { JsonValue } from "../document/json.ts";
import { toWireMetadata } from "../document/snapshot.ts";
import { cutFacts, cutText, fits, jsonCost, outlineWithin } from "./budget.ts";
import { fitEntries } from "./entries.ts";

const MESSAGE_CHARS = 2_000;
const FACT_CHARS = 500;
/** What the current state costs at most in the answer to a stale write. */
const CURRENT_CHARS = 4_000;
/** What its outline costs where it costs more: who was stale has seen the document, and is told what has changed in it. */
const CURRENT_OUTLINE_CHARS = 300;
const CONFLICTS_CHARS = 8_000;
const SIDE_CHARS = 500;

/** The answer to a call that failed. What nobody expected goes to stderr, and only there. */
export function failure(error: unknown, tool: string, budget: number): CallToolResult {
  const known = error instanceof StateError ? error : new InternalError({ cause: error });
  report(known, tool);
  const payload = known instanceof StaleWrite ? stalePayload(known, budget) : cutPayload(known, budget);
  // No structured content: a result that is an error and has some makes older clients throw.
  return { content: [{ type: "text", text: JSON.stringify({ ok: false, error: payload }) }], isError: true };
}

function report(error: StateError, tool: string): void {
  const isUnexpected = error instanceof InternalError || error instanceof BackendError && !error.busy;
  if (isUnexpected) console.error(`mcpstate: ${tool}: ${error.message}`, error.cause ?? "");
}

function cutPayload(error: StateError, budget: number): Record<string, unknown> {
  const { code, message, ...facts } = error.toPayload();
  const shortened = (messageChars: number, factChars: number) => {
    const entries = Object.entries(facts).map(([name, fact]) => [name, cutFacts(fact, factChars)]);
    return { code, message: cutText(message, messageChars), ...Object.fromEntries(entries) };
  };
  const payload = shortened(MESSAGE_CHARS, FACT_CHARS);
  // Only where nearly every character has to be escaped.
  return jsonCost(payload) + 100 <= budget ? payload : shortened(MESSAGE_CHARS / 10, FACT_CHARS / 10);
}

function stalePayload(error: StaleWrite, budget: number): Record<string, unknown> {
  const { current, changes, details } = error;
  const { conflicts, reason } = details;
  const { state } = current;
  const payload = {
    code: error.code,
    message: cutText(error.message, MESSAGE_CHARS),
    expected_version: error.expectedVersion,
    current: {
      ...toWireMetadata(current),
      ...(fits(state, CURRENT_CHARS, current.bytes)
        ? { state }
        : { outline: outlineWithin(state, CURRENT_OUTLINE_CHARS) }),
    },
    ...(conflicts === undefined ? {} : fitConflicts(conflicts)),
    ...(reason === undefined ? {} : { reason }),
  };
  const room = budget - jsonCost({ ok: false, error: { ...payload, changes: [], changes_omitted: 1000 } });
  const told = fitEntries(changes, room, "newest");
  const omitted = changes.length - told.length + (details.changesOmitted ?? 0);
  return { ...payload, changes: told, ...(omitted > 0 ? { changes_omitted: omitted } : {}) };
}

function fitConflicts(conflicts: readonly Conflict[]): Record<string, unknown> {
  const told: Record<string, unknown>[] = [];
  let room = CONFLICTS_CHARS;
  for (const { path, ...sides } of conflicts) {
    const conflict = { path: cutText(path, FACT_CHARS), ...fitSides(sides) };
    room -= jsonCost(conflict) + 1;
    if (room < 0) return { conflicts: told, conflicts_omitted: conflicts.length - told.length };
    told.push(conflict);
  }
  return { conflicts: told };
}

/** Each side whole, or as `…_outline`. A side is absent where it removed the value. */
function fitSides(sides: Readonly<Record<string, JsonValue | undefined>>): Record<string, unknown> {
  const fitted: Record<string, unknown> = {};
  for (const [side, value] of Object.entries(sides)) {
    if (value === undefined) continue;
    if (fits(value, SIDE_CHARS)) fitted[side] = value;
    else fitted[`${side}_outline`] = outlineWithin(value, SIDE_CHARS);
  }
  return fitted;
}
