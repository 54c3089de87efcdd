/**
 * A Lua script, and whether it writes.
 *
 * @module
 */

/** A Lua script. */
export interface Script {
  readonly source: string;
  /** Whether it may change anything: then a lost reply leaves its outcome open. */
  readonly writes: boolean;
}

/** A script that changes nothing. */
export function reading(...parts: readonly string[]): Script {
  return { source: parts.join("\n"), writes: false };
}

/** A script that changes something. Redis does not roll back, so it must have checked everything before its first write. */
export function writing(...parts: readonly string[]): Script {
  return { source: parts.join("\n"), writes: true };
}
