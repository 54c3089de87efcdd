/**
 * Human messages in a list of LangChain messages, by shape.
 *
 * @module
 */

import { isObject } from "../document/json.ts";

/** The part of a message that is read here. */
interface Message {
  readonly id?: unknown;
  readonly type?: unknown;
  readonly role?: unknown;
  readonly content?: unknown;
  readonly getType?: () => unknown;
}

/** How many human messages there are. */
export function countHumanMessages(messages: unknown): number {
  return Array.isArray(messages) ? messages.filter(isHuman).length : 0;
}

/** Something by which the last human message can be told from others. `undefined` if there is none. */
export function lastHumanMessage(messages: unknown): string | undefined {
  const message: unknown = Array.isArray(messages) ? messages.findLast(isHuman) : undefined;
  return isMessage(message) ? JSON.stringify([message.id ?? null, message.content ?? null]) : undefined;
}

function isHuman(message: unknown): boolean {
  if (!isMessage(message)) return false;
  const type = typeof message.getType === "function" ? message.getType() : message.type ?? message.role;
  return type === "human" || type === "user";
}

function isMessage(message: unknown): message is Message {
  return isObject(message);
}
