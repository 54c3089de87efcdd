/**
 * Where a watch stands: the user's sequence number and, to notice a store that has lost writes, what was newest there.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { InvalidInput } from "../document/errors.ts";

/** A change, or with version 0 an end. */
export interface Mark {
  readonly id: string;
  readonly version: number;
  readonly writeId: string;
}

/** A place in the order of a user's events. */
export interface Cursor {
  readonly seq: number;
  /** What is newest there: if it is there no more, the store has been rewound. */
  readonly last?: Mark;
}

/** The cursor as an opaque text. */
export function encodeWatchCursor({ seq, last }: Cursor, user: string): string {
  const parts = last === undefined ? [tag(user), seq] : [tag(user), seq, last.id, last.version, last.writeId];
  const bytes = new TextEncoder().encode(JSON.stringify(parts));
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

/** @throws {InvalidInput} for a text that is no cursor, or another user's. */
export function decodeWatchCursor(text: string, user: string): Cursor {
  try {
    const bytes = Uint8Array.fromBase64(text, { alphabet: "base64url" });
    const [owner, seq, id, version, writeId] = JSON.parse(new TextDecoder().decode(bytes));
    if (owner === tag(user) && Number.isSafeInteger(seq)) {
      if (id === undefined) return { seq };
      if (typeof id === "string" && Number.isSafeInteger(version) && typeof writeId === "string") {
        return { seq, last: { id, version, writeId } };
      }
    }
  } catch {
    // not base64, or not JSON: refused below
  }
  throw new InvalidInput("since", "since is not a cursor of this user's events. Leave it out to begin from now.");
}

function tag(user: string): string {
  return createHash("sha256").update(user).digest("base64url").slice(0, 8);
}
