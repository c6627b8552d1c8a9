import {
  type Context,
  diag,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { OtlpConfig } from '../config/telemetry.ts';
import type { RejectedCall } from '../features/calls/index.ts';
import type { UsageRecord } from '../features/metering/index.ts';
import { type CallSpan, finishedCallSpans, rejectedCallSpan } from './call-spans.ts';
import type { ParentSpan } from './parent.ts';

/** Maximum number of queued spans; more are dropped. */
const queueMax = 4096;
const batchMax = 512;
const exportTimeoutMs = 5_000;
const attributeCharactersMax = 512;

/** A call to report, and the caller's span. */
type ReportedCall = { parent: ParentSpan | undefined } & (
  | { usage: UsageRecord; settledMs: number }
  | { rejected: RejectedCall; code: string; at: number }
);

export interface Spans {
  /** `settledMs`: from the request until the settlement was on disk. */
  settled(usage: UsageRecord, options: { settledMs: number; parent: ParentSpan | undefined }): void;
  /** `at`: the time of the rejection, in milliseconds since 1970. */
  rejected(
    rejected: RejectedCall,
    options: { code: string; at: number; parent: ParentSpan | undefined },
  ): void;
  /** Sends queued spans; never rejects. */
  close(): Promise<void>;
}

/** What became of spans. */
export interface SpanOutcomes {
  delivered(spans: number): void;
  /** `reason`: why some were not delivered, in one line. */
  lost(spans: number, reason: string): void;
}

/**
 * Reports finished calls as spans: a server span for the call and a client span per attempt. They are created
 * afterwards, in a later turn of the event loop, from the stored record, and sent in batches.
 */
export async function startSpans(
  { url, headers, protocol, resource, delayMs, sampling }: OtlpConfig,
  version: string,
  outcomes: SpanOutcomes,
): Promise<Spans> {
  const { OTLPTraceExporter } =
    protocol === 'http/protobuf'
      ? await import('@opentelemetry/exporter-trace-otlp-proto')
      : await import('@opentelemetry/exporter-trace-otlp-http');
  // The library says so of spans that a collector refused in part, and of those that its queue had no room for.
  const warn = (...words: unknown[]): void => {
    const message = words.join(' ');
    const lost = lostIn(message);
    if (lost > 0) outcomes.lost(lost, message);
  };
  const ignored = (): void => {};
  diag.setLogger(
    { error: ignored, warn, info: ignored, debug: ignored, verbose: ignored },
    { suppressOverrideMessage: true },
  );
  const exporter = withOutcomes(
    new OTLPTraceExporter({ url, headers, timeoutMillis: exportTimeoutMs }),
    outcomes,
  );
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.version': version, ...resource }),
    sampler: samplerOf(sampling),
    spanLimits: { attributeValueLengthLimit: attributeCharactersMax },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        maxQueueSize: queueMax,
        maxExportBatchSize: batchMax,
        scheduledDelayMillis: delayMs,
        exportTimeoutMillis: exportTimeoutMs,
      }),
    ],
  });
  const tracer = provider.getTracer('gateway', version);
  let waiting: ReportedCall[] = [];
  const flush = () => {
    const batch = waiting;
    waiting = [];
    for (const one of batch) {
      if ('usage' in one) reportCall(tracer, one, contextOf(one.parent));
      else reportRejected(tracer, one, contextOf(one.parent));
    }
  };
  const add = (call: ReportedCall) => {
    if (waiting.length >= queueMax) {
      outcomes.lost(1, 'more calls ended than could be reported');
      return;
    }
    if (waiting.push(call) === 1) setImmediate(flush);
  };
  return {
    settled: (usage, options) => add({ usage, ...options }),
    rejected: (rejected, options) => add({ rejected, ...options }),
    async close() {
      flush();
      await provider.shutdown().catch(() => {});
    },
  };
}

function samplerOf({ isParentBased, ratio }: OtlpConfig['sampling']) {
  const root = ratio === 1 ? new AlwaysOnSampler() : new TraceIdRatioBasedSampler(ratio);
  return isParentBased ? new ParentBasedSampler({ root }) : root;
}

function withOutcomes(exporter: SpanExporter, { delivered, lost }: SpanOutcomes): SpanExporter {
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.error === undefined && result.code === 0) delivered(spans.length);
        else lost(spans.length, reasonOf(result.error));
        done(result);
      }),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  };
}

/** How many spans a warning of the library is about: `Dropped 3 spans because…`, `…"rejectedSpans":3…`. */
function lostIn(message: string): number {
  return Number(/Dropped (\d+) spans|"rejectedSpans":"?(\d+)/.exec(message)?.slice(1).find(Boolean) ?? 0);
}

function reasonOf(error: (Error & { code?: number | string }) | undefined): string {
  if (error === undefined) return 'the collector did not take them';
  return error.code === undefined ? error.message : `${error.message} (${error.code})`;
}

function contextOf(parent: ParentSpan | undefined): Context {
  return parent ? trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true }) : ROOT_CONTEXT;
}

function reportCall(
  tracer: Tracer,
  { usage, settledMs }: { usage: UsageRecord; settledMs: number },
  parent: Context,
): void {
  const settlementMs = Math.max(0, Math.round((settledMs - usage.totalMs) * 10) / 10);
  const { request, attempts } = finishedCallSpans(usage, settlementMs);
  const server = startSpan(tracer, request, parent);
  const inside = trace.setSpan(parent, server);
  for (const attempt of attempts) startSpan(tracer, attempt, inside).end(attempt.endedAt);
  server.end(request.endedAt);
}

function reportRejected(
  tracer: Tracer,
  { rejected: { call, ms }, code, at }: { rejected: RejectedCall; code: string; at: number },
  parent: Context,
): void {
  const { endpoint, requestId } = call;
  startSpan(tracer, rejectedCallSpan({ endpoint, requestId, code, at, ms }), parent).end(at);
}

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;

function startSpan(
  tracer: Tracer,
  { name, kind, startedAt, attributes, isError }: CallSpan,
  parent: Context,
): Span {
  const span = tracer.startSpan(name, { kind: kinds[kind], startTime: startedAt, attributes }, parent);
  if (isError) span.setStatus({ code: SpanStatusCode.ERROR });
  return span;
}
