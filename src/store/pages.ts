/**
 * Walks through a user's documents by pages, so that each one alive throughout is seen.
 *
 * First down from the newest. A document that is written meanwhile moves to the top, where the walk has been already; so
 * at the bottom it turns round and goes up through what moved, leaving out what was minted only after it began.
 *
 * @module
 */

import { createHash } from "node:crypto";
import type { Backend, Head, ListRange } from "../backends/backend.ts";
import { isTombstone, type Tombstone } from "../backends/records.ts";
import { InvalidInput } from "../document/errors.ts";
import { isObject } from "../document/json.ts";
import type { HandleInfo } from "../document/snapshot.ts";
import { checkBoolean, checkInteger, checkKind, checkQuery } from "../document/checks.ts";
import type { ListOptions } from "./options.ts";
import { toInfo, toIso } from "./snapshots.ts";

/** A document that has expired. Its state is gone. */
export interface ExpiredHandle {
  /** Its name. */
  readonly handle: string;
  /** What sort of document it was. */
  readonly kind: string;
  /** When, ISO 8601 in UTC. */
  readonly expiredAt: string;
  /** The time to live as last set, in days. */
  readonly ttlDays?: number;
}

/** A page of a user's documents. */
export interface HandlePage {
  /** Newest first. */
  readonly handles: readonly HandleInfo[];
  /** What has expired among them, with `includeExpired`. */
  readonly expired: readonly ExpiredHandle[];
  /** Pass it for the next page; absent at the end. */
  readonly cursor?: string;
}

/** Where a walk stands. `top` is the user's sequence number when it began. */
interface Position {
  readonly direction: ListRange["direction"];
  readonly top: number;
  readonly from: number;
}

/** How many records are asked for at a time. */
const CHUNK = 256;

/** The next page. @throws {InvalidInput} for a cursor of another walk, or a broken one. */
export async function readPage(backend: Backend, user: string, options: ListOptions): Promise<HandlePage> {
  const limit = checkInteger("limit", options.limit ?? 100, 1, 1000);
  const kind = options.kind === undefined ? undefined : checkKind(options.kind);
  const query = checkQuery(options.query)?.toLowerCase();
  const tombstones = checkBoolean("include_expired", options.includeExpired ?? false);
  const walk = walkName(user, kind, query, tombstones);
  let position = options.cursor === undefined ? undefined : decodeCursor(options.cursor, walk);
  const wanted = (document: Head | Tombstone): boolean => {
    if (kind !== undefined && document.kind !== kind) return false;
    if (isTombstone(document)) return document.status === "expired" && matches(query, document.id);
    if (position?.direction === "up" && document.createdSeq > position.top) return false;
    return matches(query, document.id, document.title);
  };
  const handles: HandleInfo[] = [];
  const expired: ExpiredHandle[] = [];
  while (handles.length + expired.length < limit) {
    const direction = position?.direction ?? "down";
    const room = limit - handles.length - expired.length;
    const page = await backend.list(user, {
      direction,
      from: position?.from ?? Number.MAX_SAFE_INTEGER,
      limit: kind === undefined && query === undefined ? room + 1 : CHUNK,
      tombstones,
    });
    const top = position?.top ?? page.seq;
    let last: number | undefined;
    for (const document of page.documents) {
      if (handles.length + expired.length === limit) break;
      last = document.seq;
      if (!wanted(document)) continue;
      if (isTombstone(document)) expired.push(toExpiredHandle(document));
      else handles.push(toInfo(document));
    }
    const isCutShort = last !== page.documents.at(-1)?.seq;
    const next = isCutShort ? last : page.next;
    if (next !== undefined) position = { direction, top, from: next };
    else if (direction === "down" && page.seq > top) position = { direction: "up", top, from: top };
    else return { handles, expired };
  }
  return { handles, expired, cursor: position && encodeCursor(position, walk) };
}

function matches(query: string | undefined, ...texts: readonly (string | undefined)[]): boolean {
  return query === undefined || texts.some((text) => text !== undefined && text.toLowerCase().includes(query));
}

function toExpiredHandle({ id, kind, goneAt, ttlDays }: Tombstone): ExpiredHandle {
  return { handle: id, kind, expiredAt: toIso(goneAt), ...(ttlDays === undefined ? {} : { ttlDays }) };
}

/** A short name of a walk, so that a cursor fits only its own. */
function walkName(...parts: readonly (string | boolean | undefined)[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url").slice(0, 10);
}

function encodeCursor({ direction, top, from }: Position, walk: string): string {
  return btoa(JSON.stringify([walk, direction, top, from])).replaceAll("+", "-").replaceAll("/", "_").replaceAll(
    "=",
    "",
  );
}

function decodeCursor(cursor: string, walk: string): Position {
  try {
    const parsed: unknown = JSON.parse(atob(cursor.replaceAll("-", "+").replaceAll("_", "/")));
    if (Array.isArray(parsed) && !isObject(parsed) && parsed[0] === walk) {
      const [, direction, top, from] = parsed;
      if ((direction === "down" || direction === "up") && Number.isSafeInteger(top) && Number.isSafeInteger(from)) {
        return { direction, top, from };
      }
    }
  } catch {
    // not base64, or not JSON: refused below
  }
  throw new InvalidInput("cursor", "cursor is not one that this list has given out. Leave it out to begin again.");
}
