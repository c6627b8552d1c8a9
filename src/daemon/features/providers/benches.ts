import { accountKey, accountOwner, type BenchPeriod, type Health } from '../routing/index.ts';
import type { ProviderSet } from './provider-set.ts';

interface BenchedProviders {
  health: Pick<Health, 'periods'>;
  providers: Pick<ProviderSet, 'byName'>;
}

/** When the host's accounts and a workspace's own were benched; of several keys of the host, when all of them were. */
export function benchesOf(
  { health, providers }: BenchedProviders,
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
