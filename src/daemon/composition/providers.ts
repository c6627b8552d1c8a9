import type { Concurrency } from '../features/concurrency/index.ts';
import { latestOf } from '../features/inference/index.ts';
import { providerHandlers, providerView } from '../features/providers/index.ts';
import { accountOf } from '../features/routing/index.ts';
import type { Provider } from '../upstream/providers-from-config.ts';
import type { AppDeps } from './app-deps.ts';
import type { Feature } from './feature.ts';
import { endBenches, type Models } from './models.ts';

/** What the host's owner sees of the providers, and does about them. */
export function createProviderFeature(
  { workers, world }: AppDeps,
  models: Models & { concurrency: Pick<Concurrency, 'ofProvider'> },
): Feature {
  const { byName } = models.providers;
  return {
    handlers: providerHandlers({
      has: (provider) => byName.has(provider),
      async show(name) {
        const { description, access, edits, key, keys } = byName.get(name) as Provider;
        const all = await models.catalog.all();
        const refusals = [models.refusalsOf(name), ...((await workers?.refusals(name)) ?? [])];
        return providerView({
          description,
          access,
          hasKey: key !== undefined || description.hasSealedKey === true,
          edits,
          models: all.filter(({ offers }) => offers.some(({ provider }) => provider === name)).length,
          benches: models.health.benches(),
          hostBenches: models.health.hostBenches(() => description.keys?.names),
          keys: description.hasSealedKey ? undefined : keys,
          usesOf: (account) => models.health.usesOf(account),
          periods: models.health.periods(world.now()),
          refusals: latestOf(refusals.flat()),
          concurrency: models.concurrency.ofProvider(name),
          now: world.now(),
        });
      },
      retry: (provider) => endBenches({ models, workers }, provider),
      check: async () => {
        const asked = [...byName.values()].filter(({ description, check }) => description.available && check);
        const checks = asked.flatMap((provider) => {
          const { description, check, key, keys } = provider;
          const { name, hasSealedKey } = description;
          const several = hasSealedKey ? undefined : keys;
          return [...(several ?? [[undefined, key] as const])].map(async ([keyName, value]) => {
            const asked = hasSealedKey ? await models.ownKeys.sealedKeyOf(provider) : value;
            const verdict = await (check as NonNullable<typeof check>)(asked);
            const account = accountOf(name, { key: keyName });
            const ended =
              verdict.problem === null ? await endBenches({ models, workers }, name, account) : [];
            return { provider: name, key: keyName ?? null, ...verdict, ended };
          });
        });
        return await Promise.all(checks);
      },
    }),
  };
}
