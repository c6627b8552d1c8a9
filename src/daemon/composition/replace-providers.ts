import type { Catalog } from '../features/catalog/index.ts';
import type { Health } from '../features/routing/index.ts';
import type { Provider } from './providers-from-config.ts';

interface Replaced {
  /** By name. */
  providers: Map<string, Provider>;
  catalog: Pick<Catalog, 'replaceProviders'>;
  health: Pick<Health, 'forgive'>;
}

/** Servers that were found stay, and so does what providers told of their models. */
export function replaceProviders(
  { providers, catalog, health }: Replaced,
  configured: readonly Provider[],
): void {
  const kept = new Set(configured.map(({ upstream }) => upstream.name));
  for (const [name, { description }] of providers) {
    if (description.kind !== 'local' && !kept.has(name)) providers.delete(name);
  }
  for (const provider of configured) {
    const { name } = provider.upstream;
    const before = providers.get(name);
    const description = { details: before?.description.details, ...provider.description };
    if (before?.key !== provider.key) health.forgive(name);
    providers.set(name, { ...provider, description });
  }
  catalog.replaceProviders([...providers.values()].map(({ description }) => description));
}
