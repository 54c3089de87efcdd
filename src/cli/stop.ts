/**
 * The signals by which a system says stop.
 *
 * @module
 */

/** What ends a server or a watch as it should. */
const STOP_SIGNALS: readonly Deno.Signal[] = Deno.build.os === "windows"
  ? ["SIGINT", "SIGBREAK"]
  : ["SIGINT", "SIGTERM", "SIGHUP"];

/** Calls `stop` when the system says so, until what is answered is called. */
export function onStop(stop: () => void): () => void {
  for (const signal of STOP_SIGNALS) Deno.addSignalListener(signal, stop);
  return () => {
    for (const signal of STOP_SIGNALS) Deno.removeSignalListener(signal, stop);
  };
}
