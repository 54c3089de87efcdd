/**
 * The signals by which a system says stop.
 *
 * @module
 */

/** What ends a server or a watch as it should. */
export const STOP_SIGNALS: readonly Deno.Signal[] = Deno.build.os === "windows"
  ? ["SIGINT", "SIGBREAK"]
  : ["SIGINT", "SIGTERM", "SIGHUP"];
