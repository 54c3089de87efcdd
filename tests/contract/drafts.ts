/**
 * What a store would ask of a backend, and how the answers are compared: shared by the cases of the contract.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import type {
  Append,
  Appended,
  Backend,
  Creation,
  DocumentKey,
  EntryDraft,
  Expected,
  Found,
  Head,
  Removal,
  RequestDraft,
  Want,
} from "../../src/backends/backend.ts";
import { type Entry, entryBytes, type Keyframe, type Stamp } from "../../src/document/journal.ts";

export const TRIP: DocumentKey = { user: "alice", id: "trip_copenhagen" };
export const HEAD: Want = { as: "head" };
export const COPENHAGEN = '{"city":"Copenhagen"}';
export const AARHUS = '[{"op":"replace","path":"/city","value":"Aarhus"}]';
export const ODENSE = '[{"op":"replace","path":"/city","value":"Odense"}]';

/** So many seconds as days. */
export function seconds(count: number): number {
  return count / 86_400;
}

/** An entry that follows a journal of so many bytes. */
export function entryDraft(body: string, before: number, more: Partial<EntryDraft> = {}): EntryDraft {
  return { writeId: crypto.randomUUID(), writer: "laptop", body, offset: before + entryBytes(body), ...more };
}

/** A document to create. */
export function creation(more: Partial<Creation> = {}, entry: Partial<EntryDraft> = {}): Creation {
  const draft = entryDraft(entry.body ?? COPENHAGEN, 0, entry);
  return { kind: "trip", entry: draft, bytes: draft.body.length, quota: 100_000, ...more };
}

/** Creates a document, and answers its head. */
export async function mint(
  backend: Backend,
  key: DocumentKey,
  entry: Partial<EntryDraft> = {},
  more: Partial<Creation> = {},
): Promise<Head> {
  const answer = await backend.create(key, creation(more, entry));
  assert(answer.outcome === "appended", answer.outcome);
  return answer.head;
}

/** What a writer that has just seen this head builds upon. */
export function expected(head: Head): Expected {
  const { version, writeId, turn } = head;
  return { version, writeId, turn, head };
}

/** Consecutive entries after this head. */
export function appendAfter(
  head: Head,
  bodies: readonly string[],
  more: Partial<Append> = {},
  entry: Partial<EntryDraft> = {},
): Append {
  let before = head.offset;
  const steps = bodies.map((body) => {
    const draft = entryDraft(body, before, entry);
    before = draft.offset;
    return { entry: draft };
  });
  return { steps, bytes: bodies.at(-1)?.length ?? head.bytes, oldest: head.oldest, ...more };
}

/** Appends entries, and answers the whole answer. */
export async function append(backend: Backend, key: DocumentKey, head: Head, append: Append): Promise<Appended> {
  const answer = await backend.append(key, expected(head), append);
  assert(answer.outcome === "appended", answer.outcome);
  return answer;
}

/** Appends bodies, and answers the head. */
export async function write(
  backend: Backend,
  key: DocumentKey,
  head: Head,
  bodies: readonly string[],
  entry: Partial<EntryDraft> = {},
): Promise<Head> {
  return (await append(backend, key, head, appendAfter(head, bodies, {}, entry))).head;
}

/** The keyframe of the last entry of an append, as it will be. */
export function keyframeOf(head: Head, { steps }: Append, body: string): Keyframe {
  const drafts = steps.flatMap(({ entry }) => entry ?? []);
  const { writeId } = drafts[drafts.length - 1];
  return { version: head.version + drafts.length, writeId, bytes: body.length, body };
}

/** The entries that an append made. */
export function entriesOf({ steps }: Append, stamps: readonly Stamp[]): Entry[] {
  const bodies = steps.flatMap(({ entry }) => entry?.body ?? []);
  return stamps.map((stamp, i) => ({ ...stamp, body: bodies[i] }));
}

/** What is read of a document that must be there. */
export async function find(
  backend: Backend,
  key: DocumentKey,
  want: Want = HEAD,
  held?: { readonly version: number; readonly writeId: string },
): Promise<Found> {
  const answer = await backend.read(key, want, held);
  assert(answer.outcome === "found", answer.outcome);
  return answer;
}

/** A deletion. */
export function removal(expected?: number, request?: RequestDraft): Removal {
  return { writeId: crypto.randomUUID(), expected, request };
}

/** A request with its facts. */
export function requestDraft(id: string): RequestDraft {
  return { id, fingerprint: `fingerprint of ${id}`, meta: JSON.stringify({ about: id }) };
}

/** Asserts deep equality, an absent field and an `undefined` one being the same. */
export function assertSame(actual: unknown, wanted: unknown, message?: string): void {
  assertEquals(known(actual), known(wanted), message);
}

function known(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(known);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(fields.map(([name, field]) => [name, known(field)]));
}

/** The fields of a stamp, whatever else came with it. */
export function stampOf(stamp: Stamp | "held" | undefined): Stamp | "held" | undefined {
  if (stamp === undefined || stamp === "held") return stamp;
  const { version, writeId, at, turn, writer, seq, offset } = stamp;
  return { version, writeId, at, turn, writer, seq, offset };
}

/** Waits for a condition. */
export async function until(condition: () => Promise<boolean> | boolean, what: string): Promise<void> {
  for (const deadline = Date.now() + 20_000; Date.now() < deadline;) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`waited in vain: ${what}`);
}

/** Waits until a document that is minted now with this time to live has expired, and so all that were minted before. */
export async function outlive(backend: Backend, ttlDays: number): Promise<void> {
  const key = { user: "the clock", id: `tick_${crypto.randomUUID()}` };
  await mint(backend, key, { ttlDays });
  await until(async () => (await backend.read(key, HEAD)).outcome === "gone", "a document expires");
}
