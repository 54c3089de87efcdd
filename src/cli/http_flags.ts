/**
 * The flags of a server over HTTP, and what they come to.
 *
 * @module
 */

import { bracketed, hostAndPort } from "../document/host_and_port.ts";
import { isLoopback } from "../server/http/loopback.ts";
import { LOG_LEVELS, type LogLevel } from "../server/http/log.ts";
import { isOutOfReach, type KeysAt } from "../server/identity/key_places.ts";
import { type Call, toWholeNumber } from "./call.ts";
import type { Flag, FurtherNeeds } from "./command.ts";
import { UsageError } from "./usage.ts";

/** How clients reach a server. */
export const TRANSPORT: Flag = {
  value: "NAME",
  does: "stdio (the default) or http",
  check(text) {
    if (text !== "stdio" && text !== "http") throw new UsageError("it is stdio or http.");
  },
};

const under = { flag: "transport", value: "http" } as const;
const DEFAULT_HOST = "127.0.0.1";
const DEFAULT_PORT = 8000;

/** By name, in the order of the help. */
export const HTTP_FLAGS = {
  host: {
    under,
    value: "ADDRESS",
    variable: "MCPSTATE_HOST",
    check: toHostname,
    does: `the address to listen on (default ${DEFAULT_HOST}: this machine only)`,
  },
  port: {
    under,
    value: "N",
    variable: "MCPSTATE_PORT",
    check: toPort,
    does: `the port to listen on (default ${DEFAULT_PORT}; 0 for any that is free)`,
  },
  "public-url": {
    under,
    value: "URL",
    variable: "MCPSTATE_PUBLIC_URL",
    check: toOrigin,
    does: "how clients reach it, if not by that address: https://state.example.com",
  },
  "allowed-hosts": {
    under,
    value: "LIST",
    variable: "MCPSTATE_ALLOWED_HOSTS",
    check: toHostnames,
    does: "more host names that it answers to, with commas between",
  },
  "allowed-origins": {
    under,
    value: "LIST",
    variable: "MCPSTATE_ALLOWED_ORIGINS",
    check: toOrigins,
    does: "origins of web pages that may ask: https://app.example.com",
  },
  "behind-proxy": { under, does: "a proxy in front says, in X-Forwarded-For, where callers come from" },
  issuer: {
    under,
    value: "URL",
    variable: "MCPSTATE_ISSUER",
    names: "address",
    check: toIssuer,
    does: "let in who has a token of this OAuth issuer, too",
  },
  audience: {
    under,
    value: "LIST",
    variable: "MCPSTATE_AUDIENCE",
    check: toList,
    does: "the audiences of which its tokens must name one (default: the address of /mcp)",
  },
  jwks: {
    under,
    value: "URL|FILE",
    variable: "MCPSTATE_JWKS",
    names: "address or file to read",
    check: toKeysAt,
    does: "where the issuer's keys are (default: where its metadata says)",
  },
  "allow-anonymous": { under, does: "let in everyone: whoever has a handle has the document" },
  rate: {
    under,
    value: "N",
    variable: "MCPSTATE_RATE",
    check: toPositive,
    does: "calls of a user in a second, in the long run (default 100)",
  },
  concurrency: {
    under,
    value: "N",
    variable: "MCPSTATE_CONCURRENCY",
    check: toPositive,
    does: "calls of a user at once (default 500)",
  },
  "log-level": {
    under,
    value: "LEVEL",
    variable: "MCPSTATE_LOG_LEVEL",
    check: toLogLevel,
    does: "what to tell on standard error: error, info (the default), or debug for every call",
  },
} as const satisfies Readonly<Record<string, Flag>>;

/** Where a server over HTTP listens. */
export async function listenAt(call: Call): Promise<{ readonly hostname: string; readonly port: number }> {
  const hostname = await call.checked("host", toHostname) ?? DEFAULT_HOST;
  return { hostname, port: await call.checked("port", toPort) ?? DEFAULT_PORT };
}

/** What it needs to be allowed for that. */
export async function listeningHosts(call: Call): Promise<FurtherNeeds> {
  if (!await call.matters("port")) return {};
  const { hostname, port } = await listenAt(call);
  return { hosts: [hostAndPort(hostname, port)] };
}

/** Who gets in. */
export type Access =
  | { readonly by: "user"; readonly user: string }
  | { readonly by: "token" }
  | { readonly by: "issuer"; readonly issuer: string; readonly audience: readonly string[] | undefined }
  | { readonly by: "handle" };

