import { ApiError } from '../../shared/errors.ts';
import type { RefusedCall } from '../features/inference/index.ts';
import type { UsageRecord } from '../features/metering/index.ts';
import { type AnsweredRequest, Counters } from '../features/metrics/index.ts';
import { expositionWriter } from './exposition.ts';

/** What a server knows of itself at the moment of asking. */
type ServerLoad = () => { requests: number; streams: number };

/** Everything that watches calls from beside: it is told, never asked, and no call waits for it. */
export interface Telemetry {
  counters: Counters;
  /** A call is on disk. */
  settled(usage: UsageRecord): void;
  /** A call was refused before a provider was asked. */
  refused(refused: RefusedCall): void;
  /** A request was answered. */
  answered(request: AnsweredRequest): void;
  /** From now on this server is the one to ask. */
  watch(load: ServerLoad): void;
  load: ServerLoad;
  writeMetrics: ReturnType<typeof expositionWriter>;
}

export function createTelemetry(): Telemetry {
  const counters = new Counters();
  let load: ServerLoad = () => ({ requests: 0, streams: 0 });
  return {
    counters,
    settled: (usage) => counters.settled(usage),
    refused: ({ call, error }) => counters.refused(call.endpoint, codeOf(error)),
    answered: (request) => counters.answered(request),
    watch(given) {
      load = given;
    },
    load: () => load(),
    writeMetrics: expositionWriter(),
  };
}

/** Only our own failures have codes that are known beforehand. */
export function codeOf(error: unknown): string {
  return error instanceof ApiError ? error.code : 'server_error';
}
