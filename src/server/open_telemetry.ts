/**
 * The part of OpenTelemetry that is used, by its shape: `Deno.telemetry` has it, and so has `npm:@opentelemetry/api`.
 *
 * @module
 */

/** Facts of a span or a number. */
export type Attributes = Readonly<Record<string, string>>;

/** What names a span. */
export interface SpanContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** 1 if it is recorded. */
  readonly traceFlags: number;
  /** Whether it came from another process. */
  readonly isRemote?: boolean;
}

/** What is carried along from call to call. */
export interface Context {
  /** What is kept under a key. */
  getValue(key: symbol): unknown;
  /** One that keeps this too. */
  setValue(key: symbol, value: unknown): Context;
  /** One that keeps it no longer. */
  deleteValue(key: symbol): Context;
}

/** A stretch of time. */
export interface Span {
  /** Its name. */
  spanContext(): SpanContext;
  /** Adds facts. */
  setAttributes(attributes: Attributes): Span;
  /** Says how it went: 2 is an error. */
  setStatus(status: { readonly code: number }): unknown;
  /** Ends it. */
  end(): void;
}

/** How a span begins. */
export interface SpanOptions {
  /** 1 is a server's. */
  readonly kind: number;
  /** Its first facts. */
  readonly attributes: Attributes;
  /** Spans of other traces that it has to do with. */
  readonly links: { context: SpanContext }[];
}

/** How a number is called. */
export interface InstrumentOptions {
  /** In a few words. */
  readonly description: string;
  /** As UCUM writes it: `s`, `{call}`. */
  readonly unit: string;
  /** Where a histogram divides. */
  readonly advice?: { explicitBucketBoundaries: number[] };
}

/** Makes numbers. */
export interface Meter {
  /** A sum that only grows. */
  createCounter(name: string, options: InstrumentOptions): { add(value: number, attributes?: Attributes): void };
  /** How often which values came. */
  createHistogram(name: string, options: InstrumentOptions): { record(value: number, attributes?: Attributes): void };
}

/**
 * Who takes spans and numbers: `Deno.telemetry`, or with an SDK of your own `{ tracerProvider: trace.getTracerProvider(),
 * meterProvider: metrics.getMeterProvider(), contextManager: context }` of `npm:@opentelemetry/api`.
 */
export interface Providers {
  /** Makes spans. */
  readonly tracerProvider: {
    getTracer(name: string, version: string): { startSpan(name: string, options: SpanOptions, context: Context): Span };
  };
  /** Makes numbers. */
  readonly meterProvider: { getMeter(name: string, version: string): Meter };
  /** Carries a context along. */
  readonly contextManager: { active(): Context; with<Result>(context: Context, run: () => Result): Result };
}
