/**
 * Finding a document, and the least that a reader must fetch to fold one of its versions.
 *
 * Entries and keyframes never change, so they are read without regard to each other; what was deleted meanwhile is
 * missing, and the reader sees that.
 *
 * @module
 */

import type { Entry, Keyframe, Stamp } from "../../document/journal.ts";
import { firstEntry } from "../../document/keyframe.ts";
import type { Found, Head, Held, Place, Want } from "../backend.ts";
import { loadText } from "./bodies.ts";
import type { Connection } from "./connection.ts";
import { MOST_KEYS } from "./database.ts";
import { type Live, number, type StoredEntry, type StoredKeyframe, toEntry, toKeyframe } from "./values.ts";

/** How many entries are fetched at a time: each may have 60 KiB of text. */
const BATCH = 128;

/** The stamps of versions, as far as their entries are there. */
async function findStamps(
  connection: Connection,
  journal: string,
  versions: readonly number[],
): Promise<(Stamp | undefined)[]> {
  const prefix = connection.keys.entries(journal);
  const found = await connection.getMany(versions.map((version) => [...prefix, version]));
  return found.map(({ value, versionstamp }) => versionstamp === null ? undefined : toStamp(toEntry(value)));
}

/** The stamp of a version, if its entry is there. */
export async function findStamp(connection: Connection, journal: string, version: number): Promise<Stamp | undefined> {
  return (await findStamps(connection, journal, [version]))[0];
}

/** The stamps of consecutive versions, if all of them are there. */
export async function findRun(
  connection: Connection,
  journal: string,
  from: number,
  count: number,
): Promise<Stamp[] | undefined> {
  const stamps = await findStamps(connection, journal, Array.from({ length: count }, (_, i) => from + i));
  const there = stamps.flatMap((stamp) => stamp ?? []);
  return there.length === count ? there : undefined;
}

/** Entries from one version to another, both included. */
export async function findEntries(connection: Connection, journal: string, from: number, to: number): Promise<Entry[]> {
  const prefix = connection.keys.entries(journal);
  const selector = { start: [...prefix, from], end: [...prefix, to + 1] };
  const records = await connection.list(selector, to - from + 1, { batchSize: BATCH });
  const entries: Entry[] = [];
  for (const { value } of records) {
    const stored = toEntry(value);
    const body = await loadText(connection, stored.body);
    if (body !== undefined) entries.push({ ...stored, body });
  }
  return entries;
}

/** The newest keyframe at or before a version. */
export async function newestKeyframe(
  connection: Connection,
  journal: string,
  version: number,
): Promise<StoredKeyframe | undefined> {
  const prefix = connection.keys.keyframes(journal);
  const selector = { prefix, end: [...prefix, version + 1] };
  const [found] = await connection.list(selector, 1, { reverse: true });
  return found && toKeyframe(found.value);
}

/** The version of the first entry that is still there. */
export async function firstVersion(connection: Connection, journal: string): Promise<number | undefined> {
  const [first] = await connection.list({ prefix: connection.keys.entries(journal) }, 1);
  return first && toEntry(first.value).version;
}

/** The stamp at a place: an index look-up for turns, a search over the growing numbers for the others. */
export async function findPlace(
  connection: Connection,
  { journal, head }: Live,
  place: Place,
): Promise<Stamp | undefined> {
  if ("version" in place) return await findStamp(connection, journal, place.version);
  if ("at" in place) return await searchPlace(connection, journal, head, "at", place.at);
  if ("seq" in place) return await searchPlace(connection, journal, head, "seq", place.seq);
  if ("offset" in place) return await searchPlace(connection, journal, head, "offset", place.offset);
  const prefix = connection.keys.turns(journal);
  const selector = { prefix, end: [...prefix, place.turn + 1] };
  const [last] = await connection.list(selector, 1, { reverse: true });
  // What was written before any turn was named is not in the index.
  if (last === undefined) return await searchPlace(connection, journal, head, "turn", place.turn);
  return await findStamp(connection, journal, number({ version: last.value }, "version"));
}

