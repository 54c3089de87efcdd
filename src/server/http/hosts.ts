/**
 * Which `Host` and which `Origin` are served: what keeps a web page in somebody's browser from reaching a server on
 * their machine, by name (DNS rebinding) or by address.
 *
 * @module
 */

import {
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  validateHostHeader,
  validateOriginHeader,
} from "@modelcontextprotocol/server";
import { bracketed } from "../../document/host_and_port.ts";
import { Refusal } from "./refusal.ts";

/** Who may be asked for, and from where. */
export interface Allowed {
  /** Whether the server listens on a loopback address, where pages of other local servers are let in. */
  readonly loopback: boolean;
  /** Host names beside those of loopback, without ports. */
  readonly hosts: readonly string[];
  /** Origins such as `https://app.example.com`, exactly. */
  readonly origins: readonly string[];
}

/** What stands for every address of the machine, and which a browser may take for loopback. */
const EVERYWHERE: ReadonlySet<string> = new Set(["0.0.0.0", "[::]"]);

/** Lets requests pass by their `Host` and `Origin`. */
export class HostGate {
  readonly #hosts: string[];
  readonly #allowed: Allowed;
  /** The last header that passed: clients of one server send the same. */
  #passed: string | null = null;

  constructor(allowed: Allowed) {
    this.#allowed = allowed;
    const named = allowed.hosts.map((host) => bracketed(host).toLowerCase()).filter((host) => !EVERYWHERE.has(host));
    this.#hosts = [...localhostAllowedHostnames(), ...named];
  }

  /** @throws {Refusal} with 403 for a host that is not served. */
  checkHost(headers: Headers): void {
    const host = headers.get("host");
    if (host !== null && host === this.#passed) return;
    const { ok } = validateHostHeader(host, this.#hosts);
    if (!ok) throw new Refusal(403, "This Host is not served here. Allow it with --allowed-hosts.");
    this.#passed = host;
  }

  /** The origin of a page that may be here; `undefined` if the request is not a page's. @throws {Refusal} with 403 for any other. */
  checkOrigin(headers: Headers): string | undefined {
    const origin = headers.get("origin");
    if (origin === null) return undefined;
    const { loopback, origins } = this.#allowed;
    if (origins.includes(origin)) return origin;
    if (loopback && origin !== "" && validateOriginHeader(origin, localhostAllowedOrigins()).ok) return origin;
    throw new Refusal(403, "This Origin is not served here. Allow it with --allowed-origins.");
  }
}

const PREFLIGHT = {
  "access-control-allow-methods": "GET, POST, OPTIONS",
  "access-control-allow-headers":
    "accept, authorization, content-type, if-none-match, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id",
  "access-control-max-age": "7200",
} as const;

/** The answer to the question that a browser asks before it sends a page's request (Fetch, "CORS-preflight request"). */
export function preflight(): Response {
  return new Response(null, { status: 204, headers: PREFLIGHT });
}

/** Lets the page read the answer. */
export function shareWith(origin: string, response: Response): Response {
  const headers = new Headers(response.headers);
  headers.set("access-control-allow-origin", origin);
  headers.set("access-control-expose-headers", "etag, mcp-protocol-version, retry-after, www-authenticate");
  headers.append("vary", "origin");
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers });
}
