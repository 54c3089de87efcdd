/**
 * Which version a caller asks for.
 *
 * @module
 */

import type { Want } from "../backends/backend.ts";
import { checkInteger, checkTime } from "../document/checks.ts";
import { InvalidInput } from "../document/errors.ts";
import type { GetOptions } from "./options.ts";

/** @throws {InvalidInput} if more than one of `version`, `turn` and `at` is named, or one makes no sense. */
export function toWant({ version, turn, at }: GetOptions): Want {
  if ([version, turn, at].filter((each) => each !== undefined).length > 1) {
    throw new InvalidInput("version", "Name at most one of version, turn and at.");
  }
  if (version !== undefined) {
    return { as: "version", version: checkInteger("version", version, Number.MIN_SAFE_INTEGER) };
  }
  if (turn !== undefined) return { as: "turn", turn: checkInteger("turn", turn, Number.MIN_SAFE_INTEGER) };
  if (at !== undefined) return { as: "time", at: checkTime("at", at) };
  return { as: "head" };
}
