/**
 * Text for people: coloured on a terminal only, and never able to steer it, whatever a model wrote.
 *
 * @module
 */

import { styleText } from "node:util";

/** What colours are for. */
export type Tint = "added" | "removed" | "dim" | "strong" | "warning";

const FORMATS = {
  added: "green",
  removed: "red",
  dim: "dim",
  strong: "bold",
  warning: "yellow",
} as const satisfies Record<Tint, Parameters<typeof styleText>[0]>;

/** Deno reads NO_COLOR itself, without any permission. */
const HAS_COLOURS = !Deno.noColor && Deno.stdout.isTerminal();

/** A text in a colour, where there are colours. */
export function tinted(tint: Tint, text: string): string {
  return HAS_COLOURS ? styleText(FORMATS[tint], text, { validateStream: false }) : text;
}

/** Control characters, and those that turn the direction of a text: a terminal would obey them. */
// deno-lint-ignore no-control-regex -- these are what is looked for
const STEERING = /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** A text on one line in which nothing steers a terminal. */
export function printable(text: string): string {
  return text.replace(STEERING, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** JSON in which nothing steers a terminal. Any reader of JSON reads the same value from it. */
export function jsonText(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent);
  return indent === undefined ? printable(text) : text.split("\n").map(printable).join("\n");
}

/** A time as people read it, in UTC. */
export function timeText(iso: string): string {
  return iso.replace("T", " ").replace(/\.\d+Z$/, "Z");
}

/** Bytes as people read them. */
export function bytesText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
