/**
 * What goes to standard error: one JSON object a line. Neither a state nor a token is ever part of it.
 *
 * @module
 */

/** How much is told: faults only, what matters to an operator, or every call. */
export const LOG_LEVELS = ["error", "info", "debug"] as const;

/** One of {@link LOG_LEVELS}. */
export type LogLevel = typeof LOG_LEVELS[number];

/** Facts of an event. */
export type LogFields = Readonly<Record<string, string | number | undefined>>;

/** Tells of events up to a level. */
export interface Log {
  /** Whether this level is told at all: what costs something to put together is not, if not. */
  tells(level: LogLevel): boolean;
  /** Tells. */
  say(level: LogLevel, event: string, fields?: LogFields): void;
}

/** A log on standard error. */
export function openLog(most: LogLevel, write: (line: string) => void = console.error): Log {
  const tells = (level: LogLevel) => LOG_LEVELS.indexOf(level) <= LOG_LEVELS.indexOf(most);
  return {
    tells,
    say(level, event, fields = {}) {
      if (tells(level)) {
        write(JSON.stringify({ at: new Date().toISOString(), service: "mcpstate", level, event, ...fields }));
      }
    },
  };
}
