/**
 * `serve`: the MCP server on standard input and output, until the client closes its end or the system says stop. Over
 * HTTP that is a module of its own.
 *
 * @module
 */

import { toWriter } from "../server/call.ts";
import { serveStdio } from "../server/stdio.ts";
import { HandleStore } from "../store/store.ts";
import type { Call } from "./call.ts";
import { backendOf, maxStateBytesOf, userOf, writerOf } from "./flags.ts";
import { runWords } from "./permissions.ts";
import { type Requirements, requirementsOf } from "./requirements.ts";
import { onStop } from "./stop.ts";
import { sweepInBackground } from "./sweeper.ts";
import { openTelemetry } from "./telemetry.ts";

/** Serves. Answers the exit code. */
export async function serve(call: Call): Promise<number> {
  if (call.text("transport") === "http") return await (await import("./serve_http.ts")).serveOverHttp(call);
  const [user, maxStateBytes] = [await userOf(call), await maxStateBytesOf(call)];
  const writer = await writerOf(call) ?? await hostName();
  const store = await HandleStore.fromUrl(await backendOf(call), maxStateBytes === undefined ? {} : { maxStateBytes });
  using told = openTelemetry(store, "pipe");
  const { telemetry } = told;
  const connection = serveStdio(store, { user, telemetry, ...(writer === undefined ? {} : { writer }) });
  const stop = () => void connection.close();
  const ignore = onStop(stop);
  const stopSweeping = sweepInBackground(store);
  if (Deno.stdin.isTerminal()) introduce(user, await requirementsOf(call));
  await connection.closed;
  stopSweeping();
  ignore();
  await store.close();
  return 0;
}

/** The name of this host, if it may be asked for. */
async function hostName(): Promise<string | undefined> {
  const { state } = await Deno.permissions.query({ name: "sys", kind: "hostname" });
  return state === "granted" ? toWriter(Deno.hostname()) : undefined;
}

/** For a person who started it by hand. A client hears nothing of it. */
function introduce(user: string, requirements: Requirements): void {
  console.error(
    `mcpstate: serving MCP on standard input and output for the user ${JSON.stringify(user)}, ` +
      `state in ${requirements.place}.\n` +
      `It waits for a client, which usually starts it itself. To make yours do so:\n\n` +
      `${clientConfiguration(requirements)}\n\nCtrl-C or Ctrl-D to stop.`,
  );
}

/** What to paste into a client's configuration. */
function clientConfiguration(requirements: Requirements): string {
  const { secrets } = requirements;
  const env = secrets.length === 0 ? {} : { env: Object.fromEntries(secrets.map((name) => [name, "…"])) };
  const server = { command: "deno", args: ["run", ...runWords(requirements)], ...env };
  return JSON.stringify({ mcpServers: { mcpstate: server } }, null, 2);
}
