import { providerHandlers } from '../features/providers/index.ts';
import type { AppDeps } from './app-deps.ts';
import type { Feature } from './feature.ts';
import { endBenches, type Models } from './models.ts';

/** What the host's owner sees of the providers, and does about them. */
export function createProviderFeature({ workers }: AppDeps, models: Models): Feature {
  const { byName } = models.providers;
  return {
    handlers: providerHandlers({
      has: (provider) => byName.has(provider),
      retry: (provider) => endBenches({ models, workers }, provider),
    }),
  };
}
