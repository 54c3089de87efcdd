/**
 * What holds of every parser, whatever it is given: it takes it or refuses it in words of our own, and nothing else happens.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { InvalidInput, StateError } from "../../src/document/errors.ts";

/** The longest message: it names what is wrong and does not repeat it whole. */
const MOST_CHARACTERS = 2_000;

/** Another one with every run; a failure prints it, and where in it. */
export const seed = Math.floor(Math.random() * 2 ** 31);

/** What there is on the prototypes that everything shares. */
function shared(): string {
  return [Object, Array, String, Number, Function, Error, Promise].map(({ prototype }) =>
    Reflect.ownKeys(prototype).map(String).join()
  ).join("\n");
}
const before = shared();

/** @throws {Error} unless a refusal is one of our own that says what is wrong and where. */
export function checkRefusal(error: unknown): void {
  if (!(error instanceof StateError)) {
    throw new Error(`not an error of our own: ${error instanceof Error ? error.stack : String(error)}`);
  }
  const { code, message } = error.toPayload();
  assert(message.length > 0 && message.length <= MOST_CHARACTERS, `${code}: a message of ${message.length} characters`);
  assert(message.isWellFormed(), `${code}: the message is not text`);
  JSON.stringify(error.toPayload());
  if (error instanceof InvalidInput) assert(error.field !== "", "it names no field");
  assert(code !== "internal_error" && code !== "backend_error", `${code}: ${message}`);
}

/** Calls with something; answers what came of it, or `undefined` if it was refused as it should be. */
export async function attempt<T>(call: () => T | Promise<T>): Promise<{ readonly value: T } | undefined> {
  try {
    return { value: await call() };
  } catch (error) {
    checkRefusal(error);
    return undefined;
  } finally {
    assertEquals(shared(), before, "a prototype has changed");
  }
}

/** Checks a property with so many draws. Prints seed and path where it fails. */
export async function always<T>(
  arbitrary: fc.Arbitrary<T>,
  holds: (value: T) => unknown,
  numRuns = 300,
): Promise<void> {
  await fc.assert(fc.asyncProperty(arbitrary, async (value) => void await holds(value)), { seed, numRuns });
}
