/**
 * Durable, user-keyed, versioned state for stateless MCP servers: a server mints a handle, the model carries it, the
 * store keeps what it names, with its whole past.
 *
 * Import it for {@link HandleStore}; run it (`deno run jsr:@mcpstate/server`) for a ready-made MCP server on stdio.
 *
 * ```ts
 * import { append, HandleStore } from "jsr:@mcpstate/server";
 *
 * await using store = await HandleStore.fromUrl("sqlite:///:memory:");
 * const handle = await store.mint("research", { sources: [] }, { user: "alice", ttlDays: 7 });
 * await store.patch(handle, [append("sources", "https://example.com")], { user: "alice" });
 * const now = await store.get(handle, { user: "alice" });
 * const before = await store.get(handle, { user: "alice", version: 1 });
 * console.log(now.state, before.state);
 * ```
 *
 * @module
 */

export { HandleStore } from "./src/store/store.ts";
export { DEFAULT_URL, openBackend, type OpenOptions } from "./src/backends/open.ts";
export type { Backend } from "./src/backends/backend.ts";
export type {
  ChangesOptions,
  GetOptions,
  HandleStoreOptions,
  ListOptions,
  MintOptions,
  OfKind,
  RestoreOptions,
  Retention,
  RevokeOptions,
  SaveOptions,
  TouchOptions,
  UserOptions,
  WriteOptions,
} from "./src/store/options.ts";
export type { ChangePage } from "./src/store/changes.ts";
export type { StoreCounts } from "./src/store/counts.ts";
export type { ExpiredHandle, HandlePage } from "./src/store/pages.ts";
export type { ChangeEvent, EndEvent, GapEvent, Watch, WatchEvent, WatchOptions } from "./src/store/watch.ts";
export type { Revoked } from "./src/store/revoke.ts";
export type { SchemaIssue, SchemaResult, StandardSchema, TypedKind, TypedSnapshot } from "./src/store/kind.ts";
export type { HandleView } from "./src/store/view.ts";
export type { KeyChange, KeyUpdate, UpdateOptions, UpdatePlace } from "./src/store/update.ts";
export {
  openThreads,
  type PublishOptions,
  type Threads,
  type ThreadsOptions,
  type ThreadState,
} from "./src/history/threads.ts";
export type { ForkPoint } from "./src/history/thread_fork.ts";
export {
  readThreadKey,
  type ThreadFound,
  type ThreadKeyReading,
  type ThreadPoint,
  type ThreadReading,
  type ThreadValue,
} from "./src/history/thread_reading.ts";
export type { KeyHistory, KeyWrites } from "./src/document/key_writes.ts";
export {
  type CheckpointHistory,
  checkpoints,
  type CheckpointSnapshots,
  type CheckpointsOptions,
} from "./src/history/checkpoints.ts";
export type {
  CheckpointConfig,
  CheckpointSource,
  CheckpointTuple,
  DeltaHistory,
  PendingWrite,
} from "./src/history/checkpoint_source.ts";
export type { SessionReducer } from "./src/history/checkpoint_state.ts";
export {
  type EvictedEntry,
  type LostValue,
  mergeToolState,
  type SessionState,
  type SessionUpdate,
  type StateEntry,
  type StateWrite,
} from "./src/history/entry.ts";
export type { Snapshots, ThreadHistory, TurnRange, TurnReading } from "./src/history/port.ts";
export {
  type InspectStateOptions,
  type InspectStateTool,
  makeInspectState,
  type SessionContext,
} from "./src/history/tool.ts";
export type { Change, HandleInfo, Snapshot, WireMetadata } from "./src/document/snapshot.ts";
export type { JsonArray, JsonObject, JsonValue } from "./src/document/json.ts";
export type { JsonPatch, JsonPatchOperation } from "./src/document/json_patch.ts";
export {
  addToSet,
  append,
  delKey,
  increment,
  mergeInto,
  type PatchOperation,
  type PatchOperationName,
  type PatchOptions,
  removeValue,
  setKey,
} from "./src/document/ops.ts";
export {
  BackendError,
  type BackendErrorOptions,
  type Conflict,
  type ErrorCode,
  type ErrorPayload,
  HandleExpired,
  HandleNotFound,
  InternalError,
  InvalidInput,
  NoTurnHistory,
  PatchError,
  type PatchReason,
  PathNotFound,
  QuotaExceeded,
  type Range,
  RateLimited,
  type StaleDetails,
  StaleWrite,
  StateError,
  StateTooLarge,
  TurnNotFound,
  TurnPruned,
  Unauthenticated,
  VersionNotFound,
  VersionPruned,
} from "./src/document/errors.ts";

// In a worker import.meta.main is true as well, and there it is no program.
if (import.meta.main && !("WorkerGlobalScope" in globalThis)) await (await import("./src/main.ts")).main();
