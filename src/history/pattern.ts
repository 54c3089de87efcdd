/**
 * Patterns that a model sends, on an engine whose time is linear in the text: no pattern can hold the process up.
 *
 * @module
 */

import { InvalidInput } from "../document/errors.ts";

/** The longest pattern, in characters. */
export const MAX_PATTERN_CHARS = 500;

/** A compiled pattern, blind to case. */
export interface Pattern {
  /** As it was sent. */
  readonly source: string;
  /** Whether it is no regular expression of the engine's and was taken as plain text. */
  readonly isLiteral: boolean;
  /** What a character of text may cost, in steps of the engine. */
  readonly stepsPerChar: number;
  /** Whether it is found in a text. */
  test(text: string): boolean;
  /** Where it is found first; takes several times longer. */
  find(text: string): number;
}

/**
 * Compiles a pattern of RE2 syntax (no look-around, no back-references). What is none is taken literally.
 *
 * @throws {InvalidInput} beyond {@link MAX_PATTERN_CHARS}.
 */
export async function compilePattern(source: string): Promise<Pattern> {
  if (source.length > MAX_PATTERN_CHARS) {
    throw new InvalidInput("pattern", `pattern is longer than ${MAX_PATTERN_CHARS} characters; shorten it.`);
  }
  // Only who searches pays for loading the engine.
  const { RE2JS, RE2JSException } = await import("re2js");
  const compile = (text: string, isLiteral: boolean): Pattern => {
    const expression = RE2JS.compile(text, RE2JS.CASE_INSENSITIVE);
    return {
      source,
      isLiteral,
      stepsPerChar: expression.programSize(),
      test: (line) => expression.test(line),
      find(line) {
        const matcher = expression.matcher(line);
        return matcher.find() ? matcher.start() : 0;
      },
    };
  };
  try {
    return compile(source, false);
  } catch (error) {
    if (error instanceof RE2JSException) return compile(RE2JS.quote(source), true);
    throw error;
  }
}
