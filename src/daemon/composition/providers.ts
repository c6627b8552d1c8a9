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
      check: async () => {
        const asked = [...byName.values()].filter(({ description, check }) => description.available && check);
        return await Promise.all(
          asked.map(async ({ description: { name }, check }) => {
            const verdict = await (check as NonNullable<typeof check>)();
            const ended = verdict.problem === null ? await endBenches({ models, workers }, name, name) : [];
            return { provider: name, ...verdict, ended };
          }),
        );
      },
    }),
  };
}
