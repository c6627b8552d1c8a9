import { ApiError } from '../../shared/errors.ts';
import type { OtlpConfig } from '../config/telemetry.ts';
import type { CallObserver } from '../features/calls/index.ts';
import { type AnsweredRequest, Counters } from '../features/metrics/index.ts';
import { expositionWriter } from './exposition.ts';
import { Parents } from './parent.ts';
import type { Spans } from './spans.ts';

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
  /** Sends queued data; never rejects. */
  close(): Promise<void>;
}

interface TelemetryOptions {
  /** Undefined: spans are off. */
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
    close: async () => spans?.close(),
  };
}

/** Only our own errors have a known set of codes. */
function codeOf(error: unknown): string {
  return error instanceof ApiError ? error.code : 'server_error';
}
