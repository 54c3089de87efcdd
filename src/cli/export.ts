/**
 * `export`: a store as JSON Lines, into a file or to standard output.
 *
 * @module
 */

import { exportStore } from "../admin/export.ts";
import { checkUser } from "../document/checks.ts";
import { BackendError } from "../document/errors.ts";
import type { Call } from "./call.ts";
import { backendOf } from "./flags.ts";
import { openSource } from "./open_store.ts";
import { startProgress } from "./progress.ts";
import { printable } from "./terminal.ts";

/** About how many characters are written at once. */
const CHUNK = 64 * 1024;

/** Writes it out. Answers 1 if some document could not be read; the export says so in its place. */
export async function exportTo(call: Call): Promise<number> {
  const [path = "-"] = call.arguments;
  const user = await call.checked("user", checkUser);
  await using source = await openSource(await backendOf(call));
  const sink = path === "-" ? Deno.stdout.writable : await makeFile(path);
  const writer = sink.getWriter();
  const encoder = new TextEncoder();
  const progress = startProgress();
  let unreadable = 0;
  let lines = 0;
  let pending = "";
  const onUnreadable = (key: { readonly user: string; readonly id: string }, problem: string) => {
    unreadable++;
    console.error(`mcpstate: ${printable(key.id)} of ${printable(key.user)} could not be read: ${printable(problem)}`);
  };
  for await (const line of exportStore(source, { user, onUnreadable })) {
    pending += `${line}\n`;
    progress.show(`${++lines} lines`);
    if (pending.length < CHUNK) continue;
    await writer.write(encoder.encode(pending));
    pending = "";
  }
  await writer.write(encoder.encode(pending));
  if (path === "-") writer.releaseLock();
  else await writer.close();
  progress.end();
  return unreadable === 0 ? 0 : 1;
}

/** A file that was not there: what another command has written is not written over. It is its owner's alone. */
async function makeFile(path: string): Promise<WritableStream<Uint8Array>> {
  try {
    return (await Deno.open(path, { write: true, createNew: true, mode: 0o600 })).writable;
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    throw new BackendError(`There is a file ${path} already. Name another one, or remove it.`);
  }
}
