/**
 * What texts, times to live, turns and versions may be, whichever way they come in. Each rule stands here once.
 *
 * @module
 */

import { InvalidInput } from "./errors.ts";
import { byteLength } from "./byte_length.ts";

/** The longest time to live, in days: a hundred years. */
export const MAX_TTL_DAYS = 36_525;
/** How far a document's turn may jump in one call. */
export const MAX_TURN_JUMP = 1_000;
/** The largest turn that a document may begin with. */
export const MAX_FIRST_TURN = 999_999;

/** @throws {InvalidInput} unless it is well-formed text without NUL, of at most so many bytes. */
export function checkText(field: string, value: unknown, maxBytes: number): string {
  if (typeof value !== "string") throw new InvalidInput(field, `${field} must be a text.`);
  if (!value.isWellFormed()) throw new InvalidInput(field, `${field} holds a lone surrogate; send well-formed text.`);
  if (value.includes("\0")) throw new InvalidInput(field, `${field} holds a NUL character; remove it.`);
  const bytes = value.length > maxBytes ? value.length : byteLength(value);
  if (bytes > maxBytes) throw new InvalidInput(field, `${field} is longer than ${maxBytes} bytes; shorten it.`);
  return value;
}

/** @throws {InvalidInput} unless it is 1 to 512 bytes of text, not blank. */
export function checkUser(user: unknown): string {
  const text = checkText("user", user, 512);
  if (text.trim() === "") throw new InvalidInput("user", "user is blank: name whose documents these are.");
  return text;
}

/** @throws {InvalidInput} unless it is 1 to 256 bytes of text. */
export function checkWriter(writer: unknown): string {
  const text = checkText("writer", writer, 256);
  if (text === "") throw new InvalidInput("writer", "writer is empty: leave it out to record the default.");
  return text;
}

/** @throws {InvalidInput} unless it is absent or text of up to 256 bytes. */
export function checkTitle(title: unknown): string | undefined {
  return title === undefined ? undefined : checkText("title", title, 256);
}

/** @throws {InvalidInput} unless it is absent or text of up to 1,024 bytes, which is what a handle may have. */
export function checkQuery(query: unknown): string | undefined {
  return query === undefined ? undefined : checkText("query", query, 1024);
}

/** @throws {InvalidInput} unless it is absent or 1 to 200 bytes of text. */
export function checkRequestId(requestId: unknown): string | undefined {
  if (requestId === undefined) return undefined;
  const text = checkText("request_id", requestId, 200);
  if (text === "") throw new InvalidInput("request_id", "request_id is empty: leave it out, or send a unique text.");
  return text;
}

/** @throws {InvalidInput} unless it is 1 to 1,024 bytes of text. */
export function checkHandle(handle: unknown): string {
  const text = checkText("handle", handle, 1024);
  if (text === "") {
    throw new InvalidInput("handle", "handle is empty: pass one that was minted, or list what there is.");
  }
  return text;
}

/** @throws {InvalidInput} unless it matches `[a-z][a-z0-9-]{0,31}`. */
export function checkKind(kind: unknown): string {
  if (typeof kind === "string" && /^[a-z][a-z0-9-]{0,31}$/.test(kind) && !kind.endsWith("\n")) return kind;
  throw new InvalidInput(
    "kind",
    'kind must be 1 to 32 lower-case letters, digits and hyphens, beginning with a letter, such as "research" or "cart".',
  );
}

/** @throws {InvalidInput} unless it is a finite number of days above 0 and at most 36,525. */
export function checkTtl(ttlDays: unknown): number {
  if (typeof ttlDays === "number" && ttlDays > 0 && ttlDays <= MAX_TTL_DAYS) return ttlDays;
  throw new InvalidInput("ttl_days", `ttl_days must be a number of days above 0 and at most ${MAX_TTL_DAYS}.`);
}

/** The same, where `null` clears and `undefined` keeps. */
export function checkTtlChange(ttlDays: unknown): number | null | undefined {
  return ttlDays === undefined || ttlDays === null ? ttlDays : checkTtl(ttlDays);
}

/** @throws {InvalidInput} unless it is absent or a positive integer. */
export function checkWriteTurn(turn: unknown): number | undefined {
  if (turn === undefined) return undefined;
  if (typeof turn === "number" && Number.isSafeInteger(turn) && turn >= 1) return turn;
  throw new InvalidInput("turn", "turn must be a positive integer: the number of the conversation's turn.");
}

/** @throws {InvalidInput} if a document in turn `current` may not go to `turn` in one call. */
export function checkTurnJump(current: number, turn: number | undefined): void {
  if (turn === undefined) return;
  const limit = current === 0 ? MAX_FIRST_TURN : current + MAX_TURN_JUMP;
  if (turn <= limit) return;
  throw new InvalidInput(
    "turn",
    current === 0
      ? `turn ${turn} is too large to begin with: at most ${MAX_FIRST_TURN}.`
      : `turn ${turn} is more than ${MAX_TURN_JUMP} ahead of the document's turn ${current}; send the number of the conversation's turn.`,
  );
}

/** @throws {InvalidInput} unless it is a whole number of at least `least`. */
export function checkInteger(field: string, value: unknown, least: number, most = Number.MAX_SAFE_INTEGER): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= least && value <= most) return value;
  const range = least === Number.MIN_SAFE_INTEGER
    ? ""
    : most === Number.MAX_SAFE_INTEGER
    ? ` of at least ${least}`
    : ` from ${least} to ${most}`;
  throw new InvalidInput(field, `${field} must be a whole number${range}.`);
}

/** @throws {InvalidInput} unless it is `true` or `false`. */
export function checkBoolean(field: string, value: unknown): boolean {
  if (typeof value === "boolean") return value;
  throw new InvalidInput(field, `${field} must be true or false.`);
}

/** Milliseconds since 1970. @throws {InvalidInput} unless it is a date, a number of milliseconds or ISO 8601 text. */
export function checkTime(field: string, value: unknown): number {
  const time = value instanceof Date ? value.getTime() : typeof value === "string" ? parseTime(value) : value;
  if (typeof time === "number" && Math.abs(time) <= MAX_TIME) return time;
  throw new InvalidInput(
    field,
    `${field} must be a time in ISO 8601 with its zone, such as "2026-07-28T09:30:00Z", or a date, which begins at 00:00 UTC.`,
  );
}

/** The largest time that a date can hold (ECMA-262, "Time Values"). */
const MAX_TIME = 8.64e15;
const ISO = /^(\d{4})-(\d{2})-(\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** NaN for a time without a zone, which would mean another time on each machine, and for a day that no month has. */
function parseTime(text: string): number {
  const [, year, month, day] = ISO.exec(text) ?? [];
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`);
  return date.getUTCDate() === Number(day) ? Date.parse(text) : NaN;
}
