import { latestOf } from '../features/inference/index.ts';
import { providerHandlers, providerView } from '../features/providers/index.ts';
import type { Provider } from '../upstream/providers-from-config.ts';
import type { AppDeps } from './app-deps.ts';
import type { Feature } from './feature.ts';
import { endBenches, type Models } from './models.ts';

/** What the host's owner sees of the providers, and does about them. */
export function createProviderFeature({ workers, world }: AppDeps, models: Models): Feature {
  const { byName } = models.providers;
  return {
    handlers: providerHandlers({
      has: (provider) => byName.has(provider),
      async show(name) {
        const { description, access, edits, key } = byName.get(name) as Provider;
        const all = await models.catalog.all();
        const refusals = [models.refusalsOf(name), ...((await workers?.refusals(name)) ?? [])];
        return providerView({
          description,
          access,
          hasKey: key !== undefined || description.hasSealedKey === true,
          edits,
          models: all.filter(({ offers }) => offers.some(({ provider }) => provider === name)).length,
          benches: models.health.benches(),
          periods: models.health.periods(world.now()),
          refusals: latestOf(refusals.flat()),
          now: world.now(),
        });
      },
      retry: (provider) => endBenches({ models, workers }, provider),
      check: async () => {
        const asked = [...byName.values()].filter(({ description, check }) => description.available && check);
        return await Promise.all(
          asked.map(async (provider) => {
            const { name } = provider.description;
            const { check } = provider;
            const verdict = await (check as NonNullable<typeof check>)(
              await models.ownKeys.sealedKeyOf(provider),
            );
            const ended = verdict.problem === null ? await endBenches({ models, workers }, name, name) : [];
            return { provider: name, ...verdict, ended };
          }),
        );
      },
    }),
  };
}
