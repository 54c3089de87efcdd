/**
 * Brings whole documents into Redis, large ones in parts.
 *
 * @module
 */

import { BackendError } from "../../document/errors.ts";
import { type Relaid, relay } from "../../document/relay.ts";
import type { Adoption, PortableTombstone } from "../maintenance.ts";
import { inParts } from "../parts.ts";
import type { DocumentKey } from "../records.ts";
import { ADOPT, ADOPT_TOMBSTONE, STAGE } from "./adopt_scripts.ts";
import { toHeadFields } from "./arguments.ts";
import type { Caller } from "./caller.ts";
import { damaged } from "./errors.ts";
import type { Keys } from "./keys.ts";
import { list } from "./records.ts";

/** About how many characters, and how many items, one call brings, so that the server is free for others in between. */
const PART_LIMITS = { size: 1024 * 1024, items: 500 };
/** How far the sequence numbers of what is staged leap ahead at first. */
const LEAP = 1_000;
/** How often it begins anew because another has taken the stage, or others have written too much meanwhile. */
const ATTEMPTS = 8;

/** Arguments of one entry or keyframe. */
type Item = readonly string[];

/** Takes a document in. */
export async function adopt(caller: Caller, keys: Keys, key: DocumentKey, what: Adoption | PortableTombstone) {
  if ("status" in what) return await adoptTombstone(caller, keys, key, what);
  const relaid = relay(what.entries, what.keyframe, what.head.oldest);
  const { entries, base, folded } = relaid;
  const [first, last] = [entries[0], entries[entries.length - 1]];
  const head = toHeadFields({
    ...withoutFraction(what.head),
    bytes: folded.bytes,
    offset: last.offset,
    base,
    id: key.id,
  });
  const parts = inParts(toItems(relaid), (item) => item[item.length - 1].length, PART_LIMITS);
  const isStaged = parts.length > 1;
  for (let attempt = 1;; attempt++) {
    const name = crypto.randomUUID();
    const leap = LEAP * 4 ** (attempt - 1);
    if (!isStaged || await stage(caller, keys, key.user, name, parts, first.version, leap)) {
      const items = isStaged ? [] : parts[0].flat();
      const args = [
        key.id,
        name,
        String(first.version),
        isStaged ? "staged" : "",
        String(head.length),
        ...head,
        ...items,
      ];
      const names = [...keys.user(key.user), ...keys.document(key), ...keys.staged(key.user)];
      const answer = toOutcome(await caller.run(ADOPT, names, args));
      if (answer !== "taken") return answer;
    }
    if (attempt === ATTEMPTS) {
      throw new BackendError("Another import for this user is under way. Nothing was changed: try again later.", {
        busy: true,
      });
    }
    await new Promise((resolve) => setTimeout(resolve, 200 * attempt * Math.random()));
  }
}

/** Answers whether all of it is staged; somebody else may have begun meanwhile. */
async function stage(
  caller: Caller,
  keys: Keys,
  user: string,
  name: string,
  parts: readonly (readonly Item[])[],
  first: number,
  leap: number,
): Promise<boolean> {
  const names = [...keys.user(user), ...keys.staged(user)];
  for (const [i, part] of parts.entries()) {
    const args = [name, i === 0 ? String(first) : "", String(leap), ...part.flat()];
    if (toOutcome(await caller.run(STAGE, names, args)) === "taken") return false;
  }
  return true;
}

async function adoptTombstone(
  caller: Caller,
  keys: Keys,
  key: DocumentKey,
  { status, goneAt, ttlDays, kind }: PortableTombstone,
): Promise<"adopted" | "exists"> {
  const args = [key.id, crypto.randomUUID(), status, toMoment(goneAt), String(ttlDays ?? "-"), kind];
  const names = [...keys.user(key.user), ...keys.document(key)];
  const answer = toOutcome(await caller.run(ADOPT_TOMBSTONE, names, args));
  if (answer === "taken") throw damaged();
  return answer;
}

/** When it is to end must be what Redis takes for a time. */
function withoutFraction<T extends { readonly expiresAt?: number }>(head: T): T {
  return head.expiresAt === undefined ? head : { ...head, expiresAt: Number(toMoment(head.expiresAt)) };
}

/** Milliseconds as digits. */
function toMoment(time: number): string {
  return String(Math.max(0, Math.round(time)));
}

/** Entries and keyframes in the order of versions. */
function* toItems({ entries, keyframes }: Relaid): Generator<Item> {
  let next = 0;
  for (const { version, writeId, at, turn, writer, offset, body } of entries) {
    yield [`${version}-0`, writeId, String(at), String(turn), writer, String(offset), body];
    if (keyframes[next]?.version !== version) continue;
    const keyframe = keyframes[next++];
    yield [`${version}-1`, keyframe.writeId, String(keyframe.bytes), "", "", "", keyframe.body];
  }
}

function toOutcome(reply: unknown): "adopted" | "exists" | "taken" {
  const [outcome] = list(reply);
  switch (outcome) {
    case "staged":
    case "adopted":
      return "adopted";
    case "exists":
    case "taken":
      return outcome;
    default:
      throw damaged();
  }
}
