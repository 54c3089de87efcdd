/**
 * A value of a state as a model gets it: whole if there is room, else its outline and the call to make next.
 *
 * @module
 */

import { isArray, isObject, type JsonValue } from "../document/json.ts";
import { type Path, toPointer } from "../document/path.ts";
import { fits, jsonCost, outlineWithin } from "./budget.ts";

/** The longest answer that a call may ask for: the largest state that is allowed by default fits, whatever its characters. */
export const MAX_LOAD_CHARS = 2_200_000;
const NEXT_CHARS = 700;

/** What was asked for, and how much room there is for it. */
interface Asked {
  readonly handle: string;
  readonly value: JsonValue;
  readonly tokens: Path;
  /** The version that was read, where it was not simply the newest. */
  readonly version: number | undefined;
  /** UTF-8 bytes of the JSON of `value`, if known. */
  readonly bytes: number | undefined;
  readonly room: number;
}

/** A part of an answer. */
export type Reading =
  | { readonly state: JsonValue }
  | { readonly outline: string; readonly next: string };

/** Decides what of a value is told. */
export function toReading(asked: Asked): Reading {
  const { value, bytes, room } = asked;
  const whole = room - jsonCost({ state: null });
  if (fits(value, whole, bytes)) return { state: value };
  const next = nextCall(asked, jsonCost(value));
  const left = room - jsonCost({ outline: "", next });
  return { outline: outlineWithin(value, Math.max(left, 60)), next };
}

function nextCall({ handle, value, tokens, version }: Asked, cost: number): string {
  const past = version === undefined ? {} : { version };
  const part = firstPart(value);
  const one = toPointer([...tokens, part ?? ""]);
  const call = (more: object) => `state_load ${JSON.stringify({ handle, ...more, ...past })}`;
  const hints: string[] = [];
  if (part !== undefined && one.length <= 200) hints.push(`Read a part, such as ${call({ path: one })}.`);
  if (cost + 12_000 <= MAX_LOAD_CHARS) {
    const here = toPointer(tokens);
    const most = Math.ceil((cost + 4_000) / 1_000) * 1_000;
    hints.push(`Read it whole: ${call({ ...(here === "" ? {} : { path: here }), max_chars: most })}.`);
  }
  if (version === undefined) hints.push("To change it at a path use state_patch; that needs no load.");
  return hints.join(" ").slice(0, NEXT_CHARS);
}

/** The key or index to look at next: the first that holds something with parts, else the first. */
function firstPart(value: JsonValue): string | undefined {
  if (isArray(value)) return value.length === 0 ? undefined : "0";
  if (!isObject(value)) return undefined;
  const keys = Object.keys(value);
  return keys.find((key) => typeof value[key] === "object" && value[key] !== null) ?? keys[0];
}
