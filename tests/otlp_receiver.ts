/**
 * A receiver of OpenTelemetry's protocol (OTLP over HTTP, as JSON) on loopback: what Deno really sends.
 *
 * @module
 */

/** An attribute's value, by what it is. */
type Value = string | number | boolean;

/** A span as it was sent. */
export interface SentSpan {
  readonly scope: string;
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly parentSpanId: string;
  readonly attributes: Readonly<Record<string, Value>>;
  readonly status: number;
  readonly links: readonly { readonly traceId: string }[];
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, Value>>;
}

interface Point {
  readonly attributes: readonly Attribute[];
  readonly asInt?: string | number;
  readonly asDouble?: number;
  readonly count?: string | number;
}

/** A receiver that listens. */
export class OtlpReceiver implements AsyncDisposable {
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #points = new Map<string, Map<string, number>>();
  /** What came, as it came. */
  readonly bodies: string[] = [];
  readonly spans: SentSpan[] = [];

  constructor() {
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
      const text = await request.text();
      this.bodies.push(text);
      // deno-lint-ignore no-explicit-any -- the protocol's own shape, read where it is taken apart
      const body: any = JSON.parse(text);
      for (const { scopeSpans } of body.resourceSpans ?? []) {
        for (const { scope, spans } of scopeSpans) {
          for (const span of spans) this.spans.push({ ...toSpan(span), scope: scope.name });
        }
      }
      for (const { scopeMetrics } of body.resourceMetrics ?? []) {
        for (const { metrics } of scopeMetrics) for (const metric of metrics) this.#take(metric);
      }
      return Response.json({});
    });
  }

  /** The variables that have Deno send to it. */
  get variables(): Record<string, string> {
    return {
      OTEL_DENO: "true",
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${this.#server.addr.port}`,
    };
  }

  /** The last that was told of a metric, by its attributes: sums, or how many were recorded. */
  metric(name: string): Record<string, number> {
    return Object.fromEntries(this.#points.get(name) ?? []);
  }

  // deno-lint-ignore no-explicit-any -- the protocol's own shape
  #take({ name, sum, histogram }: any): void {
    const points: Point[] = (sum ?? histogram)?.dataPoints ?? [];
    const known = this.#points.get(name) ?? new Map<string, number>();
    this.#points.set(name, known);
    for (const { attributes, asInt, asDouble, count } of points) {
      const key = Object.entries(toRecord(attributes)).map(([name, value]) => `${name}=${value}`).sort().join(" ");
      known.set(key, Number(asInt ?? asDouble ?? count));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

function toRecord(attributes: readonly Attribute[]): Record<string, Value> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

// deno-lint-ignore no-explicit-any -- the protocol's own shape
function toSpan({ name, kind, traceId, parentSpanId, attributes, status, links }: any): Omit<SentSpan, "scope"> {
  return { name, kind, traceId, parentSpanId, attributes: toRecord(attributes), status: status.code, links };
}
