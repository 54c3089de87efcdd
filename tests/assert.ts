/**
 * The part of `jsr:@std/assert` that the tests use, over `node:assert`. Where JSR can be reached, map `@std/assert` in
 * deno.json to `jsr:@std/assert@^1` instead; nothing else changes.
 *
 * @module
 */

import { strict as node } from "node:assert";

/** Asserts that a condition holds. */
export function assert(condition: unknown, message?: string): asserts condition {
  node.ok(condition, message);
}

/** Asserts deep, strict equality. */
export function assertEquals<T>(actual: T, expected: T, message?: string): void {
  node.deepStrictEqual(plain(actual), plain(expected), message);
}

/** Asserts deep, strict inequality. */
export function assertNotEquals<T>(actual: T, expected: T, message?: string): void {
  node.notDeepStrictEqual(plain(actual), plain(expected), message);
}

/** Asserts identity (`Object.is`). */
export function assertStrictEquals<T>(actual: T, expected: T, message?: string): void {
  node.ok(
    Object.is(actual, expected),
    message ?? `expected the very same value, got ${Deno.inspect(actual)} and ${Deno.inspect(expected)}`,
  );
}

/** Asserts that a text matches a pattern. */
export function assertMatch(actual: string, expected: RegExp, message?: string): void {
  node.match(actual, expected, message);
}

/** Asserts that a text contains another. */
export function assertStringIncludes(actual: string, expected: string, message?: string): void {
  node.ok(
    actual.includes(expected),
    message ?? `expected ${JSON.stringify(actual)} to include ${JSON.stringify(expected)}`,
  );
}

/** Asserts that an object has at least the properties of another, deeply. */
export function assertObjectMatch(actual: object, expected: object, message?: string): void {
  node.deepStrictEqual(plain(narrow(actual, expected)), plain(expected), message);
}

// deno-lint-ignore no-explicit-any -- as in @std/assert
type ErrorClass<E extends Error> = abstract new (...args: any[]) => E;

/** Asserts that a function throws, and returns what it threw. */
export function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  errorClass?: ErrorClass<E>,
  includes?: string,
): E {
  try {
    fn();
  } catch (error) {
    return checked(error, errorClass, includes);
  }
  throw new node.AssertionError({ message: `expected ${errorClass?.name ?? "an error"} to be thrown` });
}

/** Asserts that a promise rejects, and returns what it rejected with. */
export async function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  errorClass?: ErrorClass<E>,
  includes?: string,
): Promise<E> {
  try {
    await fn();
  } catch (error) {
    return checked(error, errorClass, includes);
  }
  throw new node.AssertionError({ message: `expected a rejection with ${errorClass?.name ?? "an error"}` });
}

function checked<E extends Error>(error: unknown, errorClass?: ErrorClass<E>, includes = ""): E {
  if (!(error instanceof (errorClass ?? Error))) {
    throw new node.AssertionError({
      message: `expected ${errorClass?.name ?? "an Error"}, got ${Deno.inspect(error)}`,
    });
  }
  assertStringIncludes(error.message, includes);
  return error as E;
}

// node:assert compares prototypes; a row of node:sqlite has none, and that is not what a test is about.
function plain<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== null) return value;
  return { ...value };
}

function narrow(actual: unknown, expected: unknown): unknown {
  if (typeof expected !== "object" || expected === null || typeof actual !== "object" || actual === null) return actual;
  if (Array.isArray(expected)) {
    return Array.isArray(actual)
      ? actual.map((item, i) => i < expected.length ? narrow(item, expected[i]) : item)
      : actual;
  }
  const wanted = Object.keys(expected);
  const have = Object.entries(actual).filter(([key]) => wanted.includes(key));
  return Object.fromEntries(
    have.map(([key, value]) => [key, narrow(value, (expected as Record<string, unknown>)[key])]),
  );
}
