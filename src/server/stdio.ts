/**
 * Serves a store on standard input and output, for one fixed user.
 *
 * @module
 */

import { serveStdio as serve } from "@modelcontextprotocol/server/stdio";
import type { HandleStore } from "../store/store.ts";
import { cutText } from "./budget.ts";
import type { ServerOptions } from "./call.ts";
import { createServer } from "./server.ts";
import { ConnectionEvents } from "./subscriptions.ts";
import { StdioTransport } from "./transport.ts";

/** How long requests that were taken may go on after the end. Clients allow 2 s in all before they kill. */
const FINISH_MS = 1_500;

/** A connection on standard input and output. */
export interface StdioConnection {
  /** Settles when the client has closed its end, or after {@link StdioConnection.close}. */
  readonly closed: Promise<void>;
  /** Takes no more requests, answers those it took, and ends. A second time is fine. */
  close(): Promise<void>;
}

/**
 * Serves until the client closes its end. The store stays open and is yours to close.
 *
 * From here on nothing but JSON-RPC may be written to standard output, so `console.log` and its like go to standard
 * error until the connection is closed.
 */
export function serveStdio(store: HandleStore, options: ServerOptions): StdioConnection {
  const restoreConsole = sendConsoleToStderr();
  const report = (error: unknown) =>
    console.error(`mcpstate: ${cutText(error instanceof Error ? error.message : String(error), 500)}`);
  const events = new ConnectionEvents(store, options.user, report);
  const transport = new StdioTransport((message) => events.listen(message));
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const connection = serve(({ era }) => {
    const push = era === "modern" ? "listen" : "subscribe";
    const server = createServer(store, options, { push });
    events.speakTo(server, push);
    return server;
  }, { transport, onerror: report });
  let closing: Promise<void> | undefined;
  const close = () =>
    closing ??= (async () => {
      transport.stopReading();
      await transport.answered(FINISH_MS);
      events[Symbol.dispose]();
      await connection.close();
      restoreConsole();
      resolve();
    })();
  transport.ended.then(close);
  return { closed, close };
}

const WRITES_TO_STDOUT = [
  "log",
  "info",
  "debug",
  "dir",
  "dirxml",
  "table",
  "group",
  "groupCollapsed",
  "count",
] as const;

function sendConsoleToStderr(): () => void {
  const before = WRITES_TO_STDOUT.map((name) => [name, console[name]] as const);
  for (const name of WRITES_TO_STDOUT) console[name] = console.error;
  return () => Object.assign(console, Object.fromEntries(before));
}
