import type { Concurrency } from '../features/concurrency/index.ts';
import { families } from '../features/metrics/index.ts';
import type { Accounts } from './accounts.ts';
import type { AppDeps } from './app-deps.ts';
import type { Models } from './models.ts';
import type { WorkerLoad } from './workers.ts';

interface MetricsFeatures {
  accounts: Pick<Accounts, 'admission'>;
  models: Pick<Models, 'health' | 'providers'> & { concurrency: Pick<Concurrency, 'all'> };
  /** The number of readers of events. */
  eventFollowers: () => number;
}

/** The daemon's metrics: what was counted, and what is read when they are scraped. */
export async function readMetrics(
  { telemetry, storage, workers }: Pick<AppDeps, 'telemetry' | 'storage' | 'workers'>,
  { accounts, models, eventFollowers }: MetricsFeatures,
) {
  const { requests, streams } = telemetry.load();
  const loads = (await workers?.load()) ?? [];
  const inAll = (here: number, name: Exclude<keyof WorkerLoad, 'admitted'>) =>
    loads.reduce((sum, load) => sum + load[name], here);
  const benches = models.health.hostBenches(
    (name) => models.providers.byName.get(name)?.description.keys?.names,
  );
  const unavailable = new Set(
    benches.filter(({ providerModel }) => providerModel === undefined).map(({ provider }) => provider),
  );
  return families(telemetry.counters, {
    callsRunning: inAll(accounts.admission.running(), 'calls'),
    requestsRunning: inAll(requests, 'requests'),
    streamsOpen: inAll(streams, 'streams'),
    eventFollowers: eventFollowers(),
    writesWaiting: inAll(storage.writesWaiting(), 'writesWaiting'),
    callsOfWorkers: loads.map(({ admitted }) => admitted),
    isWritable: storage.state().writable,
    providers: [...models.providers.byName.values()].map(({ description: { name, available } }) => ({
      name,
      isAvailable: available && !unavailable.has(name),
    })),
    limits: models.concurrency.all(),
    benches: benches.map(({ provider, model = '', reason }) => ({ provider, model, reason })),
  });
}
