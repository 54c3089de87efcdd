/**
 * Takes whole documents in.
 *
 * A small one lands in one commit. The journal of a large one is written before, under a name that no document has yet, with
 * an intent that each commit checks and renews; then one step makes it visible. Its sequence numbers must be known when it is
 * written, so they leap ahead of the user's: others may write meanwhile, and if they come that far it begins anew.
 *
 * @module
 */

import { BackendError } from "../../document/errors.ts";
import { type Relaid, relay } from "../../document/relay.ts";
import type { Adoption, PortableHead, PortableTombstone } from "../maintenance.ts";
import { inParts } from "../parts.ts";
import { type DocumentKey, type Head, TOMBSTONE_MS } from "../records.ts";
import { abandon, toParts } from "./bodies.ts";
import type { Connection, Mutation } from "./connection.ts";
import type { KvEntry } from "./database.ts";
import { cleanUpQuietly } from "./leftovers.ts";
import { load, runStep } from "./step.ts";
import type { Buried, Chunks, Intent, StoredEntry, StoredKeyframe, StoredText } from "./values.ts";
import { putHead } from "./write.ts";

/** The most that one commit brings: less than it may, since a record has more than its text. */
const COMMIT_BYTES = 600_000;
/** The most records of one commit. */
const COMMIT_RECORDS = 300;
/** About what a record has beside its text. */
const RECORD_BYTES = 500;
/** How far the sequence numbers of what is written before leap ahead at first. */
const LEAP = 1_000;
/** How often it begins anew because a sweep has taken it for an orphan, or others have written too much meanwhile. */
const ATTEMPTS = 8;

/** Takes a document in. */
export async function adoptDocument(
  connection: Connection,
  key: DocumentKey,
  what: Adoption | PortableTombstone,
): Promise<"adopted" | "exists"> {
  if ("status" in what) return await adoptTombstone(connection, key, what);
  const relaid = relay(what.entries, what.keyframe, what.head.oldest);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const answer = isSmall(relaid)
      ? await adoptSmall(connection, key, what.head, relaid)
      : await adoptLarge(connection, key, what.head, relaid, LEAP * 4 ** (attempt - 1));
    if (answer !== "late") return answer;
  }
  throw new BackendError(
    "Others write so much for this user that a large document cannot come in. Nothing was changed.",
    {
      busy: true,
    },
  );
}

function adoptSmall(connection: Connection, key: DocumentKey, head: PortableHead, relaid: Relaid) {
  const journal = crypto.randomUUID();
  return land(connection, key, journal, head, relaid, (seq) => toMutations(connection, journal, relaid, seq));
}

async function adoptLarge(
  connection: Connection,
  key: DocumentKey,
  head: PortableHead,
  relaid: Relaid,
  leap: number,
): Promise<"adopted" | "exists" | "late"> {
  const { entry, document, counter } = await load(connection, key);
  if (document !== undefined || entry.versionstamp !== null) return "exists";
  const journal = crypto.randomUUID();
  const seq = counter.take(leap, 0) + leap;
  const ahead = await writeAhead(
    connection,
    key.user,
    journal,
    inParts(toMutations(connection, journal, relaid, seq), sizeOf, { size: COMMIT_BYTES, items: COMMIT_RECORDS }),
  );
  if (ahead === undefined) return "late";
  let answer: "adopted" | "exists" | "late" = "late";
  try {
    return answer = await land(connection, key, journal, head, relaid, () => [], { seq, intent: ahead });
  } finally {
    if (answer !== "adopted") await giveUp(connection, ahead);
  }
}

/** Writes a journal that no document has yet; answers its intent, or nothing if a sweep has taken it for an orphan. */
async function writeAhead(
  connection: Connection,
  user: string,
  journal: string,
  commits: readonly (readonly Mutation[])[],
): Promise<KvEntry | undefined> {
  const key = connection.keys.intent(user, journal);
  let intent: KvEntry = { key, value: undefined, versionstamp: null };
  for (const mutations of commits) {
    const renewed = await connection.insist(async () => {
      const value: Intent = { journal, at: connection.now() };
      const versionstamp = await connection.commit({ checks: [intent], mutations: [...mutations, { key, value }] });
      if (versionstamp !== undefined) return { intent: { key, value, versionstamp } };
      const seen = await connection.get(key);
      return seen.versionstamp === intent.versionstamp ? undefined : { intent: undefined };
    });
    if (renewed.intent === undefined) return undefined;
    intent = renewed.intent;
  }
  return intent;
}

/** What was written before, and the sequence number that its first entry has. */
interface Ahead {
  readonly seq: number;
  readonly intent: KvEntry;
}

