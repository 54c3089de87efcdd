/**
 * The tool by which the model of an agent host reads its session state, as it is and as it was.
 *
 * @module
 */

import { InvalidInput, TurnPruned } from "../document/errors.ts";
import { isObject, type JsonObject } from "../document/json.ts";
import { compareStates } from "./difference.ts";
import type { SessionState } from "./entry.ts";
import { readStateKey } from "./inspect.ts";
import { cutTo, quoted } from "./labels.ts";
import { readTurn, type Snapshots, type ThreadHistory } from "./port.ts";
import { renderReading, renderTurn } from "./render.ts";
import { toSessionView } from "./session.ts";
import { MAX_CHARS, type StateRequest, type StateView } from "./view.ts";

const KEYS_DESCRIBED = 20;
/** Two values, their difference, and the words around them. */
const MAX_ANSWER_CHARS = 4 * MAX_CHARS;

/** How to make the tool. */
export interface InspectStateOptions {
  /** The keys that the model may see, such as `gazet/get_aoi/bbox`, or what decides it. */
  readonly allowedKeys: readonly string[] | ((key: string) => boolean);
  /** Where earlier turns are kept. Without it, only what stands now can be read. */
  readonly history?: ThreadHistory;
}

/** Whose state a call reads. */
export interface SessionContext {
  /** The session as it is now. */
  readonly state: SessionState | null | undefined;
  /** The thread whose turns the history keeps. */
  readonly threadId?: string;
}

/** A tool, to be registered with whatever framework the host uses. */
export interface InspectStateTool {
  /** What the model calls. */
  readonly name: "inspect_state";
  /** What the model reads. */
  readonly description: string;
  /** The arguments, as JSON Schema (2020-12). */
  readonly schema: JsonObject;
  /** Answers a call with text. Rejects only where the history fails. */
  handler(args: unknown, session: SessionContext): Promise<string>;
}

/** Makes the tool `inspect_state` for a session. */
export function makeInspectState({ allowedKeys, history }: InspectStateOptions): InspectStateTool {
  const expected = typeof allowedKeys === "function" ? [] : [...allowedKeys];
  const known = new Set(expected);
  const isAllowed = typeof allowedKeys === "function" ? allowedKeys : (key: string) => known.has(key);
  return {
    name: "inspect_state",
    description: describe(expected, history !== undefined),
    schema: SCHEMA,
    async handler(args, { state, threadId }) {
      const now = state ?? {};
      const snapshots = threadId === undefined ? undefined : await history?.snapshots(threadId);
      try {
        const { turn, compareTurn, ...request } = parseCall(args);
        const reader = new SessionReader(now, snapshots, isAllowed, expected);
        return cutTo(await reader.answer(request, turn, compareTurn), MAX_ANSWER_CHARS);
      } catch (error) {
        if (error instanceof InvalidInput) return cutTo(error.message, MAX_CHARS);
        throw error;
      }
    },
  };
}

/** One call. */
class SessionReader {
  constructor(
    readonly now: SessionState,
    readonly snapshots: Snapshots | undefined,
    readonly isAllowed: (key: string) => boolean,
    readonly expected: readonly string[],
  ) {}

  async answer(request: StateRequest, turn: number | undefined, compareTurn: number | undefined): Promise<string> {
    const view = await this.#view(turn);
    if (typeof view === "string") return view;
    if (compareTurn === undefined) return renderReading(await readStateKey(view, request));
    const other = await this.#view(compareTurn);
    if (typeof other === "string") return other;
    const [earlier, later] = compareTurn <= (turn ?? Infinity) ? [other, view] : [view, other];
    return renderReading(await compareStates(earlier, later, request));
  }

  /** What stood then, or why that cannot be read. */
  async #view(turn: number | undefined): Promise<StateView | string> {
    const { now, snapshots, isAllowed, expected } = this;
    const common = { isAllowed, expected, readable: { turns: snapshots?.retained ?? [] } };
    if (turn === undefined) return toSessionView(now, { ...common, where: { as: "current" } });
    const reading = readTurn(snapshots, turn);
    if (reading.outcome !== "retained") return renderTurn(reading);
    const where = { as: "turn", turn, soFar: reading.isLast } as const;
    try {
      return toSessionView(await snapshots?.at(turn) ?? {}, { ...common, where, now });
    } catch (error) {
      // Pruned since the history was asked what it retains.
      if (!(error instanceof TurnPruned)) throw error;
      return renderTurn({ outcome: "pruned", turn, retained: [error.retained] });
    }
  }
}

interface Call extends StateRequest {
  readonly turn?: number;
  readonly compareTurn?: number;
}

/** @throws {InvalidInput} naming the argument at fault. */
function parseCall(args: unknown): Call {
  if (args !== undefined && args !== null && !isObject(args)) {
    throw new InvalidInput("arguments", "The arguments must be an object.");
  }
  const given: Readonly<Record<string, unknown>> = args ?? {};
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(PROPERTIES, name));
  if (unknown !== undefined) {
    throw new InvalidInput(
      cutTo(unknown, 80),
      `There is no argument ${quoted(unknown)}. The arguments are ${Object.keys(PROPERTIES).join(", ")}.`,
    );
  }
  return {
    key: textOf(given, "key"),
    pattern: textOf(given, "pattern"),
    path: textOf(given, "path"),
    turn: turnOf(given, "turn"),
    compareTurn: turnOf(given, "compare_turn"),
  };
}

function textOf(given: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = given[name] ?? undefined;
  if (value === undefined || typeof value === "string") return value;
  throw new InvalidInput(name, `${name} must be a text.`);
}

function turnOf(given: Readonly<Record<string, unknown>>, name: string): number | undefined {
  const value = given[name] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  throw new InvalidInput(name, `${name} must be a whole number: 1 for the first turn of the conversation.`);
}

function describe(keys: readonly string[], hasHistory: boolean): string {
  const named = keys.slice(0, KEYS_DESCRIBED).map((key) => cutTo(key, 80)).join(", ");
  const parts = [
    "Reads the state that tools have put aside in this conversation. Without `key` it lists all keys with their shapes. " +
    "With `key` it gives that value, or an outline if the value is long: read a part with `path`, or search with `pattern`.",
  ];
  if (hasHistory) {
    parts.push(
      "A key holds the last value only. Where it says `rewritten`, an earlier value is read with `turn`; `compare_turn` " +
        "gives two turns at once, with what changed. Compare by reading both, never from memory.",
    );
  }
  if (keys.length > 0) parts.push(`The keys are ${named}${keys.length > KEYS_DESCRIBED ? ", …" : ""}.`);
  return parts.join("\n\n");
}

const PROPERTIES = {
  key: { type: "string", description: "A key, literally as it is listed. Absent or *: all of them." },
  pattern: {
    type: "string",
    description:
      "Find lines `pointer = value`: a regular expression (RE2 syntax), whatever the case. Lines begin with a " +
      "JSON Pointer into what is read: `/city = …`.",
  },
  path: {
    type: "string",
    description: "A part of the value: dotted (items.0.name) or a JSON Pointer (/items/0/name).",
  },
  turn: { type: "integer", minimum: 1, description: "Read what stood when this turn of the conversation ended." },
  compare_turn: { type: "integer", minimum: 1, description: "Compare with what stood when this turn ended." },
} as const satisfies JsonObject;

const SCHEMA: JsonObject = { type: "object", properties: PROPERTIES, additionalProperties: false };
