/**
 * Telemetry of a server that is run as a program. Deno itself sends it, if the variable `OTEL_DENO` is set: that takes no
 * permission, and without it nothing is counted for it.
 *
 * @module
 */

import type { StoreCounts } from "../store/counts.ts";
import { type Telemetry, toTelemetry } from "../server/telemetry.ts";

/** Where Deno registers at its start, if it is to send telemetry, for programs that use `npm:@opentelemetry/api` 1. */
const REGISTERED = Symbol.for("opentelemetry.js.api.1");

/** Telemetry that is on. */
export interface Told extends Disposable {
  readonly telemetry: Telemetry | undefined;
}

/** Tells of a store, and of requests by what is answered. Nothing, if nobody is there to be told. */
export function openTelemetry(store: { readonly counts: StoreCounts }, transport: "tcp" | "pipe"): Told {
  if (!(REGISTERED in globalThis)) return { telemetry: undefined, [Symbol.dispose]: () => {} };
  const showAddresses = transport === "tcp" ? hideAddresses() : () => {};
  const telemetry = toTelemetry(Deno.telemetry, transport);
  const stop = telemetry.counting(store);
  return {
    telemetry,
    [Symbol.dispose]() {
      stop();
      showAddresses();
    },
  };
}

/**
 * Deno makes a span of each HTTP request by itself, with its whole address: in which `/threads/` is followed by a handle,
 * which may be the only secret, and by names out of a state; and a query may hold a token, though none is taken there.
 * What was set once stays in a span of Deno's, so it is kept from being set.
 */
function hideAddresses(): () => void {
  const probe = Deno.telemetry.tracerProvider.getTracer("mcpstate").startSpan("probe"); // never ended, so never sent
  const spans: { setAttribute(key: string, value: unknown): unknown } = Object.getPrototypeOf(probe);
  const { setAttribute } = spans;
  spans.setAttribute = function (key, value) {
    return setAttribute.call(this, key, typeof value === "string" ? withoutSecrets(key, value) : value);
  };
  return () => spans.setAttribute = setAttribute;
}

function withoutSecrets(key: string, value: string): string {
  switch (key) {
    case "url.query":
      return "";
    case "url.path":
    case "url.full":
      return value.replace(/[?#].*$/s, "").replace(/(?<=\/threads\/).*$/s, "{handle}");
    default:
      return value;
  }
}
