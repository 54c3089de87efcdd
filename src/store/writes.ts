/**
 * What the writing methods of a store are called with, checked, and turned into plans for the queue.
 *
 * @module
 */

import type { DocumentKey } from "../backends/backend.ts";
import {
  checkInteger,
  checkKind,
  checkRequestId,
  checkTitle,
  checkTtlChange,
  checkWriter,
  checkWriteTurn,
  MAX_FIRST_TURN,
} from "../document/checks.ts";
import { InternalError, InvalidInput } from "../document/errors.ts";
import type { JsonObject } from "../document/json.ts";
import type { PatchOperation } from "../document/ops.ts";
import { parseOps } from "../document/parse_ops.ts";
import type { Snapshot } from "../document/snapshot.ts";
import { create, drawn } from "./create.ts";
import { holdToKind, type StandardSchema } from "./kind.ts";
import type { MintOptions, OfKind, RestoreOptions, SaveOptions, Settings, WriteOptions } from "./options.ts";
import { type Planner, planPatch, planRestore, planSave } from "./plans.ts";
import type { Reader } from "./reader.ts";
import { type Request, toRequest } from "./requests.ts";
import { firstState, type KeyChange, planUpdate, type UpdateOptions, writeOrMake } from "./update.ts";
import { Writer } from "./writer.ts";

/** What a write may change of the head. */
interface Extra {
  readonly ttlDays?: number | null;
  readonly title?: string;
}

/** The writes of one store. What is wrong with a call is thrown at once, what becomes of it is promised. */
export class Writes {
  readonly #reader: Reader;
  readonly #settings: Settings;
  readonly #writer: Writer;
  readonly #schemas = new Map<string, StandardSchema>();

  constructor(reader: Reader, settings: Settings) {
    this.#reader = reader;
    this.#settings = settings;
    this.#writer = new Writer(reader, settings);
  }

  /** Holds every write of a kind to a schema. @throws {TypeError} if it has another one already. */
  hold(kind: string, schema: StandardSchema): void {
    checkKind(kind);
    const known = this.#schemas.get(kind);
    if (known !== undefined && known !== schema) throw new TypeError(`the kind ${kind} has another schema already`);
    this.#schemas.set(kind, schema);
  }

  /** Version 1 of a document with a handle of its own. */
  async make(
    kind: string,
    state: unknown,
    options: Omit<MintOptions, "user">,
    handleLength: number,
    userOf: (handle: string) => string,
  ): Promise<Snapshot> {
    const document = { kind, state, options, schema: this.#schemas.get(kind) };
    const made = await create(this.#reader, this.#settings, document, drawn(kind, handleLength, userOf));
    if (made === undefined) throw new InternalError({ cause: new Error("no free handle was drawn") });
    return made;
  }

  save(key: DocumentKey, state: unknown, options: SaveOptions & OfKind): Promise<Snapshot> {
    const expected = checkInteger("expect_version", options.expectVersion, 1);
    const onConflict = options.onConflict ?? "fail";
    if (onConflict !== "fail" && onConflict !== "merge") {
      throw new InvalidInput("on_conflict", 'on_conflict must be "fail" or "merge".');
    }
    const ttlDays = checkTtlChange(options.ttlDays);
    const title = checkTitle(options.title);
    const { plan, state: admitted } = planSave(this.#reader, key, state, expected, onConflict);
    const args = () => ({
      handle: key.id,
      state: admitted,
      expected,
      onConflict,
      ttlDays: ttlDays ?? null,
      keep: ttlDays === undefined,
      title: title ?? null,
    });
    return this.#write(key, "save", args, plan, options, { ttlDays, title });
  }

  patch(key: DocumentKey, ops: readonly PatchOperation[], options: WriteOptions & OfKind): Promise<Snapshot> {
    const parsed = parseOps(ops);
    const args = () => ({ handle: key.id, ops: parsed.map((op) => ({ ...op })) });
    return this.#write(key, "patch", args, planPatch(parsed), options);
  }

  restore(key: DocumentKey, version: number, options: RestoreOptions & OfKind): Promise<Snapshot> {
    const old = checkInteger("version", version, 1);
    const expected = checkInteger("expect_version", options.expectVersion, 1);
    const plan = planRestore(this.#reader, key, old, expected);
    return this.#write(key, "restore", () => ({ handle: key.id, version: old, expected }), plan, options);
  }

  async update(key: DocumentKey, change: KeyChange, options: UpdateOptions): Promise<Snapshot> {
    const { create: kind } = options;
    const turn = checkWriteTurn(options.turn);
    const ttlDays = checkTtlChange(options.ttlDays);
    const request = toRequest(checkRequestId(options.requestId), "update", {
      handle: key.id,
      args: options.args ?? null,
    });
    const plan = planUpdate(change, turn);
    const write = () => this.#queue(key, request, plan, { ...options, kind }, { ttlDays });
    if (kind === undefined) return await write();
    // No document begins in such a turn: whether this is one that has come so far, only writing to it tells.
    const isKnown = this.#reader.cache.current(key) !== undefined || (turn ?? 0) > MAX_FIRST_TURN;
    return await writeOrMake(isKnown, write, async () => {
      const state = firstState(change, turn);
      const document = {
        kind,
        state,
        options: { ...options, ttlDays: ttlDays ?? undefined },
        schema: this.#schemas.get(kind),
        request,
      };
      return await create(this.#reader, this.#settings, document, () => [key]);
    });
  }

  #write(
    key: DocumentKey,
    operation: string,
    args: () => JsonObject,
    plan: Planner,
    options: WriteOptions & OfKind,
    extra?: Extra,
  ): Promise<Snapshot> {
    const id = checkRequestId(options.requestId);
    const request = id === undefined ? undefined : toRequest(id, operation, args());
    return this.#queue(key, request, plan, options, extra);
  }

  #queue(
    key: DocumentKey,
    request: Request | undefined,
    plan: Planner,
    options: WriteOptions & OfKind,
    extra?: Extra,
  ): Promise<Snapshot> {
    return this.#writer.write(key, {
      plan: holdToKind(plan, options.kind, this.#schemas),
      writer: options.writer === undefined ? this.#settings.writer : checkWriter(options.writer),
      turn: checkWriteTurn(options.turn),
      title: extra?.title,
      ttlDays: extra?.ttlDays,
      request,
    });
  }
}
