/**
 * Makes calls of a store and writes down what was asked and what came of it.
 *
 * @module
 */

import type { Snapshot } from "../../src/document/snapshot.ts";
import type { WatchEvent } from "../../src/store/watch.ts";
import type { HandleStore } from "../../src/store/store.ts";
import type { AboutOne, Call, Result, Seen } from "./history.ts";
import { digest, edited, toOps } from "./reference.ts";

/** Whose documents all calls are about. */
export const USER = "alice";

/** One who holds what he was last answered, and builds upon it. */
export class Client {
  /** The newest version that was seen of each document. */
  readonly seen = new Map<string, Snapshot>();

  constructor(public store: HandleStore) {}

  /** Makes a call; with `repeatable`, as one that may be repeated under its label. */
  async make(label: string, call: Call, repeatable: boolean): Promise<Result> {
    try {
      return await this.#make(label, call, repeatable ? label : undefined);
    } catch (error) {
      return toResult(error);
    }
  }

  async #make(label: string, call: Call, requestId: string | undefined): Promise<Result> {
    if (call.do === "mint") {
      return this.#note(await this.store.create("cart", call.state, { user: USER, writer: label, requestId }));
    }
    if (call.do === "list") {
      const versions: Record<string, number> = {};
      let cursor: string | undefined;
      for (;;) {
        const page = await this.store.list(USER, { limit: 2, cursor });
        for (const { handle, version } of page.handles) versions[handle] = version;
        cursor = page.cursor;
        if (cursor === undefined) return { is: "list", versions };
      }
    }
    if (call.do === "sweep") {
      await this.store.sweep(USER);
      return { is: "swept" };
    }
    return await this.#about(label, call, requestId);
  }

  async #about(label: string, call: AboutOne, requestId: string | undefined): Promise<Result> {
    const { handle } = call;
    const options = { user: USER, writer: label, requestId };
    switch (call.do) {
      case "patch":
        return this.#note(await this.store.patch(handle, toOps(call.edits), options));
      case "save": {
        const base = this.seen.get(handle);
        if (base?.version !== call.expect) throw new Error("a save is based on what was seen");
        const onConflict = call.merge ? "merge" : "fail";
        const state = edited(base.state, call.edits);
        return this.#note(await this.store.save(handle, state, { ...options, expectVersion: call.expect, onConflict }));
      }
      case "restore":
        return this.#note(
          await this.store.restore(handle, call.version, { ...options, expectVersion: call.expect }),
        );
      case "get":
        return this.#note(await this.store.get(handle, { user: USER, version: call.version }));
      case "changes": {
        const page = await this.store.changes(handle, { user: USER, since: call.since, limit: 20 });
        const changes = page.changes.map(({ version, writer, at, patch }) => ({
          version,
          writer,
          at,
          digest: digest(patch),
        }));
        return { is: "changes", changes, current: page.currentVersion, more: page.more };
      }
      case "touch":
        return toVersion(await this.store.touch(handle, { user: USER, ttlDays: call.ttlDays }));
      case "revoke": {
        const { version } = await this.store.revoke(handle, { user: USER, expectVersion: call.expect, requestId });
        return { is: "revoked", version };
      }
    }
  }

  #note(snapshot: Snapshot): Result {
    const { handle, version } = snapshot;
    if (snapshot.replayed && !isReadable(snapshot)) return { is: "unknown" };
    if (snapshot.replayed === undefined && version >= (this.seen.get(handle)?.version ?? 0)) {
      this.seen.set(handle, snapshot);
    }
    return toVersion(snapshot);
  }
}

/** A replay answers that the write has landed, also where its state cannot be fetched just then. */
function isReadable(snapshot: Snapshot): boolean {
  try {
    return snapshot.state !== undefined;
  } catch (error) {
    if (toResult(error).is === "refused" && Object(error).code === "backend_error") return false;
    throw error;
  }
}

function toVersion(snapshot: Snapshot): Result {
  const { handle, version, state, lastWriter, updatedAt, expiresAt, replayed } = snapshot;
  const current = replayed ? version : snapshot.currentVersion;
  const ends = replayed || expiresAt === undefined ? {} : { expiresAt };
  return { is: "version", handle, version, digest: digest(state), current, writer: lastWriter, at: updatedAt, ...ends };
}

// By its payload, not by its class: a variant under test has classes of its own.
function toResult(error: unknown): Result {
  if (!(error instanceof Error) || !("toPayload" in error) || typeof error.toPayload !== "function") {
    return { is: "refused", code: "crash", message: error instanceof Error ? error.stack : String(error) };
  }
  const { code, message, outcome_unknown, current, expired_at } = error.toPayload();
  if (outcome_unknown === true) return { is: "unknown" };
  return {
    is: "refused",
    code,
    message,
    ...(current === undefined ? {} : { current: current.version }),
    ...(expired_at === undefined ? {} : { expiredAt: expired_at }),
  };
}

/** An event as it is written down. */
export function toSeen(event: WatchEvent, seenAt: number): Seen {
  switch (event.type) {
    case "change": {
      const { type, handle, version, writer, at } = event;
      return { type, handle, version, writer, at, seenAt };
    }
    case "gap":
      return { type: event.type, handle: event.handle, reason: event.reason, seenAt };
    case "deleted":
    case "expired":
      return { type: event.type, handle: event.handle, at: event.at, seenAt };
  }
}
