import { getModel, listModels, refreshModels } from '../../../shared/contract/models.ts';
import { listRates } from '../../../shared/contract/rates.ts';
import { type Handler, implement } from '../../handler.ts';
import type { World } from '../../world.ts';
import type { Catalog } from './catalog.ts';
import type { modelListings } from './listing.ts';
import type { LiveReader } from './live-speed.ts';
import { toModelEntry, toRateCard } from './model-entry.ts';

export interface CatalogHandlersDeps {
  catalog: Catalog;
  live: LiveReader;
  listings: Pick<ReturnType<typeof modelListings>, 'refresh'>;
  /** The host's margin on provider prices, in millionths. */
  settings: { readonly marginPpm: number };
  world: Pick<World, 'now'>;
}

export function catalogHandlers(deps: CatalogHandlersDeps): Handler[] {
  const { catalog, live, listings, world } = deps;
  return [
    implement(listModels, async () => {
      const all = await catalog.all();
      return { object: 'list', data: all.map((resolution) => toModelEntry(resolution, live)) };
    }),

    implement(getModel, async ({ params }) => toModelEntry(await catalog.resolve(params.model), live)),

    implement(refreshModels, async () => ({ object: 'list', data: await listings.refresh() })),

    implement(listRates, async () => toRateCard(await catalog.all(), deps.settings.marginPpm, world.now())),
  ];
}
