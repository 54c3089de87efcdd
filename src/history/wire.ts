/**
 * Readings in wire form: flat fields in snake_case.
 *
 * @module
 */

import type { Difference, StateComparison } from "./difference.ts";
import { cutTo, type Where } from "./labels.ts";
import type { StateReading } from "./reading.ts";
import { listedText, renderAbsence } from "./render.ts";

const NAME_SHOWN = 200;

/** Fields of an answer. */
export type WireReading = { readonly [field: string]: unknown };

/** A reading, or two of them, as fields of an answer. */
export function toWireReading(reading: StateReading | StateComparison): WireReading {
  if (reading.outcome !== "comparison") return { ...asOf(reading.where), ...toFields(reading) };
  const { earlier, later, difference } = reading;
  return {
    earlier: toWireReading(earlier),
    later: toWireReading(later),
    ...(difference === undefined ? {} : toDiffFields(difference)),
  };
}

function asOf(where: Where): WireReading {
  switch (where.as) {
    case "current":
      return {};
    case "version":
      return { as_of: { version: where.version } };
    case "turn":
      return { as_of: { turn: where.turn, ...(where.soFar === true ? { so_far: true } : {}) } };
  }
}

function toFields(reading: StateReading): WireReading {
  switch (reading.outcome) {
    case "keys": {
      const keys = reading.keys.map((listed) => [cutTo(listed.key, NAME_SHOWN), listedText(listed)]);
      return { keys: Object.fromEntries(keys), ...(reading.omitted > 0 ? { keys_omitted: reading.omitted } : {}) };
    }
    case "value":
      return { ...about(reading), value: reading.value };
    case "outline":
      return { ...about(reading), outline: reading.outline, chars: reading.chars };
    case "matches":
      return {
        ...about(reading),
        ...(reading.isLiteral ? { pattern_taken_as: "plain text" } : {}),
        matches: reading.lines,
        total_matches: reading.total,
        ...(reading.unsearched > 0 ? { lines_not_searched: reading.unsearched } : {}),
      };
    case "not_written_yet":
      return {
        key: cutTo(reading.key, NAME_SHOWN),
        absent: reading.outcome,
        ...(reading.first?.version === undefined ? {} : { first_version: reading.first.version }),
        ...(reading.first?.turn === undefined ? {} : { first_turn: reading.first.turn }),
        message: renderAbsence(reading),
      };
    case "unknown_path":
      return {
        ...(reading.key === undefined ? {} : { key: cutTo(reading.key, NAME_SHOWN) }),
        absent: "path_not_found",
        message: renderAbsence(reading),
      };
    case "removed":
    case "evicted":
    case "unknown_key":
      return { key: cutTo(reading.key, NAME_SHOWN), absent: reading.outcome, message: renderAbsence(reading) };
  }
}

function about(
  { key, path, note }: { readonly key?: string; readonly path: string; readonly note?: string },
): WireReading {
  return {
    ...(key === undefined ? {} : { key: cutTo(key, NAME_SHOWN) }),
    ...(path === "" ? {} : { path: cutTo(path, NAME_SHOWN) }),
    ...(note === undefined ? {} : { note }),
  };
}

function toDiffFields(difference: Difference): WireReading {
  switch (difference.as) {
    case "patch":
      return { diff: difference.patch };
    case "lines":
      return {
        diff_lines: difference.lines,
        ...(difference.omitted > 0 ? { diff_lines_omitted: difference.omitted } : {}),
      };
  }
}
