import {
  type CheckedProvider,
  checkProviders,
  getProvider,
  retryProvider,
} from '../../../shared/contract/providers.ts';
import { ApiError } from '../../../shared/errors.ts';
import { missing } from '../../../shared/faults/not-found.ts';
import { type Handler, implement } from '../../base/handler.ts';
import type { Catalog } from '../catalog/index.ts';
import type { Concurrency } from '../concurrency/index.ts';
import { type LearnedRefusal, latestOf } from '../inference/index.ts';
import { accountOf, type Bench, type Health } from '../routing/index.ts';
import type { Provider } from './provider.ts';
import { endedView, providerView } from './provider-view.ts';

interface ProviderHandlersDeps {
  byName: ReadonlyMap<string, Provider>;
  catalog: Pick<Catalog, 'all'>;
  health: Pick<Health, 'benches' | 'hostBenches' | 'usesOf' | 'periods'>;
  concurrency: Pick<Concurrency, 'ofProvider'>;
  /** What its models refused, in all threads. */
  refusals: (provider: string) => Promise<readonly LearnedRefusal[]>;
  /** The host's key for a provider, if it is in the vault. */
  sealedKeyOf: (provider: Provider) => Promise<string | undefined>;
  /** Ends the benches of a provider, of one account or of all, and returns them. */
  endBenches: (provider: string, account?: string) => Promise<readonly Bench[]>;
  now: () => number;
}

/** What the host's owner sees of the providers, and does about them. */
export function providerHandlers(deps: ProviderHandlersDeps): Handler[] {
  const known = (name: string): Provider => {
    const provider = deps.byName.get(name);
    if (provider === undefined) throw new ApiError('not_found', { message: missing('provider', name) });
    return provider;
  };
  return [
    implement(getProvider, async ({ params }) => {
      const { health, now } = deps;
      const { description, access, edits, key, keys } = known(params.provider);
      const { name, hasSealedKey } = description;
      const all = await deps.catalog.all();
      const refusals = await deps.refusals(name);
      return providerView({
        description,
        access,
        hasKey: key !== undefined || hasSealedKey === true,
        edits,
        models: all.filter(({ offers }) => offers.some(({ provider }) => provider === name)).length,
        benches: health.benches(),
        hostBenches: health.hostBenches(() => description.keys?.names),
        keys: hasSealedKey ? undefined : keys,
        usesOf: (account) => health.usesOf(account),
        periods: health.periods(now()),
        refusals: latestOf(refusals),
        concurrency: deps.concurrency.ofProvider(name),
        now: now(),
      });
    }),

    implement(retryProvider, async ({ params: { provider } }) => {
      known(provider);
      return { provider, ended: (await deps.endBenches(provider)).map(endedView) };
    }),

    implement(checkProviders, async () => {
      const asked = [...deps.byName.values()].filter(({ description }) => description.available);
      const checks = await Promise.all(asked.map((provider) => checkAccounts(deps, provider)));
      return { object: 'list', data: checks.flat() };
    }),
  ];
}

/** Asks a provider with each of its keys; the benches of the accounts that it answers end. */
function checkAccounts(
  { sealedKeyOf, endBenches }: ProviderHandlersDeps,
  provider: Provider,
): Promise<CheckedProvider[]> {
  const { description, check, key, keys } = provider;
  if (check === undefined) return Promise.resolve([]);
  const { name, hasSealedKey } = description;
  const several = hasSealedKey ? undefined : keys;
  return Promise.all(
    [...(several ?? [[undefined, key] as const])].map(async ([keyName, value]) => {
      const verdict = await check(hasSealedKey ? await sealedKeyOf(provider) : value);
      const account = accountOf(name, { key: keyName });
      const ended = verdict.problem === null ? await endBenches(name, account) : [];
      return { provider: name, key: keyName ?? null, ...verdict, ended: ended.map(endedView) };
    }),
  );
}
