import { families } from '../features/metrics/index.ts';
import type { Accounts } from './accounts.ts';
import type { AppDeps } from './app-deps.ts';
import type { Models } from './models.ts';

interface MetricsFeatures {
  accounts: Pick<Accounts, 'admission'>;
  models: Pick<Models, 'health' | 'providers'>;
  /** The number of readers of events. */
  eventFollowers: () => number;
}

/** The daemon's metrics: what was counted, and what is read when they are scraped. */
export function readMetrics(
  { telemetry, storage }: Pick<AppDeps, 'telemetry' | 'storage'>,
  { accounts, models, eventFollowers }: MetricsFeatures,
) {
  const { requests, streams } = telemetry.load();
  const benches = models.health.hostBenches();
  const unavailable = new Set(
    benches.filter(({ providerModel }) => providerModel === undefined).map(({ provider }) => provider),
  );
  return families(telemetry.counters, {
    callsRunning: accounts.admission.running(),
    requestsRunning: requests,
    streamsOpen: streams,
    eventFollowers: eventFollowers(),
    writesWaiting: storage.writesWaiting(),
    isWritable: storage.state().writable,
    providers: [...models.providers.byName.values()].map(({ description: { name, available } }) => ({
      name,
      isAvailable: available && !unavailable.has(name),
    })),
    benches: benches.map(({ provider, providerModel = '', reason }) => ({
      provider,
      model: providerModel,
      reason,
    })),
  });
}
