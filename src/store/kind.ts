/**
 * Typed kinds: a schema that every state of a kind must satisfy, whatever wrote it.
 *
 * @module
 */

import { InvalidInput } from "../document/errors.ts";
import { admit } from "../document/admit.ts";
import { equal, type JsonObject } from "../document/json.ts";
import type { PatchOperation } from "../document/ops.ts";
import { toPointer } from "../document/path.ts";
import type { Snapshot } from "../document/snapshot.ts";
import type { GetOptions, MintOptions, RestoreOptions, SaveOptions, WriteOptions } from "./options.ts";
import type { Planner } from "./plans.ts";
import type { HandleStore } from "./store.ts";

/** The part of a Standard Schema (https://standardschema.dev, version 1) that is used: zod, valibot, arktype and others have it. */
export interface StandardSchema<Output = unknown> {
  /** The schema itself, under the name that the specification gives. */
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

/** What a Standard Schema answers. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** Why a value does not satisfy a schema, and where. */
export interface SchemaIssue {
  /** For a person. */
  readonly message: string;
  /** From the root of the value. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/**
 * Checks a folded state against a schema.
 *
 * @throws {InvalidInput} naming the path of the first issue, or saying that the schema would alter the value.
 */
export async function checkSchema(schema: StandardSchema, kind: string, state: JsonObject): Promise<void> {
  // A schema gets a copy: it may write to what it is given.
  const result = await schema["~standard"].validate(structuredClone(state));
  if (result.issues !== undefined) {
    const [issue] = result.issues;
    const path = toPointer((issue?.path ?? []).map((part) => String(typeof part === "object" ? part.key : part)));
    const place = path === "" ? "" : ` at ${JSON.stringify(path)}`;
    throw new InvalidInput(
      "state",
      `The state${place} does not fit the kind ${JSON.stringify(kind)}: ${issue?.message ?? "refused"}.`,
      path,
    );
  }
  let admitted;
  try {
    admitted = admit(result.value, "state").value;
  } catch {
    admitted = undefined;
  }
  if (admitted !== undefined && equal(admitted, state)) return;
  throw new InvalidInput(
    "state",
    `The schema of the kind ${
      JSON.stringify(kind)
    } would alter the state (a default, a coercion, an unknown key). Send the state as the schema leaves it.`,
  );
}

/** A plan that is refused for a document of another kind than `kind`, and held to the schema of the document's own. */
export function holdToKind(
  plan: Planner,
  kind: string | undefined,
  schemas: ReadonlyMap<string, StandardSchema>,
): Planner {
  if (kind === undefined && schemas.size === 0) return plan;
  return async (current) => {
    const actual = current.head.kind;
    if (kind !== undefined && actual !== kind) {
      throw new InvalidInput(
        "kind",
        `The handle is of the kind ${JSON.stringify(actual)}, not ${JSON.stringify(kind)}.`,
      );
    }
    const planned = await plan(current);
    const schema = schemas.get(actual);
    if (schema !== undefined && planned.outcome === "write") await checkSchema(schema, actual, planned.after.state);
    return planned;
  };
}

/** The methods of a store for one kind, typed by its schema. Old versions are read as they are, unchecked. */
export interface TypedKind<State> {
  /** The kind. */
  readonly name: string;
  /** Mints a handle of this kind. */
  mint(state: State, options: MintOptions): Promise<string>;
  /** Reads, see {@link HandleStore.get}. @throws {InvalidInput} if the handle is of another kind. */
  get(handle: string, options: GetOptions): Promise<TypedSnapshot<State>>;
  /** Replaces, see {@link HandleStore.save}. */
  save(handle: string, state: State, options: SaveOptions): Promise<TypedSnapshot<State>>;
  /** Edits, see {@link HandleStore.patch}. */
  patch(handle: string, ops: readonly PatchOperation[], options: WriteOptions): Promise<TypedSnapshot<State>>;
  /** Restores, see {@link HandleStore.restore}. */
  restore(handle: string, version: number, options: RestoreOptions): Promise<TypedSnapshot<State>>;
}

/** A {@link Snapshot} whose state has the type of its kind. */
export type TypedSnapshot<State> = Omit<Snapshot, "state"> & { readonly state: State };

/** The typed view of a store on one kind, whose schema the store knows. */
export function typedKind<State>(store: HandleStore, name: string): TypedKind<State> {
  const typed = (snapshot: Snapshot): TypedSnapshot<State> => {
    if (snapshot.kind !== name) {
      throw new InvalidInput(
        "handle",
        `The handle ${JSON.stringify(snapshot.handle)} is of the kind ${JSON.stringify(snapshot.kind)}, not ${
          JSON.stringify(name)
        }.`,
      );
    }
    // Its schema let the state in; old versions are read as they are, as documented.
    return snapshot as unknown as TypedSnapshot<State>;
  };
  return {
    name,
    mint: (state, options) => store.mint(name, state, options),
    get: async (handle, options) => typed(await store.get(handle, options)),
    save: async (handle, state, options) => typed(await store.save(handle, state, { ...options, kind: name })),
    patch: async (handle, ops, options) => typed(await store.patch(handle, ops, { ...options, kind: name })),
    restore: async (handle, version, options) =>
      typed(await store.restore(handle, version, { ...options, kind: name })),
  };
}
