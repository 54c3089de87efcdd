/**
 * What an operator sees of the requests of clients: a span and a duration for each, and the counts of the store. None of
 * it holds a state, a handle, a token, a user, or anything else that a caller made up.
 *
 * Names are those of OpenTelemetry's conventions for MCP and generative AI
 * (github.com/open-telemetry/semantic-conventions-genai, docs/gen-ai/mcp.md) where there are any, else `mcpstate.…`.
 *
 * @module
 */

import { isObject } from "../document/json.ts";
import type { StoreCounts } from "../store/counts.ts";
import type { Attributes, Context, Providers, Span, SpanContext } from "./open_telemetry.ts";
import { VERSION } from "./version.ts";

/** A request of a client's, as far as an operator may know it. */
export interface ServedRequest {
  /** The method of the protocol, such as `tools/call`. */
  readonly method: string;
  /** The tool that it calls; one of the server's own. */
  readonly tool?: string;
  /** The prompt that it asks for; one of the server's own. */
  readonly prompt?: string;
  /** Its `_meta`, in which a client may say of which trace it is part (`traceparent`), and the revision that it speaks. */
  readonly meta: Readonly<Record<string, unknown>>;
}

/** Who is told of what a server does. */
export interface Telemetry {
  /** Has a request answered, and tells of it. What the answer is, or is thrown, stays as it is. */
  served<Result>(request: ServedRequest, answer: () => Promise<Result>): Promise<Result>;
  /** Tells of a store's counts from now on, every few seconds. Answers how to stop, with which the last are told. */
  counting(store: { readonly counts: StoreCounts }): () => void;
}

/** What `npm:@opentelemetry/api` numbers so. */
const SERVER_KIND = 1;
const ERROR_STATUS = 2;
/** Where it keeps the span of a context. */
const SPAN_KEY = Symbol.for("OpenTelemetry Context Key SPAN");

/** As the conventions have it for `mcp.server.operation.duration`, in seconds. */
const DURATION_BUCKETS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

/** How often the counts of a store are told. */
const TELL_MS = 5_000;

/** The counts of a store, as they are told. */
const COUNTERS = [
  {
    count: "cacheHits",
    name: "mcpstate.cache.hits",
    unit: "{read}",
    description: "States that were in the cache and still current.",
  },
  {
    count: "cacheMisses",
    name: "mcpstate.cache.misses",
    unit: "{read}",
    description: "States that were put together from the journal.",
  },
  {
    count: "conflicts",
    name: "mcpstate.write.conflicts",
    unit: "{write}",
    description: "Writes that were refused as stale.",
  },
  {
    count: "retries",
    name: "mcpstate.write.retries",
    unit: "{race}",
    description: "Races lost to another process, after which a write was planned anew.",
  },
  {
    count: "replays",
    name: "mcpstate.write.replays",
    unit: "{write}",
    description: "Writes that were answered with the result of an earlier, equal one.",
  },
  {
    count: "prunedReads",
    name: "mcpstate.read.pruned",
    unit: "{read}",
    description: "Reads of what is no longer retained.",
  },
] as const satisfies readonly { readonly count: keyof StoreCounts; readonly [part: string]: string }[];

/**
 * Tells OpenTelemetry: that of Deno, which sends it where the `OTEL_*` variables say if `OTEL_DENO` is set, or an SDK of
 * yours.
 *
 * ```ts ignore
 * import { serveStdio, toTelemetry } from "jsr:@mcpstate/server/server";
 *
 * const telemetry = toTelemetry(Deno.telemetry, "pipe");
 * const stop = telemetry.counting(store);
 * const connection = serveStdio(store, { user: "alice", telemetry });
 * ```
 *
 * @param transport How clients reach the server: `tcp` for HTTP, `pipe` for stdio.
 */
