import { getModel, listModels, refreshModels } from '../../../shared/contract/models.ts';
import { listRates } from '../../../shared/contract/rates.ts';
import { type Caller, type Handler, implement } from '../../handler.ts';
import type { World } from '../../world.ts';
import type { Catalog } from './catalog.ts';
import type { modelListings } from './listing.ts';
import type { LiveReader } from './live-speed.ts';
import { toModelEntry, toRateCard } from './model-entry.ts';

export interface CatalogHandlersNeeds {
  catalog: Catalog;
  live: LiveReader;
  listings: Pick<ReturnType<typeof modelListings>, 'refresh'>;
  /** Fails for everybody but the login of the user who runs the daemon. */
  requireDaemonOwner(caller: Caller): Promise<void>;
  /** What the host adds to the providers' prices, in millionths. */
  readonly marginPpm: number;
  world: Pick<World, 'now'>;
}

/** The endpoints of the catalog. */
export function catalogHandlers(needs: CatalogHandlersNeeds): Handler[] {
  const { catalog, live, listings, requireDaemonOwner, world } = needs;
  return [
    implement(listModels, async () => {
      const all = await catalog.all();
      return { object: 'list', data: all.map((resolution) => toModelEntry(resolution, live)) };
    }),

    implement(getModel, async ({ params }) => toModelEntry(await catalog.resolve(params.model), live)),

    implement(refreshModels, async ({ caller }) => {
      await requireDaemonOwner(caller);
      return { object: 'list', data: await listings.refresh() };
    }),

    implement(listRates, async () => toRateCard(await catalog.all(), needs.marginPpm, world.now())),
  ];
}
