import { ApiError } from '../../shared/errors.ts';
import type { OtlpConfig } from '../config/telemetry.ts';
import type { CallObserver } from '../features/inference/index.ts';
import { type AnsweredRequest, Counters } from '../features/metrics/index.ts';
import { expositionWriter } from './exposition.ts';
import { Parents } from './parent.ts';
import type { Spans } from './spans.ts';

/** What a server knows of itself at the moment of asking. */
type ServerLoad = () => { requests: number; streams: number };

/** Everything that watches calls from beside: it is told, never asked, and no call waits for it. */
export interface Telemetry {
  counters: Counters;
  onSettled: NonNullable<CallObserver['onSettled']>;
  onRejected: NonNullable<CallObserver['onRejected']>;
  /** A request was answered. */
  answered(request: AnsweredRequest): void;
  /** The header `traceparent` of a request; undefined where nobody is told of spans. */
  parent: ((requestId: string, header: string | string[]) => void) | undefined;
  /** From now on this server is the one to ask. */
  watch(load: ServerLoad): void;
  load: ServerLoad;
  writeMetrics: ReturnType<typeof expositionWriter>;
  /** Sends what waits to be sent; never rejects. */
  close(): Promise<void>;
}

interface TelemetryOptions {
  /** Undefined: nobody is told of spans. */
  otlp: OtlpConfig | undefined;
  version: string;
  /** Wall clock, milliseconds since 1970. */
  now: () => number;
}

export async function createTelemetry({ otlp, version, now }: TelemetryOptions): Promise<Telemetry> {
  const counters = new Counters();
  const parents = new Parents();
  let spans: Spans | undefined;
  if (otlp) spans = (await import('./spans.ts')).startSpans(otlp, version);
  let load: ServerLoad = () => ({ requests: 0, streams: 0 });
  return {
    counters,
    onSettled(usage, settledMs) {
      counters.settled(usage, settledMs);
      spans?.settled(usage, { settledMs, parent: parents.take(usage.requestId) });
    },
    onRejected(rejected) {
      const { endpoint, requestId } = rejected.call;
      const code = codeOf(rejected.error);
      counters.refused(endpoint, code);
      spans?.rejected(rejected, { code, at: now(), parent: parents.take(requestId) });
    },
    answered: (request) => counters.answered(request),
    parent: spans && ((requestId, header) => parents.note(requestId, header)),
    watch(given) {
      load = given;
    },
    load: () => load(),
    writeMetrics: expositionWriter(),
    close: async () => spans?.close(),
  };
}

/** Only our own failures have codes that are known beforehand. */
function codeOf(error: unknown): string {
  return error instanceof ApiError ? error.code : 'server_error';
}
