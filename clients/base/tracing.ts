/**
 * Tracing with OpenTelemetry. Every HTTP request, WebSocket frame and activity has a trace id. The id comes from the
 * caller (W3C Trace Context) or is created here; logs, replies and workflows contain it. Spans are recorded and
 * exported only when an endpoint is configured. Spans contain only ids, numbers and words from fixed lists, never what
 * people wrote.
 */
import { context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Attributes, type Span } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';

const name = 'support-platform';
const propagator = new W3CTraceContextPropagator();
const getter = {
  get: (carrier: Carrier, key: string) => carrier[key],
  keys: (carrier: Carrier) => Object.keys(carrier),
};
const setter = { set: (carrier: Carrier, key: string, value: string) => void (carrier[key] = value) };
type Carrier = Record<string, string | undefined>;

/**
 * Starts tracing in this process. Call it once, at the start. `endpoint`: the base address of a collector that takes
 * OTLP over HTTP; without one nothing is exported. `stop` exports the spans that were not exported yet.
 */
export async function startTracing(service: string, endpoint?: string): Promise<{ stop(): Promise<void> }> {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': `${name}-${service}` }),
    sampler: endpoint === undefined ? new AlwaysOffSampler() : new ParentBasedSampler({ root: new AlwaysOnSampler() }),
    spanProcessors: endpoint === undefined ? [] : [new BatchSpanProcessor({ exporter: await exporterTo(endpoint) })],
  });
  trace.setGlobalTracerProvider(provider);
  return { stop: () => provider.shutdown().catch(() => undefined) };
}

async function exporterTo(endpoint: string) {
  // The exporter is loaded lazily, because most deployments export nothing.
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
  return new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, '')}/v1/traces` });
}

/** The `traceparent` header of the current span; undefined outside of one. */
export function traceparent(): string | undefined {
  const carrier: Carrier = {};
  propagator.inject(context.active(), carrier, setter);
  return carrier['traceparent'];
}

/** The id of the current trace, 32 hexadecimal digits. */
export const traceId = (): string | undefined => trace.getSpanContext(context.active())?.traceId;

type SpanOptions = {
  kind?: 'server' | 'client' | 'internal';
  attributes?: Attributes;
  /**
   * The `traceparent` of the caller. When undefined, the current span is the parent; when invalid, a new trace begins.
   */
  parent?: string | undefined;
};
const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;

/** Runs `work` in a span, which ends when `work` ends. An error marks the span with the error's name. */
export async function inSpan<T>(
  what: string,
  { kind = 'internal', attributes = {}, parent }: SpanOptions,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  const under =
    parent === undefined ? context.active() : propagator.extract(ROOT_CONTEXT, { traceparent: parent }, getter);
  return trace.getTracer(name).startActiveSpan(what, { kind: kinds[kind], attributes }, under, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: (error as Error).name });
      throw error;
    } finally {
      span.end();
    }
  });
}
