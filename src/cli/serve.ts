/**
 * `serve`: the MCP server on standard input and output, until the client closes its end or the system says stop.
 *
 * @module
 */

import { toWriter } from "../server/call.ts";
import { serveStdio } from "../server/stdio.ts";
import { HandleStore } from "../store/store.ts";
import { readSettings } from "./flags.ts";
import { clientConfiguration, isGranted, remark, type Requirements, requirementsOf, runLine } from "./permissions.ts";
import { sweepInBackground } from "./sweeper.ts";

const STOP_SIGNALS: readonly Deno.Signal[] = Deno.build.os === "windows"
  ? ["SIGINT", "SIGBREAK"]
  : ["SIGINT", "SIGTERM", "SIGHUP"];

/** Serves. Answers the exit code. */
export async function serve(args: readonly string[]): Promise<number> {
  const requirements = await requirementsOf(await readSettings(args));
  if (!await isGranted(requirements)) {
    refuse(requirements);
    return 1;
  }
  const { backend, user, maxStateBytes, writer = await hostName() } = requirements.settings;
  const store = await HandleStore.fromUrl(backend, { ...(maxStateBytes === undefined ? {} : { maxStateBytes }) });
  const connection = serveStdio(store, { user, ...(writer === undefined ? {} : { writer }) });
  const stop = () => void connection.close();
  for (const signal of STOP_SIGNALS) Deno.addSignalListener(signal, stop);
  const stopSweeping = sweepInBackground(store);
  if (Deno.stdin.isTerminal()) introduce(requirements);
  await connection.closed;
  stopSweeping();
  for (const signal of STOP_SIGNALS) Deno.removeSignalListener(signal, stop);
  await store.close();
  return 0;
}

/** The name of this host, if it may be asked for. */
async function hostName(): Promise<string | undefined> {
  const { state } = await Deno.permissions.query({ name: "sys", kind: "hostname" });
  return state === "granted" ? toWriter(Deno.hostname()) : undefined;
}

function refuse(requirements: Requirements): void {
  console.error(
    `mcpstate: not allowed to keep state at ${placeIn(requirements)}. Nothing was written. Run:\n\n` +
      `${runLine(requirements)}\n${remark(requirements)}`,
  );
}

function placeIn({ directory, needs }: Requirements): string {
  if (directory !== undefined || needs.hosts.length > 0) return directory ?? needs.hosts.join(", ");
  return needs.unstable.length > 0 ? "Deno KV" : "memory, until it ends";
}

/** For a person who started it by hand. A client hears nothing of it. */
function introduce(requirements: Requirements): void {
  console.error(
    `mcpstate: serving MCP on standard input and output for the user ${JSON.stringify(requirements.settings.user)}, ` +
      `state in ${placeIn(requirements)}.\n` +
      `It waits for a client, which usually starts it itself. To make yours do so:\n\n` +
      `${clientConfiguration(requirements)}\n\nCtrl-C or Ctrl-D to stop.`,
  );
}
