/**
 * Threads over plain HTTP, for hosts and their pages: what stood where, which turns there are, and in which way something
 * is not there.
 *
 * @module
 */

import { createHash } from "node:crypto";
import {
  HandleExpired,
  HandleNotFound,
  InvalidInput,
  PathNotFound,
  StateError,
  VersionNotFound,
  VersionPruned,
} from "../../document/errors.ts";
import { toPointer } from "../../document/path.ts";
import { quoted } from "../../history/labels.ts";
import { renderTurn } from "../../history/render.ts";
import {
  readThreadKey,
  type ThreadFound,
  type ThreadPoint,
  type ThreadReading,
  type ThreadValue,
} from "../../history/thread_reading.ts";
import { openThreads, type Threads } from "../../history/threads.ts";
import { isEvicted } from "../../history/entry.ts";
import type { HandleStore } from "../../store/store.ts";
import { inTime, tooLate } from "../deadline.ts";
import { Refusal } from "./refusal.ts";

/** What a path asks for. */
export interface ThreadRoute {
  /** The document. */
  readonly handle: string;
  /** Its turns, its state, or one key of that. */
  readonly of: { readonly what: "turns" } | { readonly what: "state"; readonly key?: string };
}

/**
 * Reads `/threads/{handle}/turns`, `/threads/{handle}/state` and `/threads/{handle}/state/{key}`. A key may hold slashes, as
 * they are or encoded. `undefined` for any other path.
 */
export function parseThreadRoute(pathname: string): ThreadRoute | undefined {
  const [, rawHandle, what, rawKey] = /^\/threads\/([^/]+)\/(turns|state)(?:\/(.*))?$/s.exec(pathname) ?? [];
  if (rawHandle === undefined || what === "turns" && rawKey !== undefined) return undefined;
  try {
    const handle = decodeURIComponent(rawHandle);
    if (what === "turns") return { handle, of: { what } };
    return { handle, of: { what: "state", ...(rawKey === undefined ? {} : { key: decodeURIComponent(rawKey) }) } };
  } catch {
    return undefined;
  }
}

/** Answers one of them. @throws {Refusal} for another method. */
export async function serveThread(
  store: HandleStore,
  user: string,
  route: ThreadRoute,
  request: Request,
  callMs: number,
): Promise<Response> {
  if (request.method !== "GET" && request.method !== "HEAD") {
    throw new Refusal(405, "Threads are only read here.", { headers: { allow: "GET, HEAD" } });
  }
  try {
    const reading = read(openThreads(store, { user }), route, request);
    return await inTime(reading, callMs, () => tooLate("mcpstate:read", callMs));
  } catch (error) {
    if (error instanceof InvalidInput) return failed(400, error.toPayload());
    if (error instanceof HandleNotFound) return failed(404, error.toPayload());
    if (error instanceof HandleExpired) return failed(410, error.toPayload());
    if (error instanceof StateError) return failed(503, error.toPayload());
    throw error;
  }
}

async function read(threads: Threads, { handle, of }: ThreadRoute, request: Request): Promise<Response> {
  if (of.what === "turns") return answer(request, await turnsOf(threads, handle), "open");
  const reading = await threads.read(handle, pointOf(new URL(request.url).searchParams));
  return reading.outcome === "here" ? found(request, reading, of.key) : absent(handle, reading);
}

/** @throws {InvalidInput} for what is no number. Both, and which of them there are, are the thread's to judge. */
function pointOf(query: URLSearchParams): ThreadPoint {
  const [turn, version] = ["turn", "version"].map((name) => {
    const values = query.getAll(name);
    if (values.length === 0) return undefined;
    const value = Number(values[0]);
    if (values.length === 1 && /^-?\d{1,16}$/.test(values[0]) && Number.isSafeInteger(value)) return value;
    throw new InvalidInput(name, `${name} must be one whole number, such as ${name}=3.`);
  });
  return { turn, version };
}

async function turnsOf(threads: Threads, handle: string): Promise<unknown> {
  const { total, retained } = await threads.snapshots(handle);
  // A thread without turns has none, and so has one that is not there: that, the reading says.
  if (total === 0) await threads.read(handle);
  return { handle, total, retained };
}

function found(request: Request, reading: ThreadFound, key: string | undefined): Response {
  const life = reading.isFinal ? "final" : "open";
  if (key === undefined) {
    const { session, values, turn, version } = reading;
    const evicted = Object.keys(session).filter((each) => isEvicted(session[each]));
    return answer(request, { turn: turn || null, version, state: values.map(toWire), evicted }, life);
  }
  const one = readThreadKey(reading, key);
  switch (one.outcome) {
    case "value":
      return answer(request, toWire(one.value), life);
    case "evicted":
      return failed(410, {
        code: "evicted",
        message: `${quoted(key)} was written, last by ${one.tool}, and its value was dropped to make room.`,
        key,
        tool: one.tool,
      });
    case "never": {
      const pointer = toPointer([key]);
      return failed(
        404,
        new PathNotFound(pointer, pointer, reading.values.slice(0, 20).map(({ key }) => key)).toPayload(),
      );
    }
  }
}

function absent(handle: string, reading: Exclude<ThreadReading, ThreadFound>): Response {
  switch (reading.outcome) {
    case "never":
      return failed(404, {
        code: "turn_not_found",
        message: renderTurn(reading),
        handle,
        turn: reading.turn,
        turns_so_far: reading.total,
      });
    case "not_kept":
      return failed(404, { code: "no_turn_history", message: renderTurn(reading), handle });
    case "pruned":
      return failed(410, {
        code: "turn_pruned",
        message: renderTurn(reading),
        handle,
        turn: reading.turn,
        retained: reading.retained,
      });
    case "version_never":
      return failed(404, new VersionNotFound(reading.version, reading.currentVersion).toPayload());
    case "version_pruned":
      return failed(410, new VersionPruned(reading.version, reading.retained).toPayload());
  }
}

function toWire({ key, tool, seq, turn, version, value }: ThreadValue) {
  return { key, tool, seq, turn: turn ?? null, version, value };
}

/** What never changes may be kept by the caller for ever; all else is asked about each time. Nobody else may keep either. */
const CACHE = {
  final: "private, max-age=31536000, immutable",
  open: "private, no-cache",
} as const;

function answer(request: Request, content: unknown, life: keyof typeof CACHE): Response {
  const body = JSON.stringify(content);
  // Of the content: after a failover a version may come back as another one.
  const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 27)}"`;
  const headers = { "cache-control": CACHE[life], "etag": etag, "vary": "authorization" };
  const known = request.headers.get("if-none-match")?.split(",").map((each) => each.trim().replace(/^W\//, ""));
  if (known?.includes(etag) || known?.includes("*")) return new Response(null, { status: 304, headers });
  return new Response(body, { headers: { ...headers, "content-type": "application/json" } });
}

function failed(status: number, error: object): Response {
  return Response.json({ ok: false, error }, { status, headers: { "cache-control": "no-store" } });
}
