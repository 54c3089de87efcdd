/**
 * The MCP server as a library: tools over a {@link HandleStore}, on a transport of yours or on stdio.
 *
 * ```ts ignore
 * import { HandleStore } from "jsr:@mcpstate/server";
 * import { serveStdio } from "jsr:@mcpstate/server/server";
 *
 * await using store = await HandleStore.fromUrl();
 * const connection = serveStdio(store, { user: "alice" });
 * await connection.closed;
 * ```
 *
 * @module
 */

export type { ServerOptions, StateStore } from "./call.ts";
export { addStateTools, type ToolHost } from "./server.ts";
export { serveStdio, type StdioConnection } from "./stdio.ts";
export { type ServedRequest, type Telemetry, toTelemetry } from "./telemetry.ts";
export type {
  Attributes,
  Context,
  InstrumentOptions,
  Meter,
  Providers,
  Span,
  SpanContext,
  SpanOptions,
} from "./open_telemetry.ts";
export type { StoreCounts } from "../store/counts.ts";
