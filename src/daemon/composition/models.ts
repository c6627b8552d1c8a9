import { noLabels } from '../../shared/constants/call-labels.ts';
import type { ModelEntry } from '../../shared/contract/models.ts';
import { type Caller, credentialId } from '../base/handler.ts';
import { capsOf, policyOf } from '../features/calls/index.ts';
import {
  Catalog,
  catalogHandlers,
  type Resolution,
  SpeedMeter,
  unknownModels,
} from '../features/catalog/index.ts';
import type { EventFeed } from '../features/events/index.ts';
import { translatingUpstreams } from '../features/inference/index.ts';
import {
  accountKey,
  accountOf,
  accountOwner,
  type Bench,
  type BenchPeriod,
  createRouter,
  Health,
  isUsable,
  unreachableLogger,
} from '../features/routing/index.ts';
import type { Workspaces } from '../features/workspaces/index.ts';
import type { Accounts } from './accounts.ts';
import type { AppDeps, CallAppDeps } from './app-deps.ts';
import type { Feature } from './feature.ts';
import { createGuardrails } from './guardrails.ts';
import { createLocalServers } from './local-servers.ts';
import { createOwnKeys } from './own-keys.ts';
import { createProviderSet } from './provider-set.ts';

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
      usableBy: usability(settings, accounts),
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

/** Tells whether a caller can use a model. Those without a workspace of their own see what the host can call. */
function usability(settings: CallAppDeps['settings'], { budgets, isPrepaid }: CatalogFeatures['accounts']) {
  return (caller: Caller, ownKeys: ReadonlySet<string>) => {
    const { marginPpm } = settings;
    if (caller.kind === 'anonymous' || caller.kind === 'token') {
      const anyone = { caps: {}, isPrepaid: false, ownKeys, workspaceId: '', marginPpm };
      return (model: Resolution) => isUsable(model, anyone);
    }
    const { workspaceId } = caller;
    const policy = policyOf(caller);
    const call = { workspaceId, keyId: credentialId(caller), labels: noLabels };
    const caps = capsOf(policy);
    const request = {
      caps: {
        ...caps,
        ...(budgets.rules.isHard(call, policy) && { isSpendCapped: true }),
        isSpendCappedOn: budgets.rules.hardRoutes(call),
      },
      isPrepaid: isPrepaid(workspaceId),
      ownKeys,
      workspaceId,
      marginPpm,
    };
    return (model: Resolution) => isUsable(model, request);
  };
}

/** When the host's accounts and a workspace's own were benched; of several keys of the host, when all of them were. */
export function benchesOf(
  { health, providers }: Pick<Models, 'health' | 'providers'>,
  workspaceId: string,
  now: number,
): BenchPeriod[] {
  const own = health.periods(now).filter((period) => (accountOwner(period) ?? workspaceId) === workspaceId);
  const isOfKey = (period: BenchPeriod) =>
    period.reason !== 'failing' && accountOwner(period) === undefined && accountKey(period) !== undefined;
  const ofKeys = own.filter(isOfKey);
  if (ofKeys.length === 0) return own;
  const ofAll = [...providers.byName].flatMap(([name, { description }]) =>
    commonPeriods(
      ofKeys.filter(({ provider }) => provider === name),
      description.keys?.names ?? [],
    ),
  );
  return [...own.filter((period) => !isOfKey(period)), ...ofAll].sort(
    (one, other) => one.since - other.since,
  );
}

/** When all keys of a provider were benched, each for all models or for the same one. */
function commonPeriods(periods: readonly BenchPeriod[], names: readonly string[]): BenchPeriod[] {
  const [first, ...others] = names.map((name) => periods.filter((period) => accountKey(period) === name));
  return others.reduce<BenchPeriod[]>(
    (common, ofKey) =>
      common.flatMap((one) =>
        ofKey.flatMap((other) => {
          const [since, until] = [Math.max(one.since, other.since), Math.min(one.until, other.until)];
          const isSame = one.model === undefined || other.model === undefined || one.model === other.model;
          if (since >= until || !isSame) return [];
          return [{ ...one, ...(one.model === undefined && other), since, until }];
        }),
      ),
    first ?? [],
  );
}

/** Records that a provider is left out: for the host, or for the workspace whose own key failed. */
function recordBench(
  events: Pick<EventFeed, 'record'>,
  workspaceId: string | undefined,
  bench: Bench,
  at: number,
): void {
  if (workspaceId === undefined) return;
  const { provider, model = null, reason, retryAfterMs } = bench;
  const key = accountKey(bench);
  const data = {
    provider,
    ...(key !== undefined && { key }),
    model,
    reason,
    retry_after_ms: Math.round(retryAfterMs),
  };
  void events.record({ type: 'provider.benched', workspaceId, at, data });
}
