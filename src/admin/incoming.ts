/**
 * A document on its way in, line by line: folded as it comes, under the rules that every write is under.
 *
 * @module
 */

import type { Adoption } from "../backends/maintenance.ts";
import { admit, admitState } from "../document/admit.ts";
import { checkInteger, checkText } from "../document/checks.ts";
import { InvalidInput, StateTooLarge } from "../document/errors.ts";
import { isArray, isObject, type JsonValue } from "../document/json.ts";
import { decodeBody, EMPTY, fold, type Folded, type Keyframe, type PortableEntry } from "../document/journal.ts";
import { decodeKeyframe, encodeKeyframe, KEYFRAME_FORMAT } from "../document/keyframe.ts";
import { parsePath } from "../document/path.ts";
import { damageOf } from "./damage.ts";
import { digest } from "./format.ts";
import type { DocumentLine, EntryLine, KeyframeLine } from "./parse.ts";

/** Collects a document until it is whole. Every method throws `InvalidInput` for what may not come in. */
export class Incoming {
  readonly #head: DocumentLine;
  readonly #entries: PortableEntry[] = [];
  #keyframe: Keyframe | undefined;
  #folded: Folded = EMPTY;

  /** @throws {InvalidInput} if the head contradicts itself. */
  constructor(head: DocumentLine) {
    this.#head = head;
    const { version, oldest, turn, firstTurn, createdAt, updatedAt, ttlDays, expiresAt, sha256 } = head;
    if (oldest > version) throw new InvalidInput("oldest", `oldest is ${oldest}, beyond version ${version}.`);
    if (firstTurn > turn || (firstTurn === 0) !== (turn === 0)) {
      throw new InvalidInput("first_turn", `first_turn ${firstTurn} does not go with turn ${turn}.`);
    }
    if (createdAt > updatedAt) throw new InvalidInput("updated_at", "updated_at is before created_at.");
    if (ttlDays !== undefined && expiresAt === undefined) {
      throw new InvalidInput("expires_at", "ttl_days is set, but not expires_at.");
    }
    if (!/^[0-9a-f]{64}$/.test(sha256)) throw new InvalidInput("sha256", "sha256 must be 64 hexadecimal digits.");
  }

  /** Whether every entry has come. */
  get isComplete(): boolean {
    return this.#entries[this.#entries.length - 1]?.version === this.#head.version;
  }

  /** @throws {InvalidInput} if it does not belong here, or is damaged. */
  keyframe({ version, writeId, bytes, body }: KeyframeLine): void {
    if (this.#keyframe !== undefined || this.#entries.length > 0) {
      throw new InvalidInput("keyframe", "A keyframe comes once, before the entries.");
    }
    if (version > this.#head.oldest) {
      throw new InvalidInput(
        "version",
        `The keyframe of version ${version} is beyond the oldest, ${this.#head.oldest}.`,
      );
    }
    if (!isObject(body) || body.format !== KEYFRAME_FORMAT) {
      throw new InvalidInput("body", `The keyframe is not of format ${KEYFRAME_FORMAT}, which is read here.`);
    }
    const state = admitState(body.state, "body.state");
    if (state.bytes !== bytes) {
      throw new InvalidInput("bytes", `The keyframe's state has ${state.bytes} bytes, not ${bytes}.`);
    }
    const keys = admit(body.keys, "body.keys").value;
    const text = JSON.stringify({ format: KEYFRAME_FORMAT, keys, state: state.value });
    const folded = decodeKeyframe({ version, writeId, bytes, body: text });
    if (folded === undefined || !isSound(folded)) {
      throw new InvalidInput("body.keys", "The keyframe's history of keys is damaged.");
    }
    this.#keyframe = encodeKeyframe(folded);
    this.#folded = folded;
  }

