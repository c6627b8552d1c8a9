import type { Feature } from '../base/feature.ts';
import type { Concurrency } from '../features/concurrency/index.ts';
import { providerHandlers } from '../features/providers/index.ts';
import type { AppDeps } from './app-deps.ts';
import { endBenches, type Models } from './models.ts';

/** What the host's owner sees of the providers, and does about them. */
export function createProviderFeature(
  { workers, world }: AppDeps,
  models: Models & { concurrency: Concurrency },
): Feature {
  const { catalog, concurrency, health, ownKeys, providers, refusalsOf } = models;
  return {
    handlers: providerHandlers({
      byName: providers.byName,
      catalog,
      concurrency,
      health,
      refusals: async (name) => [refusalsOf(name), ...((await workers?.refusals(name)) ?? [])].flat(),
      sealedKeyOf: ownKeys.sealedKeyOf,
      endBenches: (provider, account) => endBenches({ models, workers }, provider, account),
      now: () => world.now(),
    }),
  };
}
