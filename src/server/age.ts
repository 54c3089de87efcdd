/**
 * How long ago something was, in words.
 *
 * @module
 */

const UNITS = [["day", 86_400_000], ["hour", 3_600_000], ["minute", 60_000]] as const;

/** `just now`, `5 minutes ago`, `1 day ago`. A clock that is behind reads as now. */
export function ageText(ms: number): string {
  for (const [unit, unitMs] of UNITS) {
    const count = Math.floor(ms / unitMs);
    if (count >= 1) return `${count} ${unit}${count === 1 ? "" : "s"} ago`;
  }
  return "just now";
}
