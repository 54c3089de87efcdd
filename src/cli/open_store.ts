/**
 * A store to look into: one that is there already. To look makes no database.
 *
 * @module
 */

import { needsOf, openMaintenance } from "../backends/open.ts";
import { BackendError } from "../document/errors.ts";
import { HandleStore } from "../store/store.ts";
import type { Call } from "./call.ts";
import { backendOf } from "./flags.ts";

/** Opens the store that a call is about. @throws {BackendError} if there is no database. */
export async function openStore(call: Call): Promise<HandleStore> {
  const url = await backendOf(call);
  await requireDatabase(url);
  return await HandleStore.fromUrl(url);
}

/** Opens for maintenance what is there already. @throws {BackendError} if there is no database. */
export async function openSource(url: string): ReturnType<typeof openMaintenance> {
  await requireDatabase(url);
  return await openMaintenance(url);
}

/** @throws {BackendError} if a backend keeps its state in a file, and there is none. */
async function requireDatabase(url: string): Promise<void> {
  const { file } = await needsOf(url);
  if (file === undefined) return;
  try {
    await Deno.stat(file);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new BackendError(
      `There is no database at ${file}: a server makes it when it first starts. Is the URL right?`,
    );
  }
}
