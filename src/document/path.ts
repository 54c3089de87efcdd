/**
 * Where in a state: dotted paths for people and models, JSON Pointers (RFC 6901) for every key.
 *
 * @module
 */

import { InvalidInput, PathNotFound, shownPath } from "./errors.ts";
import { isArray, isObject, type JsonValue } from "./json.ts";

/** A parsed path: one token per step, `[]` for the root. */
export type Path = readonly string[];

const AVAILABLE_SHOWN = 20;

/**
 * Parses a path: `""` is the root, `/a~1b/0` a JSON Pointer (RFC 6901), `a.b.0` dotted.
 *
 * @throws {InvalidInput} for a bad `~` escape, an empty dotted segment or a lone surrogate.
 */
export function parsePath(path: string, field = "path"): Path {
  if (path === "") return [];
  if (!path.isWellFormed()) {
    throw new InvalidInput(field, `The path in ${field} holds a lone surrogate; send well-formed text.`);
  }
  if (!path.startsWith("/")) {
    const tokens = path.split(".");
    if (tokens.includes("")) {
      throw new InvalidInput(
        field,
        `The dotted path ${
          shownPath(path)
        } has an empty segment. For keys that are empty or hold a dot, use a JSON Pointer such as "/a.b".`,
      );
    }
    return tokens;
  }
  const tokens = path.slice(1).split("/");
  return !path.includes("~") ? tokens : tokens.map((token) => {
    if (/~(?![01])/.test(token)) {
      throw new InvalidInput(
        field,
        `The JSON Pointer ${shownPath(path)} has a "~" that is neither "~0" nor "~1"; write "~0" for "~" (RFC 6901).`,
      );
    }
    return token.replaceAll("~1", "/").replaceAll("~0", "~");
  });
}

/** The first token of a path, `undefined` for the root. @throws as {@link parsePath}, for what stands in the first token. */
export function firstToken(path: string): string | undefined {
  if (!path.startsWith("/")) return parsePath(path)[0];
  const end = path.indexOf("/", 1);
  const first = end === -1 ? path : path.slice(0, end);
  return first.includes("~") ? parsePath(first)[0] : first.slice(1);
}

/** The JSON Pointer (RFC 6901) of a path. */
export function toPointer(path: Path): string {
  return path.map((token) => "/" + pointerToken(token)).join("");
}

/** One token of a JSON Pointer, escaped. */
export function pointerToken(token: string): string {
  return token.includes("~") || token.includes("/") ? token.replaceAll("~", "~0").replaceAll("/", "~1") : token;
}

/** The index that a token names in an array of this length, or `undefined`. No sign, no leading zeros, no "-". */
export function toIndex(token: string, length: number): number | undefined {
  if (!/^(0|[1-9][0-9]*)$/.test(token)) return undefined;
  const index = Number(token);
  return index < length ? index : undefined;
}

/** The child of a value that a token names, or `undefined`. */
export function childAt(value: JsonValue, token: string): JsonValue | undefined {
  if (isArray(value)) {
    const index = toIndex(token, value.length);
    return index === undefined ? undefined : value[index];
  }
  return isObject(value) && Object.hasOwn(value, token) ? value[token] : undefined;
}

/**
 * The value at a path.
 *
 * @throws {PathNotFound} naming the first part that leads nowhere and what is there instead.
 */
export function resolvePath(root: JsonValue, path: Path): JsonValue {
  let value = root;
  for (let i = 0; i < path.length; i++) {
    const child = childAt(value, path[i]);
    if (child === undefined) throw new PathNotFound(toPointer(path), toPointer(path.slice(0, i + 1)), available(value));
    value = child;
  }
  return value;
}

function available(value: JsonValue): string[] {
  if (isArray(value)) return value.length === 0 ? [] : value.length === 1 ? ["0"] : [`0 to ${value.length - 1}`];
  if (!isObject(value)) return [];
  const keys = Object.keys(value);
  const shown = keys.slice(0, AVAILABLE_SHOWN).map((key) => key.length > 80 ? key.slice(0, 79) + "…" : key);
  return keys.length > AVAILABLE_SHOWN ? [...shown.slice(0, -1), `… ${keys.length - AVAILABLE_SHOWN + 1} more`] : shown;
}
