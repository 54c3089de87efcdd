/**
 * Readings as text for a model.
 *
 * @module
 */

import type { Difference, StateComparison } from "./difference.ts";
import { counted, keyText, nameText, quoted, rangesText, type Where, whereText } from "./labels.ts";
import type { TurnReading } from "./port.ts";
import type { Absence, KeyListing, ListedKey, MatchedLines, OfValue, StateReading } from "./reading.ts";

/** A reading, or two of them, as text. Readings of the past begin with the point that they are of. */
export function renderReading(reading: StateReading | StateComparison): string {
  if (reading.outcome !== "comparison") return withPoint(reading.where, renderOne(reading));
  const { earlier, later, difference } = reading;
  const points = [earlier, later].map(({ where }) => where.as === "current" ? "Now" : heading(where));
  return [
    `${points[0]}:\n${renderOne(earlier)}`,
    `${points[1]}:\n${renderOne(later)}`,
    ...(difference === undefined ? [] : [renderDifference(difference)]),
  ].join("\n\n");
}

/** A turn that cannot be read, as text. */
export function renderTurn(reading: Exclude<TurnReading, { readonly outcome: "retained" }>): string {
  switch (reading.outcome) {
    case "not_kept":
      return "Turns are not kept here: only what stands now can be read. Ask again without turn and compare_turn.";
    case "never":
      return reading.total === 0
        ? `There is no turn ${reading.turn}: there have been no turns yet.`
        : `There is no turn ${reading.turn}: the turns so far are 1 to ${reading.total}.`;
    case "pruned":
      return reading.retained.length === 0
        ? `Turn ${reading.turn} is no longer retained, and no other turn is.`
        : `Turn ${reading.turn} is no longer retained. Turns that can be read: ${rangesText(reading.retained)}.`;
  }
}

function withPoint(where: Where, text: string): string {
  return where.as === "current" ? text : `${heading(where)}:\n${text}`;
}

function heading(where: Where): string {
  return where.as === "turn" && where.soFar !== true ? `As turn ${where.turn} ended` : `As of ${whereText(where)}`;
}

function renderOne(reading: StateReading): string {
  switch (reading.outcome) {
    case "keys":
      return renderKeys(reading);
    case "value":
      return withNote(JSON.stringify(reading.value), reading);
    case "outline":
      return withNote(
        `${reading.outline}\n\nThis is an outline: the whole is ${reading.chars} characters. ` +
          (reading.isText ? "Search it with pattern." : "Read a part with path, or search it with pattern."),
        reading,
      );
    case "matches":
      return withNote(renderMatches(reading), reading);
    default:
      return renderAbsence(reading);
  }
}

function withNote(text: string, { note }: OfValue): string {
  return note === undefined ? text : `${text}\n— ${note}`;
}

function renderKeys({ keys, omitted }: KeyListing): string {
  if (keys.length === 0 && omitted === 0) return "There are no keys.";
  const lines = keys.map((listed) => `${keyText(listed.key)}: ${listedText(listed)}`);
  if (omitted > 0) lines.push(`… ${counted(omitted, "more key")} left out; find them with pattern`);
  return lines.join("\n");
}

/** A key's shape and note, as they stand in a listing. */
export function listedText({ shape, note }: ListedKey): string {
  return note === undefined ? shape : `${shape} — ${note}`;
}

function renderMatches({ pattern, isLiteral, lines, total, searched, unsearched }: MatchedLines): string {
  const what = isLiteral
    ? `${quoted(pattern)}, which is not a regular expression that is understood here and was taken as plain text`
    : quoted(pattern);
  const parts = [
    total === 0
      ? `None of ${counted(searched, "line")} matches ${what}.`
      : lines.length < total
      ? `${lines.length} of ${total} matches for ${what}; narrow it by key or path to see the others:`
      : `${counted(total, "match", "matches")} for ${what}:`,
    ...lines,
  ];
  if (unsearched > 0) {
    parts.push(
      `${counted(unsearched, "line")} not searched: the pattern is too costly for so much text. ` +
        "Make it simpler, or narrow it by key or path.",
    );
  }
  return parts.join("\n");
}

/** Something that is not there, as text. */
export function renderAbsence(absence: Absence): string {
  switch (absence.outcome) {
    case "not_written_yet": {
      const { turn, version } = absence.first ?? {};
      const first = [
        ...(turn === undefined ? [] : [`turn ${turn}`]),
        ...(version === undefined ? [] : [`version ${version}`]),
      ].join(", ");
      const since = absence.first === undefined
        ? ""
        : first === ""
        ? ": it was written later"
        : `: it was first written in ${first}`;
      return `${quoted(absence.key)} was not written yet${point(absence.where)}${since}.`;
    }
    case "removed": {
      const { version, turn, writer } = absence.by;
      const when = turn === undefined ? `version ${version}` : `turn ${turn}, version ${version}`;
      return `${quoted(absence.key)} was removed in ${when}, by ${nameText(writer)}${noted(absence.note)}.`;
    }
    case "evicted":
      return `${quoted(absence.key)} was evicted: it was written, last by ${
        nameText(absence.writer)
      }, and its value was ` +
        `dropped to make room${noted(absence.note)}. To have it again, run what wrote it.`;
    case "unknown_key": {
      const { available, didYouMean } = absence;
      const hint = didYouMean === undefined ? "" : ` To read a place in a value use path: path=${quoted(didYouMean)}.`;
      return `There is no key ${quoted(absence.key)}${point(absence.where)}.${hint} ${
        availableText("The keys", available)
      }`;
    }
    case "unknown_path":
      return `There is nothing at ${quoted(absence.failedAt)}` +
        (absence.key === undefined ? "" : ` in ${quoted(absence.key)}`) +
        `${point(absence.where)}. ` +
        (absence.available.length === 0
          ? "What is above it is empty or no container."
          : availableText("What is there", absence.available));
  }
}

function point(where: Where): string {
  return where.as === "current" ? "" : ` at ${whereText(where)}`;
}

function noted(note: string | undefined): string {
  return note === undefined ? "" : `; ${note}`;
}

function availableText(what: string, available: readonly string[]): string {
  return available.length === 0 ? "There are no keys." : `${what}: ${available.map(quoted).join(", ")}.`;
}

function renderDifference(difference: Difference): string {
  switch (difference.as) {
    case "patch":
      return difference.patch.length === 0
        ? "They are equal."
        : `Changed from the first to the second, as a JSON Patch:\n${JSON.stringify(difference.patch)}`;
    case "lines": {
      const { lines, omitted } = difference;
      const more = omitted > 0 ? [`… ${counted(omitted, "more change")} left out`] : [];
      return ["Changed from the first to the second:", ...lines, ...more].join("\n");
    }
  }
}
