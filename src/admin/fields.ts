/**
 * The fields of a line of an export, in wire form.
 *
 * @module
 */

import { checkInteger, checkText, checkTtl } from "../document/checks.ts";
import { InvalidInput } from "../document/errors.ts";
import type { JsonObject } from "../document/json.ts";

/** The fields of a line, each taken once: what is left was not expected. */
export class Fields {
  readonly #left: Map<string, unknown>;

  /** Of a line that was parsed. */
  constructor(line: JsonObject) {
    this.#left = new Map(Object.entries(line));
  }

  /** The value of a field, whatever it is. */
  take(name: string): unknown {
    const value = this.#left.get(name);
    this.#left.delete(name);
    return value;
  }

  /** Absent is `null` on the wire. */
  optional(name: string): unknown {
    return this.take(name) ?? undefined;
  }

  /** @throws {InvalidInput} unless it is text that is not empty, of at most so many bytes. */
  text(name: string, maxBytes: number): string {
    const text = checkText(name, this.take(name), maxBytes);
    if (text === "") throw new InvalidInput(name, `${name} is empty.`);
    return text;
  }

  /** @throws {InvalidInput} unless it is a whole number of at least `least`. */
  integer(name: string, least: number): number {
    return checkInteger(name, this.take(name), least);
  }

  /** In milliseconds. @throws {InvalidInput} unless it is a time as exports write it. */
  time(name: string): number {
    return this.#toTime(name, this.take(name));
  }

  /** The same, or nothing. @throws {InvalidInput} */
  optionalTime(name: string): number | undefined {
    const value = this.optional(name);
    return value === undefined ? undefined : this.#toTime(name, value);
  }

  /** The field `ttl_days`, or nothing. @throws {InvalidInput} unless it is a time to live. */
  optionalTtl(): number | undefined {
    const value = this.optional("ttl_days");
    return value === undefined ? undefined : checkTtl(value);
  }

  /** @throws {InvalidInput} if there are fields that nobody asked for. */
  end(): void {
    for (const name of this.#left.keys()) {
      throw new InvalidInput(name, `The line has a field ${JSON.stringify(name)}, which is unknown in this format.`);
    }
  }

  #toTime(name: string, value: unknown): number {
    const time = typeof value === "string" ? Date.parse(value) : NaN;
    // Only the one way of writing it that exports use: others lose a time zone or part of a second.
    if (Number.isFinite(time) && new Date(time).toISOString() === value) return time;
    throw new InvalidInput(name, `${name} must be a time such as "2026-07-28T09:30:00.000Z".`);
  }
}
