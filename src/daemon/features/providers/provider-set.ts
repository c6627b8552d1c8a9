import { type Catalog, createModelListings, type ProviderDescription } from '../catalog/index.ts';
import { hostKeyName } from '../provider-keys/index.ts';
import { accountOf, type Health } from '../routing/index.ts';
import type { Provider } from './provider.ts';

interface ProviderSetDeps {
  catalog: Catalog;
  health: Pick<Health, 'forgive'>;
  /** Stores the model lists that providers returned, for the next start. */
  keepListings: (listings: string) => Promise<void>;
  now: () => number;
  /** The host's key for a provider, if it is in the vault. */
  sealedKeyOf: (provider: Provider) => Promise<string | undefined>;
  /** Called with every change. */
  onChange?: ((descriptions: readonly ProviderDescription[]) => void) | undefined;
}

/** The providers that can be called now. The catalog follows every change. */
export function createProviderSet(
  initial: readonly Provider[],
  { catalog, health, keepListings, now, onChange, sealedKeyOf }: ProviderSetDeps,
) {
  const byName = new Map(initial.map((provider) => [provider.upstream.name, provider]));
  let sealed: ReadonlySet<string> = new Set();
  const updateCatalog = () => {
    for (const [name, provider] of byName) byName.set(name, withSealedKey(provider, sealed));
    const descriptions = [...byName.values()].map(({ description }) => description);
    catalog.replaceProviders(descriptions);
    onChange?.(descriptions);
  };
  return {
    byName: byName as ReadonlyMap<string, Provider>,
    add(added: readonly Provider[]): void {
      for (const provider of added) byName.set(provider.upstream.name, provider);
      updateCatalog();
    },
    /**
     * Describes the providers as another thread knows them. Those that only that thread can call come with them, so that
     * names of models mean the same; their calls are not made here.
     */
    mirror(descriptions: readonly ProviderDescription[]): void {
      const names = new Set(descriptions.map(({ name }) => name));
      for (const name of byName.keys()) if (!names.has(name)) byName.delete(name);
      for (const description of descriptions) {
        const { name } = description;
        const known = byName.get(name);
        const { wiresOf } = known?.description ?? {};
        byName.set(name, {
          upstream: unreachable(name),
          key: undefined,
          ...known,
          description: { ...description, ...(wiresOf && { wiresOf }) },
        });
      }
      updateCatalog();
    },
    /** Tells of which providers the host's key is in the vault, by the names of the secrets. */
    showSealedKeys(names: ReadonlySet<string>): void {
      const changed = [...byName.values()].filter(
        (provider) => isSealed(provider, names) !== isSealed(provider, sealed),
      );
      sealed = names;
      for (const { upstream } of changed) health.forgive(upstream.name);
      if (changed.length > 0) updateCatalog();
    },
    /** Replaces the configured providers. Detected local servers and known model lists are kept. */
    replaceConfigured(configured: readonly Provider[]): void {
      const names = new Set(configured.map(({ upstream }) => upstream.name));
      for (const [name, { description }] of byName) {
        if (description.kind !== 'local' && !names.has(name)) byName.delete(name);
      }
      for (const provider of configured) {
        const { name } = provider.upstream;
        const before = byName.get(name);
        // Another server under the same name has other models.
        const isSame = before?.description.baseUrl === provider.description.baseUrl;
        const details = isSame ? before?.description.details : undefined;
        const description = { details, ...provider.description };
        if (before?.key !== provider.key) health.forgive(name);
        for (const [key, value] of provider.keys ?? [])
          if (before?.keys?.get(key) !== value) health.forgive(accountOf(name, { key }));
        byName.set(name, { ...provider, description });
      }
      updateCatalog();
    },
    listings: createModelListings({
      save: keepListings,
      now,
      providers: () =>
        [...byName.values()].map((provider) => ({
          ...provider,
          listModels:
            provider.listModels && (async () => provider.listModels?.(await sealedKeyOf(provider)) ?? []),
        })),
      replace(listed) {
        for (const [name, details] of listed) {
          const provider = byName.get(name);
          if (provider) byName.set(name, { ...provider, description: { ...provider.description, details } });
        }
        updateCatalog();
      },
      async count(provider) {
        const all = await catalog.all();
        return all.filter(({ offers }) => offers.some((offer) => offer.provider === provider)).length;
      },
    }),
  };
}

function isSealed({ access, withSealedKey: can, upstream }: Provider, names: ReadonlySet<string>): boolean {
  if (access === undefined || can === undefined) return false;
  return names.has(hostKeyName({ name: upstream.name, baseUrl: access.baseUrl }));
}

/** A provider that can be called with the host's key of the vault, or only with that of its variable. */
function withSealedKey(provider: Provider, names: ReadonlySet<string>): Provider {
  const { description, withSealedKey: can, withoutSealedKey } = provider;
  const hasSealedKey = isSealed(provider, names);
  if (can === undefined || hasSealedKey === (description.hasSealedKey ?? false)) return provider;
  const { available, reason } = withoutSealedKey ?? description;
  return {
    ...provider,
    withoutSealedKey: { available, reason },
    description: { ...description, hasSealedKey, ...(hasSealedKey ? can : { available, reason }) },
  };
}

/** Whether a provider is called by another thread only. */
export function isElsewhere({ upstream }: Provider): boolean {
  return upstream.open === openElsewhere;
}

const openElsewhere = async (): Promise<never> => {
  throw new TypeError('another thread calls this provider');
};

function unreachable(name: string): Provider['upstream'] {
  return { name, open: openElsewhere };
}

export type ProviderSet = ReturnType<typeof createProviderSet>;
