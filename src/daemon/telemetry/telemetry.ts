import { ApiError } from '../../shared/errors.ts';
import { inWords } from '../../shared/text/in-words.ts';
import type { Log } from '../base/log.ts';
import { type OtlpConfig, otlpProtocols } from '../config/telemetry.ts';
import type { CallObserver } from '../features/calls/index.ts';
import { type AnsweredRequest, Counters } from '../features/metrics/index.ts';
import type { CollectorAnswer } from './ask-collector.ts';
import { expositionWriter } from './exposition.ts';
import { Parents } from './parent.ts';
import type { SpanOutcomes, Spans } from './spans.ts';

/** Current figures of a server. */
type ServerLoad = () => { requests: number; streams: number };

/** Observes calls without affecting them: no call waits for it. */
export interface Telemetry {
  counters: Counters;
  onSettled: NonNullable<CallObserver['onSettled']>;
  onRejected: NonNullable<CallObserver['onRejected']>;
  /** A request was answered. */
  answered(request: AnsweredRequest): void;
  /** The `traceparent` header of a request; undefined when spans are off. */
  parent: ((requestId: string, header: string | string[]) => void) | undefined;
  /** Sets the server whose figures are reported. */
  watch(load: ServerLoad): void;
  load: ServerLoad;
  writeMetrics: ReturnType<typeof expositionWriter>;
  /** What became of spans; null if none are sent. */
  spansStatus(): SpansStatus | null;
  /** Asks the collector whether it would take spans; null without one. */
  checkCollector(): Promise<CollectorAnswer | null>;
  /** Sends queued data; never rejects. */
  close(): Promise<void>;
}

export interface SpansStatus {
  /** Without a path, which may have a key. */
  collector: string;
  protocol: string;
  delivered: number;
  lost: number;
  /** Why some were lost last. */
  problem: string | null;
}

interface TelemetryOptions {
  log: Pick<Log, 'warn'>;
  /** Undefined: spans are off. */
  otlp: OtlpConfig | undefined;
  version: string;
  /** Wall clock, milliseconds since 1970. */
  now: () => number;
}

/** What is lost is said at most so often. */
const warnEveryMs = 60_000;

export async function createTelemetry({ otlp, version, now, log }: TelemetryOptions): Promise<Telemetry> {
  const counters = new Counters();
  const parents = new Parents();
  let warnedAt = Number.NEGATIVE_INFINITY;
  let problem: string | null = null;
  const outcomes: SpanOutcomes = {
    delivered: (count) => counters.spans('delivered', count),
    lost(count, reason) {
      counters.spans('lost', count);
      problem = reason;
      if (now() - warnedAt < warnEveryMs) return;
      warnedAt = now();
      const collector = otlp && new URL(otlp.url).origin;
      log.warn({ collector, lost: counters.spanOutcomes.get('lost') }, `spans were not delivered: ${reason}`);
    },
  };
  let spans: Spans | undefined;
  if (otlp && isSupported(otlp.protocol))
    spans = await (await import('./spans.ts')).startSpans(otlp, version, outcomes);
  else if (otlp)
    log.warn(
      { protocol: otlp.protocol },
      `no spans are sent: OTEL_EXPORTER_OTLP_PROTOCOL must be ${inWords(otlpProtocols)}`,
    );
  let load: ServerLoad = () => ({ requests: 0, streams: 0 });
  return {
    counters,
    onSettled(usage, settledMs) {
      counters.settled(usage, settledMs);
      spans?.settled(usage, { settledMs, parent: parents.take(usage.requestId) });
    },
    onRejected(rejected) {
      const { requestId } = rejected.call;
      const code = codeOf(rejected.error);
      spans?.rejected(rejected, { code, at: now(), parent: parents.take(requestId) });
    },
    answered: (request) => counters.answered(request),
    parent: spans && ((requestId, header) => parents.note(requestId, header)),
    watch(given) {
      load = given;
    },
    load: () => load(),
    writeMetrics: expositionWriter(),
    spansStatus: () =>
      otlp
        ? {
            collector: new URL(otlp.url).origin,
            protocol: otlp.protocol,
            delivered: counters.spanOutcomes.get('delivered') ?? 0,
            lost: counters.spanOutcomes.get('lost') ?? 0,
            problem,
          }
        : null,
    checkCollector: async () => (otlp ? await (await import('./ask-collector.ts')).askCollector(otlp) : null),
    close: async () => spans?.close(),
  };
}

function isSupported(protocol: string): boolean {
  return otlpProtocols.some((one) => one === protocol);
}

/** Only our own errors have a known set of codes. */
function codeOf(error: unknown): string {
  return error instanceof ApiError ? error.code : 'server_error';
}