export function toTelemetry(
  { tracerProvider, meterProvider, contextManager }: Providers,
  transport: "tcp" | "pipe",
): Telemetry {
  const tracer = tracerProvider.getTracer("mcpstate", VERSION);
  const meter = meterProvider.getMeter("mcpstate", VERSION);
  const calls = meter.createCounter("mcpstate.calls", {
    description: "Requests that were answered, with the code of the error if it was one.",
    unit: "{call}",
  });
  const durations = meter.createHistogram("mcp.server.operation.duration", {
    description: "How long requests took.",
    unit: "s",
    advice: { explicitBucketBoundaries: DURATION_BUCKETS },
  });

  const begin = ({ method, tool, prompt, meta }: ServedRequest, attributes: Attributes) => {
    const ambient = contextManager.active();
    const parent = parentIn(meta);
    // What carries the request, such as HTTP, is another trace then.
    const around = parent === undefined ? undefined : spanContextOf(ambient);
    const links = around === undefined ? [] : [{ context: around }];
    const within = parent === undefined ? ambient : ambient.setValue(SPAN_KEY, { spanContext: () => parent });
    const name = [method, tool ?? prompt].filter((part) => part !== undefined).join(" ");
    const span = tracer.startSpan(name, { kind: SERVER_KIND, attributes, links }, within);
    return { span, within: ambient.setValue(SPAN_KEY, span) };
  };

  return {
    async served(request, answer) {
      const attributes = attributesOf(request, transport);
      const { span, within } = begin(request, attributes);
      const from = performance.now();
      const finish = (failure: Attributes | undefined) => {
        if (failure !== undefined) span.setAttributes(failure).setStatus({ code: ERROR_STATUS });
        span.end();
        const outcome = { ...attributes, ...failure };
        durations.record((performance.now() - from) / 1000, outcome);
        calls.add(1, outcome);
      };
      try {
        const result = await contextManager.with(within, answer);
        finish(failureOf(result));
        return result;
      } catch (error) {
        finish(thrownFailure(error));
        throw error;
      }
    },
    counting(store) {
      const counters = COUNTERS.map(({ count, name, description, unit }) => ({
        count,
        counter: meter.createCounter(name, { description, unit }),
      }));
      let told = store.counts;
      const tell = () => {
        const now = store.counts;
        for (const { count, counter } of counters) counter.add(now[count] - told[count]);
        told = now;
      };
      // Not when it is asked for: at the end of a process Deno sends what it was told, and asks no more.
      const timer = setInterval(tell, TELL_MS);
      timer.unref();
      return () => {
        clearInterval(timer);
        tell();
      };
    },
  };
}

function attributesOf({ method, tool, prompt, meta }: ServedRequest, transport: string): Attributes {
  const version = meta["io.modelcontextprotocol/protocolVersion"];
  return {
    "mcp.method.name": method,
    ...(tool === undefined ? {} : { "gen_ai.tool.name": tool, "gen_ai.operation.name": "execute_tool" }),
    ...(prompt === undefined ? {} : { "gen_ai.prompt.name": prompt }),
    ...(typeof version === "string" && /^\d{4}-\d\d-\d\d$/.test(version) ? { "mcp.protocol.version": version } : {}),
    "network.transport": transport,
  };
}

/** What a tool answered as an error: the conventions want one word for all, ours says which. */
function failureOf(result: unknown): Attributes | undefined {
  if (!isObject(result) || result.isError !== true) return undefined;
  const [first] = Array.isArray(result.content) ? result.content : [];
  const code = isObject(first) && typeof first.text === "string" ? codeIn(first.text) : undefined;
  return { "error.type": "tool_error", ...(code === undefined ? {} : { "mcpstate.error.code": code }) };
}

function codeIn(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text);
    return isObject(error) && typeof error.code === "string" ? error.code : undefined;
  } catch {
    return undefined;
  }
}

/** An error of the protocol has a number, and ours a code beside it. */
function thrownFailure(error: unknown): Attributes {
  if (!(error instanceof Error)) return { "error.type": "_OTHER" };
  const number = "code" in error && typeof error.code === "number" ? String(error.code) : undefined;
  const code = "data" in error && isObject(error.data) ? error.data.code : undefined;
  return {
    "error.type": number ?? "_OTHER",
    ...(number === undefined ? {} : { "rpc.response.status_code": number }),
    ...(typeof code === "string" ? { "mcpstate.error.code": code } : {}),
  };
}

/**
 * The span of the client's that a request belongs to (SEP-414; W3C Trace Context, section 3.2). `tracestate` and `baggage`
 * are free text, and left behind.
 */
function parentIn({ traceparent }: Readonly<Record<string, unknown>>): SpanContext | undefined {
  if (typeof traceparent !== "string") return undefined;
  const [, traceId, spanId, flags] = /^00-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})$/.exec(traceparent) ?? [];
  if (traceId === undefined || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}

function spanContextOf(context: Context): SpanContext | undefined {
  const span = context.getValue(SPAN_KEY) as Pick<Span, "spanContext"> | undefined;
  return span?.spanContext();
}
