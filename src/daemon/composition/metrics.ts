import type { EventFeed } from '../features/events/index.ts';
import type { Admission } from '../features/metering/index.ts';
import { families, metricsHandlers } from '../features/metrics/index.ts';
import type { Health } from '../features/routing/index.ts';
import type { Caller } from '../handler.ts';
import type { Storage } from '../storage/storage.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Provider } from './providers-from-config.ts';

interface MetricsSources {
  telemetry: Telemetry;
  storage: Pick<Storage, 'state' | 'writesWaiting'>;
  admission: Pick<Admission, 'running'>;
  events: Pick<EventFeed, 'followers'>;
  health: Pick<Health, 'benches'>;
  providers: ReadonlyMap<string, Provider>;
  hostWorkspace: { id: string | undefined };
  requireDaemonOwner(caller: Caller): Promise<void>;
}

/** Joins what is counted with what is read at the moment of asking. */
export function metricsOf(sources: MetricsSources) {
  const { telemetry, hostWorkspace, requireDaemonOwner } = sources;
  return metricsHandlers({
    read: () => families(telemetry.counters, gaugesOf(sources)),
    write: telemetry.writeMetrics,
    hostWorkspace,
    requireDaemonOwner,
  });
}

function gaugesOf({ telemetry, storage, admission, events, health, providers }: MetricsSources) {
  const { requests, streams } = telemetry.load();
  // What a workspace's own key is refused for says nothing of the host's account.
  const benches = health.benches().filter(({ account, provider }) => account === provider);
  const refused = new Set(
    benches.filter(({ providerModel }) => providerModel === undefined).map(({ provider }) => provider),
  );
  return {
    callsRunning: admission.running(),
    requestsRunning: requests,
    streamsOpen: streams,
    eventFollowers: events.followers(),
    writesWaiting: storage.writesWaiting(),
    isWritable: storage.state().writable,
    providers: [...providers.values()].map(({ description: { name, available } }) => ({
      name,
      isAvailable: available && !refused.has(name),
    })),
    benches: benches.map(({ provider, providerModel = '', reason }) => ({
      provider,
      model: providerModel,
      reason,
    })),
  };
}
