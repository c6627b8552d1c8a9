import { type CallObserver, callEvents } from '../features/calls/index.ts';
import type { Capture } from '../features/capture/index.ts';
import type { EventFeed } from '../features/events/index.ts';
import { Rejections, SettlementDurations, traceHandlers } from '../features/traces/index.ts';
import type { Workspaces } from '../features/workspaces/index.ts';
import type { Accounts } from './accounts.ts';
import type { AppDeps } from './app-deps.ts';
import { createCallReporter } from './call-reporter.ts';
import type { OnFailure } from './feature.ts';
import { knownEndpoint, rejectedRequests } from './rejected-requests.ts';

interface ObservationFeatures {
  accounts: Pick<Accounts, 'authentication'>;
  capture: Capture;
  events: EventFeed;
  workspaces: Pick<Workspaces, 'isDaemonOwner'>;
}

/** What is recorded of each call: events, traces, rejections, metrics and lines of the log. */
export function createObservation(
  deps: AppDeps,
  { accounts, capture, events, workspaces }: ObservationFeatures,
) {
  const { storage, world, telemetry } = deps;
  const settlementDurations = new SettlementDurations();
  /** Whether a model call was settled since the start. */
  const wasSettled = (requestId: string) => settlementDurations.of(requestId) !== null;
  const callLog = createCallReporter(deps.callLog, accounts.authentication.nameOf);
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
  const observers: CallObserver[] = [callEvents(events), settlementDurations, rejections, telemetry, callLog];
  return {
    observers,
    onFailedRequest: rejectedRequests(rejections, capture),
    wasSettled,
    handlers: traceHandlers({
      store: storage.traces,
      settlementDurations,
      isDaemonOwner: workspaces.isDaemonOwner,
    }),
    jobs: [(signal: AbortSignal, onFailure: OnFailure) => rejections.keepRecording(signal, onFailure)],
  };
}
