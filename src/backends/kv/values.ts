/**
 * Records of the database as the port's. One that is damaged throws; it is never guessed at.
 *
 * @module
 */

import { BackendError } from "../../document/errors.ts";
import type { Keyframe, Stamp } from "../../document/journal.ts";
import type { Head, RequestRecord, Tombstone } from "../records.ts";

/** Some consecutive chunks of those that were written together. */
export interface Chunks {
  readonly stage: string;
  readonly from: number;
  readonly count: number;
}

/** A text: its UTF-8 bytes, or the chunks that hold them. */
export type StoredText = Uint8Array | Chunks;

/** A live document. */
export interface Live {
  /** The name of its journal: a new one each time that a document is made, even where the id is the same. */
  readonly journal: string;
  readonly head: Head;
  /** The write id of version 1; empty if nobody will send that again. */
  readonly firstWriteId: string;
}

/** What is left of a document that is no more. */
export interface Buried {
  readonly tombstone: Tombstone;
  /** When the tombstone is forgotten. */
  readonly dueAt: number;
  /** Its last version. */
  readonly version: number;
  /** {@link Live.firstWriteId}. */
  readonly firstWriteId: string;
}

/** What is known of a user as a whole. */
export interface UserRecord {
  readonly name: string;
  readonly seq: number;
  readonly live: number;
  readonly forgotten: number;
}

/** An entry, and where its body is. */
export interface StoredEntry extends Stamp {
  readonly body: StoredText;
}

/** A keyframe, and where its body is. */
export interface StoredKeyframe extends Omit<Keyframe, "body"> {
  readonly body: StoredText;
}

/** A request, and where its metadata is. */
export interface StoredRequest extends Omit<RequestRecord, "meta"> {
  readonly meta: StoredText;
}

/** The intent to use `count` chunks, or a journal that is on its way in. */
export type Intent =
  | { readonly count: number; readonly at: number }
  | { readonly journal: string; readonly at: number };

/** What is invisible and still to be deleted: the part of a journal before a version, or some chunks. */
export type Leftover = Chunks | { readonly journal: string; readonly before: number };

type Fields = Readonly<Record<string, unknown>>;

/** @throws {BackendError} if the record is damaged. */
export function toDocument(value: unknown): Live | Buried {
  const fields = toFields(value, "document");
  const firstWriteId = text(fields, "firstWriteId");
  if (fields.tombstone === undefined) {
    return { journal: text(fields, "journal"), head: toHead(fields.head), firstWriteId };
  }
  const [dueAt, version] = [number(fields, "dueAt"), number(fields, "version")];
  return { tombstone: toTombstone(fields.tombstone), dueAt, version, firstWriteId };
}

/** The same; `undefined` if the record is damaged, for readers that one record must not stop. */
export function readDocument(value: unknown): Live | Buried | undefined {
  return unlessDamaged(() => toDocument(value));
}

function unlessDamaged<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof BackendError) return undefined;
    throw error;
  }
}

/** The id in the record of a document, also in one that cannot be read otherwise. */
export function idIn(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  const record = "head" in value ? value.head : "tombstone" in value ? value.tombstone : undefined;
  return typeof record === "object" && record !== null && "id" in record ? record.id : undefined;
}

function toTombstone(value: unknown): Tombstone {
  const fields = toFields(value, "tombstone");
  const { status } = fields;
  if (status !== "deleted" && status !== "expired") throw damaged("status");
  return {
    id: text(fields, "id"),
    status,
    kind: text(fields, "kind"),
    goneAt: number(fields, "goneAt"),
    ttlDays: optional(number, fields, "ttlDays"),
    seq: number(fields, "seq"),
    createdSeq: number(fields, "createdSeq"),
    writeId: text(fields, "writeId"),
  };
}

function toHead(value: unknown): Head {
  const fields = toFields(value, "head");
  const base = toFields(fields.base, "base");
  return {
    id: text(fields, "id"),
    kind: text(fields, "kind"),
    title: optional(text, fields, "title"),
    version: number(fields, "version"),
    writeId: text(fields, "writeId"),
    createdAt: number(fields, "createdAt"),
    updatedAt: number(fields, "updatedAt"),
    writer: text(fields, "writer"),
    turn: number(fields, "turn"),
    firstTurn: number(fields, "firstTurn"),
    ttlDays: optional(number, fields, "ttlDays"),
    expiresAt: optional(number, fields, "expiresAt"),
    bytes: number(fields, "bytes"),
    oldest: number(fields, "oldest"),
    offset: number(fields, "offset"),
    base: { version: number(base, "version"), bytes: number(base, "bytes"), offset: number(base, "offset") },
    seq: number(fields, "seq"),
    createdSeq: number(fields, "createdSeq"),
  };
}

