import { isoTime } from '../../shared/time/time.ts';
import { version } from '../../shared/version.ts';
import type { Feature, OnFailure } from '../base/feature.ts';
import type { Handler, Identified } from '../base/handler.ts';
import { type CallObserver, callEvents, RunningCalls } from '../features/calls/index.ts';
import type { Capture } from '../features/capture/index.ts';
import { type EventFeed, eventHandlers, type NewEvent } from '../features/events/index.ts';
import { settledEvent, usageHandlers } from '../features/metering/index.ts';
import { benchesOf } from '../features/providers/index.ts';
import {
  exportHandlers,
  knownEndpoint,
  providerHealthHandlers,
  type Rejection,
  Rejections,
  rejectedRequests,
  rejectionEvent,
  rejectionsVisible,
  SettlementDurations,
  traceHandlers,
  traceViews,
} from '../features/traces/index.ts';
import type { Workspaces } from '../features/workspaces/index.ts';
import type { CallLog } from '../process/request-logger.ts';
import { otlpLineWriter } from '../telemetry/otlp-line.ts';
import type { Accounts } from './accounts.ts';
import type { AppDeps } from './app-deps.ts';
import type { Models } from './models.ts';
import { withWorkers } from './workers.ts';

interface ObservationFeatures {
  accounts: Pick<Accounts, 'authentication' | 'usage'>;
  capture: Capture;
  events: EventFeed;
  models: Pick<Models, 'health' | 'providers' | 'speed'>;
  workspaces: Pick<Workspaces, 'isDaemonOwner' | 'membership'>;
}

/** What is recorded of each call: events, traces, rejections, metrics and lines of the log. */
export function createObservation(
  deps: AppDeps,
  { accounts, capture, events, models, workspaces }: ObservationFeatures,
) {
  const { storage, world, telemetry } = deps;
  const running = new RunningCalls();
  const settlementDurations = new SettlementDurations();
  /** Whether a model call was settled since the start. */
  const wasSettled = (requestId: string) => settlementDurations.of(requestId) !== null;
  const callLog = callReporter(deps.callLog, accounts.authentication.nameOf);
  const rejections = new Rejections({
    store: storage.traces,
    feed: events,
    world,
    wasSettled,
    onRejected: (endpoint, code) => telemetry.counters.refused(knownEndpoint(endpoint), code),
    onRecorded(rejection) {
      callLog.onRecorded(rejection);
      capture.onRecorded(rejection.requestId);
    },
  });
  const visibleTo = rejectionsVisible(workspaces.isDaemonOwner);
  const views = traceViews({
    store: storage.traces,
    content: deps.content,
    world,
    settlementDurations,
    visibleTo,
    recordCounted: (workspaceIds) => rejections.recordCounted(workspaceIds),
  });
  const rejectedFor = async (reader: Identified) => {
    const visible = reader.kind === 'login' ? await visibleTo(reader) : [reader.workspaceId];
    await rejections.recordCounted(visible);
    return { unknownCallers: visible.includes(null) };
  };
  const observers: CallObserver[] = [callEvents(events), settlementDurations, rejections, telemetry, callLog];
  const onFailedRequest = rejectedRequests(rejections, capture);
  return {
    observers,
    running,
    /** Stores rejected calls of a workspace that were only counted. */
    recordCounted: (workspaceId: string) => rejections.recordCounted([workspaceId]),
    /** Takes what the server reports of the requests to these endpoints, and what workers do. */
    reports(handlers: readonly Handler[]) {
      const endpointWithId = (id: string | undefined) =>
        handlers.find(({ endpoint }) => endpoint.id === id)?.endpoint;
      return {
        onFailedRequest,
        wasSettled,
        observing: { ...models, observers, events, telemetry, onFailedRequest, endpointWithId },
      };
    },
    handlers: [
      ...usageHandlers({ usage: accounts.usage, now: () => world.now(), rejectedFor }),
      ...traceHandlers({ views, running: withWorkers(running, deps.workers), workspaces }),
      ...providerHealthHandlers({
        store: storage.traces,
        benches: (workspaceId) => benchesOf(models, workspaceId, world.now()),
        now: () => world.now(),
      }),
      ...exportHandlers({ views, content: deps.content, otlpLine: otlpLineWriter(version), world, version }),
    ],
    jobs: [(signal: AbortSignal, onFailure: OnFailure) => rejections.keepRecording(signal, onFailure)],
  };
}

/** Reports calls to the log. */
function callReporter(log: CallLog, keyNameOf: (keyId: string) => string | undefined) {
  const write = ({ type, at, data }: NewEvent): void => {
    const keyName = typeof data.key === 'string' ? (keyNameOf(data.key) ?? data.key) : null;
    log.write({ type, sequence: null, created_at: isoTime(at), data: { ...data, key_name: keyName } });
  };
  return {
    onSettled(usage) {
      if (log.wantsFinished()) write(settledEvent(usage));
    },
    onRecorded: (rejection: Rejection): void => write(rejectionEvent(rejection)),
  } satisfies CallObserver & { onRecorded(rejection: Rejection): void };
}

/** The streams of events. */
export function createEventFeature(
  { world }: AppDeps,
  { events, workspaces }: { events: EventFeed; workspaces: Pick<Workspaces, 'isDaemonOwner'> },
): Feature {
  return {
    handlers: eventHandlers({ feed: events, world, isDaemonOwner: workspaces.isDaemonOwner }),
    sharedJobs: [events.keepPruned],
    onWritten: events.readAgain,
    endStreams: events.close,
  };
}
