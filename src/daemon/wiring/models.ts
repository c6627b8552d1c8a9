import type { ModelEntry } from '../../shared/contract/models.ts';
import type { Feature } from '../base/feature.ts';
import { usability } from '../features/calls/index.ts';
import { Catalog, catalogHandlers, SpeedMeter, unknownModels } from '../features/catalog/index.ts';
import type { EventFeed } from '../features/events/index.ts';
import { translatingUpstreams } from '../features/inference/index.ts';
import { createLocalServers, createProviderSet } from '../features/providers/index.ts';
import {
  accountOf,
  accountOwner,
  type Bench,
  createRouter,
  Health,
  recordBench,
  unreachableLogger,
} from '../features/routing/index.ts';
import type { Workspaces } from '../features/workspaces/index.ts';
import type { Accounts } from './accounts.ts';
import type { AppDeps, CallAppDeps } from './app-deps.ts';
import { createGuardrails } from './guardrails.ts';
import { createOwnKeys } from './own-keys.ts';

interface ModelsFeatures {
  accounts: Pick<Accounts, 'hostWorkspace'>;
  events: Pick<EventFeed, 'record'>;
  workspaces: Pick<Workspaces, 'membership'>;
  /** Where failures and speed are remembered; by default in this thread alone. */
  health?: Health;
  speed?: SpeedMeter;
}

export type Models = ReturnType<typeof createModels>;

/** The providers, their models, and the way to them. */
export function createModels(deps: CallAppDeps, features: ModelsFeatures) {
  const { world, settings, keepListings, onProviders } = deps;
  const { accounts, events, workspaces, speed = new SpeedMeter(world) } = features;
  const onBench = (bench: Bench) =>
    recordBench(events, accountOwner(bench) ?? accounts.hostWorkspace.id, bench, world.now());
  const health = features.health ?? new Health(world, { onBench });
  const { aliases, fallbacks } = settings;
  const descriptions = deps.providers.map(({ description }) => description);
  const onUnknown = () => localServers?.lookAgain();
  const catalog = new Catalog({ world, providers: descriptions, aliases, fallbacks, onUnknown });
  const providers = createProviderSet(deps.providers, {
    catalog,
    health,
    keepListings,
    now: world.now,
    sealedKeyOf: (provider) => ownKeys.sealedKeyOf(provider),
    onChange: onProviders,
  });
  const find = deps.findLocalProviders;
  const localServers = find && createLocalServers({ find, providers, world });
  const ownKeys = createOwnKeys(deps, { workspaces, health, providers });
  const upstreams = translatingUpstreams({ get: (name) => providers.byName.get(name)?.upstream }, world);
  const { refusalsOf } = upstreams;
  const router = createRouter({
    catalog,
    health,
    speed,
    world,
    settings,
    upstreams,
    onFailure: unreachableLogger(deps),
    keyFor: ownKeys.keyFor,
    ownKeysOf: ownKeys.ownKeysOf,
    ownKeyNamesOf: ownKeys.ownKeyNamesOf,
  });
  /** Warnings about the current configuration. */
  const configWarnings = async () => [
    ...settings.removedSettings,
    ...(await unknownModels(catalog, settings)),
  ];
  const guardrails = createGuardrails(deps);
  return {
    catalog,
    configWarnings,
    guardrails,
    health,
    localServers,
    ownKeys,
    providers,
    refusalsOf,
    router,
    speed,
  };
}

interface CatalogFeatures {
  accounts: Pick<Accounts, 'budgets' | 'hostWorkspace' | 'isPrepaid' | 'usage'>;
  decisions: { modelEntries(created: number): readonly ModelEntry[] };
  models: Models;
}

/** The lists of models and rates. */
export function createCatalogFeature(
  { world, settings, workers }: Pick<AppDeps, 'world' | 'settings' | 'workers'>,
  { accounts, decisions, models }: CatalogFeatures,
): Feature {
  const { localServers, providers } = models;
  const refresh = async () => {
    await localServers?.look();
    const refreshed = await providers.listings.refresh();
    // What lists its models accepts its key again.
    for (const { provider, error } of refreshed)
      if (error === null) await endBenches({ models, workers }, provider, firstAccount(models, provider));
    return refreshed;
  };
  return {
    jobs: localServers ? [localServers.keepLooking] : [],
    handlers: catalogHandlers({
      catalog: models.catalog,
      speed: models.speed,
      world,
      listings: { refresh },
      settings,
      ownKeysOf: models.ownKeys.ownKeysOf,
      hostCreatedAt: () => accounts.hostWorkspace.createdAt,
      usedModels: (caller) => accounts.usage.modelsUsedBy(caller),
      ownModels: decisions.modelEntries,
      usableBy: usability({ settings, budgets: accounts.budgets.rules, isPrepaid: accounts.isPrepaid }),
      isStopped: (provider) => localServers?.isStopped(provider) ?? false,
    }),
  };
}

/** Ends the benches of a provider in all threads, of one account or of all. Returns those that this thread knew. */
export async function endBenches(
  { models, workers }: { models: Pick<Models, 'health'>; workers: AppDeps['workers'] },
  provider: string,
  account?: string,
): Promise<Bench[]> {
  const ended = models.health.retry(provider, account);
  await workers?.retry({ provider, account });
  return ended;
}

/** The host's account at a provider; with several keys that of the first, with which models are listed. */
function firstAccount({ providers }: Pick<Models, 'providers'>, provider: string): string {
  const [key] = providers.byName.get(provider)?.keys?.keys() ?? [];
  return accountOf(provider, { key });
}
