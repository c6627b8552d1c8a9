import type { Endpoint } from '../../shared/contract/endpoint.ts';
import type { FailedRequest } from '../base/failed-request.ts';
import type { World } from '../base/world.ts';
import { type CallObserver, callEvents } from '../features/calls/index.ts';
import { SpeedMeter } from '../features/catalog/index.ts';
import type { EventFeed, LiveEvent } from '../features/events/index.ts';
import type { UsageRecord } from '../features/metering/index.ts';
import type { AnsweredRequest } from '../features/metrics/index.ts';
import { Health } from '../features/routing/index.ts';
import { UpstreamFailure } from '../features/upstreams/upstream.ts';
import type { FinishedRequest } from '../http/server-options.ts';
import type { CallStorage } from '../storage/storage.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';

type Target = Parameters<Health['failed']>[0];
type Failure = { kind: UpstreamFailure['kind']; retryAfterSeconds: number | undefined };
type SpeedRecord = { [N in 'attempted' | 'broke' | 'finished']: [name: N, ...Parameters<SpeedMeter[N]>] };

/** A request as it can be passed to another thread: its endpoint by id, its caller without signals. */
type LeftRequest = Omit<FailedRequest, 'endpoint' | 'error'> & { endpointId: string | undefined };

/** What a worker saw of its calls, in order. */
export type Observed =
  | { published: LiveEvent }
  | { announced: string }
  | { settled: UsageRecord; settledMs: number }
  | { answered: AnsweredRequest }
  /** Its client left before the call was admitted. */
  | { left: LeftRequest }
  | { parent: string | string[]; requestId: string }
  | { failed: Target; failure: Failure }
  | { used: string; isOk: boolean }
  | { succeeded: Target }
  | { speed: SpeedRecord[keyof SpeedRecord] };

export type Observe = (observed: Observed) => void;

/** The events of a worker: stored by itself, and announced to the followers of the main thread. */
export function observedEvents(
  { events }: Pick<CallStorage, 'events'>,
  observe: Observe,
): Pick<EventFeed, 'announce' | 'publish' | 'record'> {
  const announce = ({ workspaceId }: { workspaceId: string }) => observe({ announced: workspaceId });
  return {
    announce,
    publish: (event) => observe({ published: event }),
    async record(event, onFailure = () => {}) {
      await events.append(event).then(() => announce(event), onFailure);
    },
  };
}

/** Passes on what becomes of a worker's calls. Rejected ones are left to the main thread, which gets their requests. */
export function observedCalls(observe: Observe): CallObserver {
  const { onAdmitted, onRouted, onProgress } = callEvents({
    publish: (event) => observe({ published: event }),
    announce: () => {},
  });
  return {
    ...(onAdmitted && { onAdmitted }),
    ...(onRouted && { onRouted }),
    ...(onProgress && { onProgress }),
    onSettled: (usage, settledMs) => observe({ settled: usage, settledMs }),
  };
}

/** The health of providers as a worker sees it, which it passes on. */
export class ObservedHealth extends Health {
  readonly #observe: Observe;
  /** Targets that failed since they last succeeded. */
  readonly #failing = new Set<string>();

  constructor(world: Pick<World, 'elapsed'>, observe: Observe) {
    super(world);
    this.#observe = observe;
  }

  override failed(target: Target, failure: UpstreamFailure): void {
    super.failed(target, failure);
    const { kind, details } = failure;
    this.#failing.add(nameOf(target));
    this.#observe({ failed: plain(target), failure: { kind, retryAfterSeconds: details.retryAfterSeconds } });
  }

  override countUse(account: string, isOk: boolean): void {
    super.countUse(account, isOk);
    this.#observe({ used: account, isOk });
  }

  override succeeded(target: Target): void {
    super.succeeded(target);
    if (this.#failing.size > 0 && this.#failing.delete(nameOf(target)))
      this.#observe({ succeeded: plain(target) });
  }
}

const plain = ({ account, provider, providerModel, offer }: Target): Target => ({
  account,
  provider,
  providerModel,
  ...(offer && { offer: { model: offer.model } }),
});
const nameOf = ({ account, providerModel }: Target) => `${account} ${providerModel}`;

/** The speed of providers as a worker sees it, which it passes on. */
export class ObservedSpeed extends SpeedMeter {
  readonly #observe: Observe;

  constructor(world: Pick<World, 'elapsed'>, observe: Observe) {
    super(world);
    this.#observe = observe;
  }

  override attempted(...record: Parameters<SpeedMeter['attempted']>): void {
    super.attempted(...record);
    this.#observe({ speed: ['attempted', ...record] });
  }

  override broke(...record: Parameters<SpeedMeter['broke']>): void {
    super.broke(...record);
    this.#observe({ speed: ['broke', ...record] });
  }

  override finished(...record: Parameters<SpeedMeter['finished']>): void {
    super.finished(...record);
    this.#observe({ speed: ['finished', ...record] });
  }
}

/** Passes on a request that the worker answered. */
export function observedFinish(observe: Observe): (request: FinishedRequest) => void {
  return ({ endpoint, status, durationMs, aborted }) =>
    observe({ answered: { endpoint: endpoint && { id: endpoint.id }, status, durationMs, aborted } });
}

/** Passes on a request whose client left; the main thread gets those that would be refused, or their calls were settled. */
export function observedLeave(observe: Observe): (request: FailedRequest) => void {
  return ({ endpoint, error, caller, headers, ...request }) => {
    if (error !== undefined) return;
    observe({
      left: { ...request, headers: { ...headers }, endpointId: endpoint?.id, caller: withoutSignals(caller) },
    });
  };
}

function withoutSignals<C extends object>(caller: C): C {
  return { ...caller, revoked: undefined };
}

interface Observers {
  observers: readonly CallObserver[];
  events: Pick<EventFeed, 'announce' | 'publish'>;
  health: Pick<Health, 'failed' | 'succeeded' | 'countUse'>;
  speed: Pick<SpeedMeter, 'attempted' | 'broke' | 'finished'>;
  onFailedRequest: (request: FailedRequest) => void;
  telemetry: Pick<Telemetry, 'answered' | 'parent'>;
  endpointWithId: (id: string | undefined) => Endpoint | undefined;
}

/** Does in the main thread what would follow if it had seen this itself. */
export function createObserved({ observers, events, health, speed, telemetry, ...requests }: Observers) {
  return (observed: Observed): void => {
    if ('settled' in observed) {
      const { settled, settledMs } = observed;
      for (const observer of observers) observer.onSettled?.(settled, settledMs);
    } else if ('answered' in observed) telemetry.answered(observed.answered);
    else if ('published' in observed) events.publish(observed.published);
    else if ('announced' in observed) events.announce({ workspaceId: observed.announced });
    else if ('speed' in observed) {
      const [name, provider, model, value] = observed.speed;
      if (name === 'attempted') speed.attempted(provider, model, value);
      else if (name === 'broke') speed.broke(provider, model);
      else speed.finished(provider, model, value);
    } else if ('failed' in observed) {
      const { kind, retryAfterSeconds } = observed.failure;
      health.failed(
        observed.failed,
        new UpstreamFailure(kind, '', retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
      );
    } else if ('succeeded' in observed) health.succeeded(observed.succeeded);
    else if ('used' in observed) health.countUse(observed.used, observed.isOk);
    else if ('parent' in observed) telemetry.parent?.(observed.requestId, observed.parent);
    else {
      const { endpointId, ...request } = observed.left;
      const endpoint = requests.endpointWithId(endpointId);
      requests.onFailedRequest({ ...request, endpoint, error: undefined });
    }
  };
}
