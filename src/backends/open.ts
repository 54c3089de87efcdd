/**
 * From a URL to a backend. The only module that knows the adapters; it loads just the one that is asked for.
 *
 * @module
 */

import { InvalidInput } from "../document/errors.ts";
import type { Backend } from "./backend.ts";

/** Where state is kept if nothing else is said. */
export const DEFAULT_URL = "sqlite:///~/.mcpstate/state.db";

/** What every adapter can be told. */
export interface OpenOptions {
  /** How long a call may wait for others that hold the database, in milliseconds. Default 5,000. */
  readonly maxContentionMs?: number;
}

/**
 * Opens the backend of a URL: `sqlite:///relative/path`, `sqlite:////absolute/path`, `sqlite:///~/in/home`,
 * `sqlite:///C:/path` or `sqlite:///:memory:`, each with `?synchronous=normal` if a power cut may cost the last writes.
 *
 * @throws {InvalidInput} for a URL that is none of these; it is not repeated, since it may hold a password.
 */
export async function openBackend(url: string = DEFAULT_URL, options: OpenOptions = {}): Promise<Backend> {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1].toLowerCase();
  switch (scheme) {
    case "sqlite": {
      const { path, parameters } = parseFileUrl(url, "sqlite");
      const synchronous = parameters.get("synchronous") ?? "full";
      if (synchronous !== "full" && synchronous !== "normal") {
        throw new InvalidInput("url", 'synchronous in the backend URL must be "full" or "normal".');
      }
      refuseUnknown(parameters, ["synchronous"]);
      const { openSqliteBackend } = await import("./sqlite.ts");
      return await openSqliteBackend({ path, synchronous, ...options });
    }
    default:
      throw new InvalidInput(
        "url",
        "The backend URL must begin with sqlite:/// — such as sqlite:///~/.mcpstate/state.db.",
      );
  }
}

/** The file of a backend URL, so that a caller can tell which directory needs permission. `undefined` for memory. */
export function fileOf(url: string = DEFAULT_URL): string | undefined {
  if (!/^sqlite:/i.test(url)) return undefined;
  const { path } = parseFileUrl(url, "sqlite");
  return path === ":memory:" ? undefined : path;
}

function parseFileUrl(url: string, scheme: string): { path: string; parameters: URLSearchParams } {
  const [location, query = ""] = splitOnce(url.slice(scheme.length + 1), "?");
  if (!location.startsWith("///")) {
    throw new InvalidInput(
      "url",
      `A ${scheme} URL has three slashes for a path from the working directory (${scheme}:///state.db), four for an absolute one (${scheme}:////var/lib/state.db).`,
    );
  }
  let path: string;
  try {
    path = decodeURIComponent(location.slice(3));
  } catch {
    throw new InvalidInput(
      "url",
      `The path of the ${scheme} URL has a broken % escape; write %25 for a per cent sign.`,
    );
  }
  if (path === "" || path.endsWith("/")) {
    throw new InvalidInput("url", `The ${scheme} URL has no file name: ${scheme}:///~/.mcpstate/state.db, say.`);
  }
  if (path.includes("\0")) throw new InvalidInput("url", `The path of the ${scheme} URL holds a NUL character.`);
  if (path === "~" || path.startsWith("~/")) path = home() + path.slice(1);
  return { path, parameters: new URLSearchParams(query) };
}

function home(): string {
  const found = Deno.env.get("HOME") ?? (Deno.build.os === "windows" ? Deno.env.get("USERPROFILE") : undefined);
  if (found !== undefined && found !== "") return found;
  throw new InvalidInput("url", "~ in the backend URL cannot be expanded: HOME is not set. Write the whole path.");
}

function splitOnce(text: string, separator: string): [string, string?] {
  const index = text.indexOf(separator);
  return index === -1 ? [text] : [text.slice(0, index), text.slice(index + 1)];
}

function refuseUnknown(parameters: URLSearchParams, known: readonly string[]): void {
  for (const name of parameters.keys()) {
    if (!known.includes(name)) {
      throw new InvalidInput(
        "url",
        `The backend URL has an unknown parameter ${JSON.stringify(name)}; known: ${known.join(", ")}.`,
      );
    }
  }
}