/** Cuts the journal into eleven parts with each look at ten entries. */
async function searchPlace(
  connection: Connection,
  journal: string,
  head: Head,
  field: "turn" | "at" | "seq" | "offset",
  limit: number,
): Promise<Stamp | undefined> {
  const first = await firstVersion(connection, journal);
  if (first === undefined) return undefined;
  let [low, high] = [first - 1, head.version];
  let best: Stamp | undefined;
  while (low < high) {
    const step = Math.max(1, Math.ceil((high - low) / (MOST_KEYS + 1)));
    const versions: number[] = [];
    for (let version = low + step; version <= high && versions.length < MOST_KEYS; version += step) {
      versions.push(version);
    }
    const stamps = await findStamps(connection, journal, versions);
    // One that is missing has just been pruned, and all before it.
    const beyond = stamps.findIndex((stamp) => stamp !== undefined && stamp[field] > limit);
    const last = beyond === -1 ? versions.length - 1 : beyond - 1;
    if (beyond !== -1) high = versions[beyond] - 1;
    if (last >= 0) [low, best] = [versions[last], stamps[last]];
  }
  return best;
}

async function findTarget(connection: Connection, live: Live, want: Want): Promise<Stamp | undefined> {
  switch (want.as) {
    case "head":
      return await findStamp(connection, live.journal, live.head.version);
    case "version":
      return await findStamp(connection, live.journal, want.version);
    case "turn":
      return await findPlace(connection, live, { turn: want.turn });
    case "time":
      return await findPlace(connection, live, { at: want.at });
  }
}

/** The way from what is held, from a keyframe or from the start to the version that is wanted. */
export async function leadTo(
  connection: Connection,
  live: Live,
  want: Want,
  held: Held | undefined,
): Promise<Found> {
  const { journal, head } = live;
  const target = await findTarget(connection, live, want);
  if (target === undefined) return { outcome: "found", head, onto: "nothing", entries: [] };
  if (held?.version === target.version && held.writeId === target.writeId) return alreadyHeld(head);
  const keyframe = held?.version === 0 ? undefined : await newestKeyframe(connection, journal, target.version);
  const found = { outcome: "found", head, target } as const;
  if (held !== undefined && await isCheaper(connection, journal, held, target, keyframe)) {
    const entries = await findEntries(connection, journal, held.version + 1, target.version);
    return { ...found, onto: held.version === 0 ? "nothing" : "held", entries };
  }
  const body = keyframe && await loadText(connection, keyframe.body);
  const onto: Keyframe | undefined = keyframe && body !== undefined ? { ...keyframe, body } : undefined;
  const entries = await findEntries(connection, journal, onto === undefined ? 1 : firstEntry(onto), target.version);
  return { ...found, onto: onto ?? "nothing", entries };
}

/** The answer to a caller that holds just what it asks for. */
export function alreadyHeld(head: Head): Found {
  return { outcome: "found", head, target: "held", onto: "held", entries: [] };
}

/** Whether entries lead all the way to what was found. */
export function isWhole({ target, onto, entries }: Found, held: Held | undefined): boolean {
  if (target === undefined || target === "held") return target === "held";
  const base = onto === "held" ? held?.version ?? 0 : onto === "nothing" ? 0 : firstEntry(onto) - 1;
  return base + entries.length === target.version;
}

/** Whether what is held is part of this journal, not beyond the target, and no dearer than the keyframe. */
async function isCheaper(
  connection: Connection,
  journal: string,
  held: Held,
  target: Stamp,
  keyframe: StoredKeyframe | undefined,
): Promise<boolean> {
  if (held.version >= target.version) return false;
  if (held.version === 0) return true;
  const [stamp, past] = await findStamps(connection, journal, [held.version, keyframe?.version ?? held.version]);
  if (stamp?.writeId !== held.writeId) return false;
  if (keyframe === undefined || keyframe.version <= held.version) return true;
  return past === undefined || past.offset - stamp.offset <= keyframe.bytes;
}

function toStamp({ version, writeId, at, turn, writer, seq, offset }: StoredEntry): Stamp {
  return { version, writeId, at, turn, writer, seq, offset };
}
