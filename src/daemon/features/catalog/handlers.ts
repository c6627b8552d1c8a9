import { getModel, listModels } from '../../../shared/contract/models.ts';
import { listRates } from '../../../shared/contract/rates.ts';
import { type Handler, implement } from '../../handler.ts';
import type { World } from '../../world.ts';
import type { Catalog } from './catalog.ts';
import type { LiveReader } from './live-speed.ts';
import { toModelEntry, toRateCard } from './model-entry.ts';

export interface CatalogHandlersNeeds {
  catalog: Catalog;
  live: LiveReader;
  /** What the host adds to the providers' prices, in millionths. */
  marginPpm: number;
  world: Pick<World, 'now'>;
}

/** The public endpoints of the catalog. */
export function catalogHandlers({ catalog, live, marginPpm, world }: CatalogHandlersNeeds): Handler[] {
  return [
    implement(listModels, async () => {
      const all = await catalog.all();
      return { object: 'list', data: all.map((resolution) => toModelEntry(resolution, live)) };
    }),

    implement(getModel, async ({ params }) => toModelEntry(await catalog.resolve(params.model), live)),

    implement(listRates, async () => toRateCard(await catalog.all(), marginPpm, world.now())),
  ];
}