  /** @throws {InvalidInput} if it does not follow what came before, or leaves what no state may be. */
  entry(line: EntryLine): void {
    const { version, at, turn } = line;
    const last = this.#entries[this.#entries.length - 1];
    const next = last === undefined ? this.#keyframe?.version ?? 1 : last.version + 1;
    if (version !== next) throw new InvalidInput("version", `Entry ${next} is missing: found ${version}.`);
    if (version > this.#head.version) {
      throw new InvalidInput("version", `Entry ${version} is beyond the document, which is at ${this.#head.version}.`);
    }
    if (at < (last?.at ?? this.#head.createdAt)) {
      throw new InvalidInput("at", `Entry ${version} is older than what is before it.`);
    }
    if (turn < (last?.turn ?? 0) || turn > this.#head.turn || turn > 0 && turn < this.#head.firstTurn) {
      throw new InvalidInput("turn", `Entry ${version} is filed under turn ${turn}, which goes back or was never.`);
    }
    const { writeId, writer } = line;
    const entry = { version, writeId, at, turn, writer, body: admitBody(line.body) };
    if (last === undefined && this.#keyframe !== undefined) {
      if (entry.writeId !== this.#keyframe.writeId) {
        throw new InvalidInput("write_id", `Entry ${version} is not the one that the keyframe is of.`);
      }
    } else this.#folded = folding(this.#folded, entry);
    this.#entries.push(entry);
  }

  /** The document, whole. @throws {InvalidInput | StateTooLarge} if it is not what its head says, or too large. */
  finish(maxStateBytes: number): Adoption {
    const { type: _, user: _user, sha256, ...head } = this.#head;
    const { writeId, writer, at } = this.#entries[this.#entries.length - 1];
    const { state, bytes } = this.#folded;
    if (bytes > maxStateBytes) throw new StateTooLarge(bytes, maxStateBytes);
    if (bytes !== head.bytes) throw new InvalidInput("bytes", `The state has ${bytes} bytes, not ${head.bytes}.`);
    if (digest(state) !== sha256) {
      throw new InvalidInput("sha256", "The state is not the one that was exported: its SHA-256 differs.");
    }
    if (at !== head.updatedAt) {
      throw new InvalidInput("updated_at", "updated_at is not when the last entry was written.");
    }
    return { head: { ...head, writeId, writer }, keyframe: this.#keyframe, entries: this.#entries };
  }
}

function folding(before: Folded, entry: PortableEntry): Folded {
  try {
    return fold(before, [entry]);
  } catch (error) {
    throw new InvalidInput("body", `Entry ${entry.version} does not fold: ${damageOf(error)}.`);
  }
}

/** The text of an entry's body, every value in it let in at the depth where it will stand. */
function admitBody(body: unknown): string {
  if (!isArray(body)) return JSON.stringify(admitState(body, "body").value);
  let patch;
  try {
    patch = decodeBody(JSON.stringify(body.map(admitOperation)));
  } catch (error) {
    throw new InvalidInput("body", `The body is no JSON Patch: ${damageOf(error)}.`);
  }
  return JSON.stringify("patch" in patch ? patch.patch : patch.state);
}

function admitOperation(operation: JsonValue): JsonValue {
  if (!isObject(operation) || typeof operation.path !== "string") return null; // decodeBody says what is wrong
  const { path, value } = operation;
  if (path !== "" && !path.startsWith("/")) throw new InvalidInput("body", "a path is no JSON Pointer");
  const tokens = parsePath(path, "body");
  if (tokens.includes("__proto__")) throw new InvalidInput("body", 'a path holds a key named "__proto__"');
  const names = Object.keys(operation).filter((name) => name !== "op" && name !== "path" && name !== "value");
  if (names.length > 0) throw new InvalidInput("body", `an operation has a field ${JSON.stringify(names[0])}`);
  if (value === undefined) return operation;
  return { ...operation, value: admit(value, "body", tokens.length).value };
}

/** Whether a history holds what a history can. */
function isSound({ version, keys }: Folded): boolean {
  const seen = new Set<unknown>();
  for (const [key, writes] of keys) {
    if (typeof key !== "string") return false;
    if (seen.has(writes)) continue; // keys that were written together share theirs
    seen.add(writes);
    try {
      const { versions, turns, first, last, recentTurns, previous } = writes;
      checkInteger("versions", versions, 1, version);
      checkInteger("turns", turns, 0, versions);
      checkInteger("first.version", first.version, 1, last.version);
      checkInteger("last.version", last.version, first.version, version);
      checkInteger("first.turn", first.turn, 0, last.turn);
      checkInteger("last.turn", last.turn, first.turn);
      checkText("last.writer", last.writer, 256);
      for (const turn of recentTurns) checkInteger("recent_turns", turn, 1, last.turn);
      if (previous === undefined) continue;
      const { turn, until } = previous;
      checkInteger("previous.turn", turn, first.turn, until.turn);
      checkInteger("previous.until.turn", until.turn, turn, last.turn);
      checkInteger("previous.until.version", until.version, first.version + 1, last.version);
    } catch {
      return false;
    }
  }
  return true;
}
