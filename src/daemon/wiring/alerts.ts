import type { Feature } from '../base/feature.ts';
import { Alerts, alertHandlers, createSampler, Deliveries, Hooks } from '../features/alerts/index.ts';
import type { EventFeed } from '../features/events/index.ts';
import { benchesOf } from '../features/providers/index.ts';
import { createDataSealer } from '../features/vault/index.ts';
import type { Workspaces } from '../features/workspaces/index.ts';
import { peerAddressProblem, portOf } from '../reverse-proxy/address-guard.ts';
import type { AppDeps } from './app-deps.ts';
import type { Models } from './models.ts';

interface AlertFeatures {
  events: Pick<EventFeed, 'announce'>;
  models: Pick<Models, 'health' | 'providers'>;
  workspaces: Pick<Workspaces, 'membership' | 'isDaemonOwner'>;
}

/** Conditions on calls, which fire and resolve. */
export function createAlertFeature(deps: AppDeps, { events, models, workspaces }: AlertFeatures): Feature {
  const { storage, world, makeId, log } = deps;
  const store = storage.alerts;
  const hooks = new Hooks({
    sealer: createDataSealer(deps.dataKey, (count) => world.randomBytes(count)),
    addressProblem: (url, options) => peerAddressProblem(url, options, portOf(new URL(deps.process.url()))),
    world,
  });
  const deliveries = new Deliveries({ store, hooks, world, log });
  const alerts = new Alerts({
    store,
    sampler: createSampler({
      metering: storage.metering,
      traces: storage.traces,
      benches: (workspaceId) => benchesOf(models, workspaceId, world.now()),
    }),
    hooks,
    deliveries,
    workspaces,
    hasKey: async (workspaceId, keyId) => (await storage.keys.byId(workspaceId, keyId)) !== undefined,
    events,
    makeId,
    world,
  });
  return {
    handlers: alertHandlers(alerts),
    // Each message is claimed before it is sent.
    jobs: [(signal, onFailure) => deliveries.keepSending(signal, onFailure)],
    sharedJobs: [(signal, onFailure) => alerts.keepEvaluating(signal, onFailure)],
    async takeOver(daemon) {
      await store.adoptDeliveries(daemon, world.now());
      deliveries.wake();
    },
  };
}