/** @throws {UsageError} where two ways exclude each other, or one is open to more than it should be. */
export async function accessOf(call: Call): Promise<Access> {
  const { hostname, port } = await listenAt(call);
  // A variable that was set for another server must not make everyone one user: the flag alone counts.
  const user = call.text("user");
  const issuer = await call.checked("issuer", toIssuer);
  const ways = [
    ...user === undefined ? [] : ["--user"],
    ...issuer === undefined ? [] : ["--issuer"],
    ...call.isSet("allow-anonymous") ? ["--allow-anonymous"] : [],
  ];
  if (ways.length > 1) throw new UsageError(`${ways.join(" and ")} exclude each other: choose who gets in, and how.`);
  if (user !== undefined) {
    if (isLoopback(hostname)) return { by: "user", user };
    throw new UsageError(
      `--user makes everyone who reaches the port ${JSON.stringify(user)}, so it is for this machine only: ` +
        "listen on 127.0.0.1, or hand out tokens with mcpstate token add.",
    );
  }
  if (issuer !== undefined) {
    const isKnown = port !== 0 && !isEveryAddress(hostname);
    // Clients ask the issuer for a token for the address that they are told, and compare it with where they are.
    if (!isKnown && await call.setting("public-url") === undefined) {
      throw new UsageError(
        `The issuer's tokens are for an address, and ${hostAndPort(hostname, port)} is none: say --public-url.`,
      );
    }
    return { by: "issuer", issuer, audience: await call.checked("audience", toList) };
  }
  return call.isSet("allow-anonymous") ? { by: "handle" } : { by: "token" };
}

/** What is answered to. @throws {UsageError} if it would be nothing. */
export async function namesOf(call: Call) {
  const { hostname } = await listenAt(call);
  const publicUrl = await call.checked("public-url", toOrigin);
  const hosts = await call.checked("allowed-hosts", toHostnames) ?? [];
  const isNamed = isLoopback(hostname) || publicUrl !== undefined || hosts.length > 0;
  if (!isNamed) {
    throw new UsageError(
      `On ${hostname} it is reached by names that it must know, or a web page could reach it by one of its own: ` +
        "say them with --public-url or --allowed-hosts.",
    );
  }
  return {
    hosts,
    origins: await call.checked("allowed-origins", toOrigins) ?? [],
    resource: publicUrl === undefined ? undefined : new URL("/mcp", publicUrl),
  };
}

/** Where the keys of the issuer are; absent: where its metadata says. */
export async function keysOf(call: Call): Promise<KeysAt | undefined> {
  return await call.checked("jwks", toKeysAt);
}

/** How often and how much. */
export async function limitsOf(call: Call) {
  const perSecond = await call.checked("rate", toPositive);
  return {
    rate: perSecond === undefined ? undefined : { perSecond, burst: perSecond * 10 },
    concurrency: await call.checked("concurrency", toPositive),
    logLevel: await call.checked("log-level", toLogLevel) ?? "info" as const,
  };
}

function toPort(text: string): number {
  return toWholeNumber("it", text, 0, 65_535);
}

/** An IPv6 address comes out in its shortest form and without brackets. */
function toHostname(text: string): string {
  const url = `http://${bracketed(text)}/`;
  const { hostname, port, href } = URL.canParse(url) ? new URL(url) : { hostname: "", port: "", href: "" };
  if (hostname !== "" && port === "" && href === `http://${hostname}/`) return hostname.replace(/^\[|\]$/g, "");
  throw new UsageError("it is an address or a name without a port, such as 127.0.0.1, ::1 or state.example.com.");
}

function toHostnames(text: string): readonly string[] {
  return toList(text).map(toHostname);
}

function isEveryAddress(hostname: string): boolean {
  return hostname === "0.0.0.0" || hostname === "::";
}

function toKeysAt(text: string): KeysAt {
  if (!/^https?:/i.test(text)) return { from: "file", path: text };
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && isOutOfReach(url)) return { from: "url", url };
  throw new UsageError(
    "keys come by https, or by http from this machine: on the way somebody could put keys of their own in their place. " +
      "Say https, or save them to a file and name that.",
  );
}

function toPositive(text: string): number {
  return toWholeNumber("it", text, 1);
}

function toList(text: string): readonly string[] {
  const items = text.split(",").map((item) => item.trim());
  if (items.includes("")) throw new UsageError("a list is written with commas between, and nothing else.");
  return items;
}

function toOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.origin === text.replace(/\/$/, "") && /^https?:$/.test(url.protocol)) return url.origin;
  throw new UsageError("it is an address without a path, such as https://state.example.com.");
}

function toOrigins(text: string): readonly string[] {
  return toList(text).map(toOrigin);
}

function toIssuer(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url?.search === "" && url.hash === "" && url.username === "";
  if (isPlain && isOutOfReach(url)) return text;
  throw new UsageError("it is an https address, exactly as the issuer's tokens name it.");
}

function toLogLevel(text: string): LogLevel {
  const level = LOG_LEVELS.find((each) => each === text);
  if (level === undefined) throw new UsageError(`it is one of ${LOG_LEVELS.join(", ")}.`);
  return level;
}