/** @throws {BackendError} if the record is damaged. */
export function toUser(value: unknown): UserRecord {
  const fields = toFields(value, "user");
  return {
    name: text(fields, "name"),
    seq: number(fields, "seq"),
    live: number(fields, "live"),
    forgotten: number(fields, "forgotten"),
  };
}

/** The same; `undefined` if the record is damaged or missing. */
export function readUser(value: unknown): UserRecord | undefined {
  return unlessDamaged(() => toUser(value));
}

/** @throws {BackendError} if the record is damaged. */
export function toEntry(value: unknown): StoredEntry {
  const fields = toFields(value, "entry");
  return {
    version: number(fields, "version"),
    writeId: text(fields, "writeId"),
    at: number(fields, "at"),
    turn: number(fields, "turn"),
    writer: text(fields, "writer"),
    seq: number(fields, "seq"),
    offset: number(fields, "offset"),
    body: storedText(fields, "body"),
  };
}

/** @throws {BackendError} if the record is damaged. */
export function toKeyframe(value: unknown): StoredKeyframe {
  const fields = toFields(value, "keyframe");
  return {
    version: number(fields, "version"),
    writeId: text(fields, "writeId"),
    bytes: number(fields, "bytes"),
    body: storedText(fields, "body"),
  };
}

/** @throws {BackendError} if the record is damaged. */
export function toRequest(value: unknown): StoredRequest {
  const fields = toFields(value, "request");
  return {
    id: text(fields, "id"),
    fingerprint: text(fields, "fingerprint"),
    meta: storedText(fields, "meta"),
    documentId: text(fields, "documentId"),
    version: number(fields, "version"),
    writeId: text(fields, "writeId"),
    at: number(fields, "at"),
    turn: number(fields, "turn"),
    ttlDays: optional(number, fields, "ttlDays"),
    expiresAt: optional(number, fields, "expiresAt"),
  };
}

/** @throws {BackendError} if the record is damaged. */
export function toIntent(value: unknown): Intent {
  const fields = toFields(value, "intent");
  const at = number(fields, "at");
  return fields.journal === undefined
    ? { count: number(fields, "count"), at }
    : { journal: text(fields, "journal"), at };
}

/** The same; `undefined` if the record is damaged. */
export function readIntent(value: unknown): Intent | undefined {
  return unlessDamaged(() => toIntent(value));
}

/** Whether it can be read as a leftover. */
export function isLeftover(value: unknown): boolean {
  return unlessDamaged(() => toLeftover(value)) !== undefined;
}

/** @throws {BackendError} if the record is damaged. */
export function toLeftover(value: unknown): Leftover {
  const fields = toFields(value, "leftover");
  if (isChunks(value)) return value;
  return { journal: text(fields, "journal"), before: number(fields, "before") };
}

/** The chunks that a record of any kind points to. Damaged ones point to none. */
export function chunksOf(value: unknown): Chunks[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap((field) => isChunks(field) ? field : []);
}

function isChunks(value: unknown): value is Chunks {
  return typeof value === "object" && value !== null && "stage" in value && typeof value.stage === "string" &&
    "from" in value && typeof value.from === "number" && "count" in value && typeof value.count === "number";
}

function toFields(value: unknown, name: string): Fields {
  if (typeof value === "object" && value !== null) return { ...value };
  throw damaged(name);
}

/** Reads a field. @throws {BackendError} if it holds something else. */
type FieldReader<T> = (fields: Fields, name: string) => T;

function reader<T>(isRight: (value: unknown) => value is T): FieldReader<T> {
  return (fields, name) => {
    const value = fields[name];
    if (isRight(value)) return value;
    throw damaged(name);
  };
}

/** @throws {BackendError} if the field holds no number. */
export const number: FieldReader<number> = reader((value) => typeof value === "number");
const text = reader((value) => typeof value === "string");
const storedText = reader((value): value is StoredText => value instanceof Uint8Array || isChunks(value));

function optional<T>(read: FieldReader<T>, fields: Fields, name: string): T | undefined {
  return fields[name] === undefined ? undefined : read(fields, name);
}

function damaged(name: string): BackendError {
  return new BackendError(`A record in the database is damaged (${name}). Run doctor to see which.`);
}
