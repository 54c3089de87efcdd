/**
 * What a caller is about to do, before it is known what there is to do it to.
 *
 * @module
 */

import type { Client } from "./client.ts";
import type { Call, Edit } from "./history.ts";
import { BLANK } from "./reference.ts";

/** What can be wanted. */
export const WISHES = [
  "patch",
  "save",
  "merge",
  "get",
  "old",
  "changes",
  "list",
  "restore",
  "mint",
  "touch",
  "clear",
  "revoke",
  "sweep",
] as const;
/** One of them. */
export type Wish = typeof WISHES[number];

/** A wish, and numbers that settle what it leaves open. */
export interface Intent {
  readonly wish: Wish;
  /** Which document, of those that are known. */
  readonly document: number;
  /** Which of its versions, which edit, how long. */
  readonly pick: number;
  /** Whether it goes under a request id, and is repeated while its outcome is unknown. */
  readonly repeatable: boolean;
}

/** From this pick on, up to 100 more, a patch is of so many times 9 KB: its body goes in several chunks, or is staged. */
export const BULKY = 400;

/** The call that an intent comes to; `undefined` if there is nothing to do it to. */
export function toCall(
  { wish, document, pick }: Intent,
  label: string,
  handles: readonly string[],
  client: Client,
  days: number,
): Call | undefined {
  if (wish === "mint") return { do: "mint", state: { ...BLANK, fields: { minted: label } } };
  if (wish === "list" || wish === "sweep") return { do: wish };
  if (handles.length === 0) return undefined;
  const handle = handles[document % handles.length];
  const seen = client.seen.get(handle)?.version ?? 0;
  switch (wish) {
    case "patch":
      return { do: "patch", handle, edits: [{ append: label }, ...extras(label, pick)] };
    case "save":
    case "merge": {
      if (seen === 0) return { do: "get", handle };
      const edits: Edit[] = [{ append: label }, { set: [pick % 4 === 0 ? "shared" : label, label] }];
      return { do: "save", handle, edits, expect: seen, merge: wish === "merge" };
    }
    case "get":
      return { do: "get", handle };
    case "old":
      return seen === 0 ? { do: "get", handle } : { do: "get", handle, version: 1 + pick % seen };
    case "changes":
      return { do: "changes", handle, since: pick % (seen + 1) };
    case "restore":
      return seen === 0 ? { do: "get", handle } : { do: "restore", handle, version: 1 + pick % seen, expect: seen };
    case "touch":
      return { do: "touch", handle, ttlDays: days };
    case "clear":
      return { do: "touch", handle, ttlDays: null };
    case "revoke":
      return pick % 2 === 0 && seen > 0 ? { do: "revoke", handle, expect: seen } : { do: "revoke", handle };
  }
}

function extras(label: string, pick: number): Edit[] {
  if (pick % 5 === 0) return [{ add: 1 }];
  if (pick % 5 === 1) return [{ set: [label, pick] }];
  if (pick >= BULKY) return [{ fill: [String.fromCharCode(97 + pick % 26), (pick - BULKY + 1) * 9_000] }];
  // A larger one now and then, so that keyframes are laid.
  if (pick % 5 === 2) return [{ fill: [String.fromCharCode(97 + pick % 26), pick % 97 * 100] }];
  return [];
}
