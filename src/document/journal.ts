/**
 * A document's journal: one entry per version, and the fold that turns entries into a state.
 *
 * @module
 */

import { freeze, isArray, isObject, type JsonObject, type JsonValue } from "./json.ts";
import { Draft, type JsonPatch, type Sized } from "./json_patch.ts";
import { countWrites, KeyCounter, type KeyHistory, patchedKeys, replacedKeys } from "./key_writes.ts";
import { byteLength } from "./byte_length.ts";

/** What is known of an entry without its body. All but the write id, the version itself included, only ever grow. */
export interface Stamp {
  /** 1, 2, 3, … without gaps. */
  readonly version: number;
  /** A random name for this write: after a failover a version may come back with other content, a write id may not. */
  readonly writeId: string;
  /** When it was written, in milliseconds since 1970, by the backend's clock. */
  readonly at: number;
  /** The turn it belongs to; 0 before any turn was named. */
  readonly turn: number;
  /** Who wrote it. */
  readonly writer: string;
  /** Its place among everything of this user. */
  readonly seq: number;
  /** Bytes of the journal up to and including this entry, {@link entryBytes} each. */
  readonly offset: number;
}

/** One entry: its stamp, and the change as JSON text. */
export interface Entry extends Stamp {
  /** A JSON Patch (an array) from the version before, or the whole state (an object) where that is shorter. */
  readonly body: string;
}

/** What of an entry goes from one store to another: its place among the others is each store's own. */
export type PortableEntry = Omit<Entry, "seq" | "offset">;

/** A derived record: the folded state of one version, so that reading it needs no older entry. */
export interface Keyframe {
  /** The version that is folded here. */
  readonly version: number;
  /** The write id of that version. */
  readonly writeId: string;
  /** UTF-8 bytes of the state. */
  readonly bytes: number;
  /** See `keyframe.ts`. */
  readonly body: string;
}

/** A version of a document, folded. */
export interface Folded extends Sized {
  readonly version: number;
  readonly writeId: string;
  /** How often each top-level key was written up to this version. */
  readonly keys: KeyHistory;
}

/** What an entry is charged beyond its body: its stamp and the engine's own bookkeeping. */
export const ENTRY_OVERHEAD = 100;
/** How far beyond twice the state a read may go before a keyframe is due. */
export const KEYFRAME_SLACK = 16 * 1024;

/** What an entry of this body is charged, in bytes. */
export function entryBytes(body: string): number {
  return byteLength(body) + ENTRY_OVERHEAD;
}

/** Where reading a version starts: the newest keyframe, or entry 1. */
export interface Base {
  /** Which version that is. */
  readonly version: number;
  /** Bytes of the state there. */
  readonly bytes: number;
  /** {@link Stamp.offset} of the entry there. */
  readonly offset: number;
}

/** Whether a version that would be read from `base` through entries up to `offset` deserves a keyframe of its own. */
export function isKeyframeDue(base: Base, offset: number, bytes: number): boolean {
  return base.bytes + (offset - base.offset) > 2 * bytes + KEYFRAME_SLACK;
}

/** Up to this many characters an entry is a patch even where the state is shorter: it tells a reader more. */
const SMALL_PATCH = 1024;

/** The body of an entry: the patch, or the state where that is shorter and the difference counts. */
export function encodeBody(patch: JsonPatch, after: Sized): string {
  // A text is at least as many bytes as characters, so this never picks the state where it is the longer one.
  const most = Math.max(after.bytes, SMALL_PATCH);
  const text = leastLength(patch) <= most ? JSON.stringify(patch) : undefined;
  return text !== undefined && text.length <= most ? text : JSON.stringify(after.state);
}

/** How long the text of a patch is at least, so that one of a megabyte is not made only to be thrown away. */
function leastLength(patch: JsonPatch): number {
  let length = 1;
  for (const operation of patch) {
    length += '{"op":"","path":""},'.length + operation.op.length + operation.path.length;
    if (operation.op === "remove" || typeof operation.value !== "string") continue;
    length += ',"value":""'.length + operation.value.length;
  }
  return length;
}

/** The change that an entry's body holds. */
export type Body = { readonly patch: JsonPatch } | { readonly state: JsonObject };

/** @throws {TypeError} if the text is no entry's body: the record is damaged. */
export function decodeBody(body: string): Body {
  const value: JsonValue = freeze(JSON.parse(body));
  if (isArray(value)) return { patch: value.map(checkedOperation) };
  if (!isObject(value)) throw new TypeError("an entry's body is neither a patch nor a state");
  return { state: value };
}

function checkedOperation(value: JsonValue): JsonPatch[number] {
  if (isObject(value) && typeof value.path === "string") {
    const { op, path, value: operand } = value;
    if (op === "remove") return { op, path };
    if ((op === "add" || op === "replace") && operand !== undefined) return { op, path, value: operand };
  }
  throw new TypeError("an entry's patch holds something that is no operation");
}

/** The change of an entry as a JSON Patch; a whole state replaces the root. */
export function toPatch(body: Body): JsonPatch {
  return "patch" in body ? body.patch : [{ op: "replace", path: "", value: body.state }];
}

/** Nothing: what entry 1 is folded onto. */
export const EMPTY: Folded = { version: 0, writeId: "", state: Object.freeze({}), bytes: 2, keys: new Map() };

/**
 * The state after some consecutive entries.
 *
 * @throws {TypeError} if an entry is missing or damaged.
 */
export function fold(base: Folded, entries: readonly PortableEntry[]): Folded {
  if (entries.length === 0) return base;
  const draft = new Draft(base);
  const counter = new KeyCounter(base.keys);
  let version = base.version;
  for (const entry of entries) {
    if (entry.version !== version + 1) throw new TypeError(`entry ${version + 1} is missing: found ${entry.version}`);
    version = entry.version;
    const body = decodeBody(entry.body);
    const keys = "state" in body ? replacedKeys(draft.peek(), body.state) : patchedKeys(draft.peek(), body.patch);
    if ("state" in body) draft.replace(body.state);
    else draft.apply(body.patch);
    counter.count(keys, entry, draft.peek(), () => draft.size);
  }
  return { ...draft.finish(), version, writeId: entries[entries.length - 1].writeId, keys: counter.finish() };
}

/** A write on its way into the journal. */
export interface Advance {
  readonly patch: JsonPatch;
  /** What the patch makes of the state before. */
  readonly after: Sized;
  readonly writeId: string;
  readonly writer: string;
  readonly turn: number;
}

/** The next version, by its writer, who has folded it already. */
export function advance(before: Folded, { patch, after, writeId, writer, turn }: Advance): Folded {
  const version = before.version + 1;
  const keys = patchedKeys(before.state, patch);
  return { ...after, version, writeId, keys: countWrites(before.keys, keys, { version, turn, writer }, after.state) };
}
