/**
 * What surrounds a tool call: the store, whose documents, who writes, in which turn, and how long the answer may be.
 *
 * @module
 */

import type { ServerContext as RequestContext } from "@modelcontextprotocol/server";
import { CLIENT_INFO_META_KEY } from "@modelcontextprotocol/server";
import { isObject } from "../document/json.ts";
import { checkWriter, checkWriteTurn } from "../document/checks.ts";
import { CALL_MS } from "./deadline.ts";
import type { HandleStore } from "../store/store.ts";
import type { Telemetry } from "./telemetry.ts";

/** What tools do with a store. */
export type StateStore = Pick<
  HandleStore,
  "create" | "get" | "view" | "save" | "patch" | "restore" | "touch" | "list" | "changes" | "revoke"
>;

/** How much an answer may cost by default, as `textCost` counts its JSON text. */
export const DEFAULT_MAX_ANSWER_CHARS = 32_000;

/** For whom a server answers, and how. */
export interface ServerOptions {
  /** Whose documents these are: an opaque identity that has been verified already. 1 to 512 bytes. */
  readonly user: string;
  /** Who to record as the writer where a call's `_meta` does not say. Default: the client's name. */
  readonly writer?: string;
  /** Who the client is where it does not say so itself, as older ones do not over HTTP. */
  readonly client?: string;
  /** The longest answer, errors included: ASCII characters count once, others twice. Default 32,000, at least 12,000. */
  readonly maxAnswerChars?: number;
  /** How long a call may take, in milliseconds. Default 30,000. A write that takes longer may still land. */
  readonly callMs?: number;
  /** Who is told of each request. Default: nobody. */
  readonly telemetry?: Telemetry;
}

/** One call of a tool. */
export interface Call {
  readonly store: StateStore;
  readonly user: string;
  readonly writer: string;
  /** From the host's `_meta`. */
  readonly turn: number | undefined;
  /** How long it may take, in milliseconds. */
  readonly callMs: number;
  /** How much the answer may cost. */
  readonly budget: number;
}

/** What knows the client by its `initialize` handshake. */
interface Host {
  readonly server: { getClientVersion(): { readonly name: string } | undefined };
}

/** Reads what the host says of a request. @throws {InvalidInput} where that makes no sense. Turn and writer are the host's to say, never the model's. */
export function toCall(store: StateStore, options: ServerOptions, host: Host, request: RequestContext): Call {
  const meta: Readonly<Record<string, unknown>> = request.mcpReq._meta ?? {};
  return {
    store,
    user: options.user,
    writer: checkWriter(
      meta["mcpstate/writer"] ?? options.writer ?? clientName(host, request) ?? options.client ?? "unknown",
    ),
    turn: checkWriteTurn(meta["mcpstate/turn"] ?? undefined),
    callMs: options.callMs ?? CALL_MS,
    budget: options.maxAnswerChars ?? DEFAULT_MAX_ANSWER_CHARS,
  };
}

/** All of a request's `_meta`: what the SDK takes out of it for itself, too. */
export function toMeta({ mcpReq }: RequestContext): Readonly<Record<string, unknown>> {
  return { ...mcpReq._meta, ...mcpReq.envelope };
}

/** The name in the request's own envelope (2026-07-28), else the one of the `initialize` handshake. */
function clientName(host: Host, { mcpReq }: RequestContext): string | undefined {
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
  const info = envelope[CLIENT_INFO_META_KEY] ?? host.server.getClientVersion();
  return isObject(info) && typeof info.name === "string" ? toWriter(info.name) : undefined;
}

const MAX_WRITER_BYTES = 256;

/** A name that somebody gave to something else, made fit to be a writer; `undefined` if nothing is left of it. */
export function toWriter(name: string): string | undefined {
  const text = name.toWellFormed().replaceAll("\0", "").trim();
  const bytes = new Uint8Array(MAX_WRITER_BYTES);
  const { read } = new TextEncoder().encodeInto(text, bytes);
  return text.slice(0, read) || undefined;
}
