/**
 * URLs of the engines that keep state in a file: `sqlite:///path` and `kv:///path`.
 *
 * @module
 */

import { InvalidInput } from "../document/errors.ts";

/** What such a URL says. */
export interface FileUrl {
  /** The file, or `":memory:"`. */
  readonly path: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/**
 * Three slashes begin a path from the working directory, four an absolute one, `///~/` one in the home directory and
 * `///C:/` one on Windows.
 *
 * @throws {InvalidInput} for a URL that is not understood. It is not repeated.
 */
export function parseFileUrl(url: string, scheme: string, parameters: readonly string[] = []): FileUrl {
  const [, location, query = ""] = /^[^:]*:([^?]*)(?:\?(.*))?$/s.exec(url) ?? [];
  if (location === undefined || !location.startsWith("///")) {
    throw new InvalidInput(
      "url",
      `A ${scheme} URL has three slashes for a path from the working directory (${scheme}:///state.db), four for an absolute one (${scheme}:////var/lib/state.db).`,
    );
  }
  const path = decode(location.slice(3), scheme);
  if (path === "" || path.endsWith("/")) {
    throw new InvalidInput("url", `The ${scheme} URL has no file name: ${scheme}:///~/.mcpstate/state.db, say.`);
  }
  if (path.includes("\0")) throw new InvalidInput("url", `The path of the ${scheme} URL holds a NUL character.`);
  const found = new Map(new URLSearchParams(query));
  for (const name of found.keys()) {
    if (parameters.includes(name)) continue;
    const known = parameters.length === 0 ? "it has none" : `known: ${parameters.join(", ")}`;
    throw new InvalidInput("url", `The ${scheme} URL has an unknown parameter; ${known}.`);
  }
  return { path: path === "~" || path.startsWith("~/") ? home() + path.slice(1) : path, parameters: found };
}

function decode(path: string, scheme: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new InvalidInput(
      "url",
      `The path of the ${scheme} URL has a broken % escape; write %25 for a per cent sign.`,
    );
  }
}

function home(): string {
  const found = Deno.env.get("HOME") ?? (Deno.build.os === "windows" ? Deno.env.get("USERPROFILE") : undefined);
  if (found !== undefined && found !== "") return found;
  throw new InvalidInput("url", "~ in the backend URL cannot be expanded: HOME is not set. Write the whole path.");
}