/** The step that makes a document visible, with what is written in it. */
async function land(
  connection: Connection,
  key: DocumentKey,
  journal: string,
  head: PortableHead,
  { entries, base, folded }: Relaid,
  write: (seq: number) => Iterable<Mutation>,
  ahead?: Ahead,
): Promise<"adopted" | "exists" | "late"> {
  return await runStep(connection, key.user, async (step) => {
    const { entry, document, counter } = await load(connection, key);
    if (document !== undefined) return isAdopted(document, journal) ? "adopted" : "exists";
    if (ahead !== undefined) {
      const seen = await connection.get(ahead.intent.key);
      const skipped = ahead.seq - counter.take(0, 0);
      if (seen.versionstamp !== ahead.intent.versionstamp || skipped < 0) return "late";
      counter.take(skipped, 0);
      step.check(ahead.intent);
      step.delete(ahead.intent.key);
    }
    step.check(entry);
    const createdSeq = counter.take(entries.length, 1);
    for (const mutation of write(createdSeq)) step.mutations.push(mutation);
    const { offset } = entries[entries.length - 1];
    const seq = createdSeq + entries.length - 1;
    const adopted: Head = { ...head, id: key.id, bytes: folded.bytes, offset, base, seq, createdSeq };
    putHead(connection, step, key.user, { journal, head: adopted, firstWriteId: "" });
    counter.save(step, connection);
    return "adopted";
  });
}

function isAdopted(document: Awaited<ReturnType<typeof load>>["document"], journal: string): boolean {
  return document !== undefined && "journal" in document && document.journal === journal;
}

async function giveUp(connection: Connection, intent: KvEntry): Promise<void> {
  try {
    const leftover = await abandon(connection, intent);
    if (leftover !== undefined) await cleanUpQuietly(connection, leftover, Infinity);
  } catch {
    // Somebody's sweep will do it.
  }
}

async function adoptTombstone(
  connection: Connection,
  key: DocumentKey,
  { id: _, ...tombstone }: PortableTombstone,
): Promise<"adopted" | "exists"> {
  const { keys } = connection;
  return await runStep(connection, key.user, async (step) => {
    const { entry, document, counter } = await load(connection, key);
    if (document !== undefined) return "exists";
    step.check(entry);
    const seq = counter.take(1, 0);
    const own = { id: key.id, seq, createdSeq: seq, writeId: crypto.randomUUID() };
    const dueAt = step.now + TOMBSTONE_MS;
    const buried: Buried = { tombstone: { ...tombstone, ...own }, dueAt, version: 0, firstWriteId: "" };
    step.set(keys.due(key, buried.dueAt), key.id);
    step.set(keys.listed(key.user, seq), buried);
    step.set(keys.document(key), buried);
    counter.save(step, connection);
    return "adopted";
  });
}

/** Whether it goes into one commit. */
function isSmall({ entries, keyframes }: Relaid): boolean {
  const bytes = entries[entries.length - 1].offset + keyframes.reduce((sum, { body }) => sum + 3 * body.length, 0);
  const records = 2 * entries.length + keyframes.length;
  return records <= COMMIT_RECORDS && bytes + records * RECORD_BYTES <= COMMIT_BYTES;
}

/** Every record of a journal, in the order of versions; each before the chunks that it names. */
function* toMutations(connection: Connection, journal: string, relaid: Relaid, seq: number): Generator<Mutation> {
  const { keys } = connection;
  const { entries, keyframes } = relaid;
  let chunks = 0;
  const place = (text: string): { readonly stored: StoredText; readonly chunks: readonly Mutation[] } => {
    const parts = toParts(text);
    if (parts.length === 1) return { stored: parts[0], chunks: [] };
    const from = chunks;
    chunks += parts.length;
    const stored: Chunks = { stage: journal, from, count: parts.length };
    return { stored, chunks: parts.map((value, i) => ({ key: keys.chunk(journal, from + i), value })) };
  };
  let next = 0;
  for (const [i, { body, ...stamp }] of entries.entries()) {
    const { version, turn } = stamp;
    const text = place(body);
    const value: StoredEntry = { ...stamp, seq: seq + i, body: text.stored };
    yield { key: [...keys.entries(journal), version], value };
    yield* text.chunks;
    // Only the last version of a turn is in the index.
    if (turn > 0 && entries[i + 1]?.turn !== turn) yield { key: [...keys.turns(journal), turn], value: version };
    if (keyframes[next]?.version !== version) continue;
    const { body: state, ...keyframe } = keyframes[next++];
    const frame = place(state);
    const kept: StoredKeyframe = { ...keyframe, body: frame.stored };
    yield { key: [...keys.keyframes(journal), version], value: kept };
    yield* frame.chunks;
  }
}

function sizeOf(mutation: Mutation): number {
  return RECORD_BYTES + ("value" in mutation ? bodyBytes(mutation.value) : 0);
}

function bodyBytes(value: unknown): number {
  if (value instanceof Uint8Array) return value.length;
  if (typeof value !== "object" || value === null || !("body" in value)) return 0;
  return value.body instanceof Uint8Array ? value.body.length : 0;
}
