import { type Catalog, modelListings } from '../features/catalog/index.ts';
import type { Provider } from './providers-from-config.ts';

interface ListingsDeps {
  /** By name; what a provider told of its models is put into its description. */
  providers: Map<string, Provider>;
  catalog: Catalog;
  keep: (listings: string) => Promise<void>;
}

/** What providers told of their models, joined with the catalog. */
export function createListings({ providers, catalog, keep }: ListingsDeps) {
  return modelListings({
    keep,
    providers: () => [...providers.values()],
    replace(listed) {
      for (const [name, details] of listed) {
        const provider = providers.get(name);
        if (!provider) continue;
        providers.set(name, { ...provider, description: { ...provider.description, details } });
      }
      catalog.replaceProviders([...providers.values()].map(({ description }) => description));
    },
    async count(provider) {
      const all = await catalog.all();
      return all.filter(({ offers }) => offers.some((offer) => offer.provider === provider)).length;
    },
  });
}
