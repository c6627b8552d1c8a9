import { getModel, listModels, refreshModels } from '../../../shared/contract/models.ts';
import { listRates } from '../../../shared/contract/rates.ts';
import { unixSeconds } from '../../../shared/time.ts';
import { type Caller, type Handler, implement } from '../../handler.ts';
import type { World } from '../../world.ts';
import type { Catalog } from './catalog.ts';
import type { modelListings } from './listing.ts';
import type { LiveReader } from './live-speed.ts';
import { type ModelContext, toModelEntry, toRateCard } from './model-entry.ts';

const none: ReadonlySet<string> = new Set();

export interface CatalogHandlersDeps {
  catalog: Catalog;
  live: LiveReader;
  /** The providers for which a workspace has its own keys. */
  ownKeysOf: (workspaceId: string) => ReadonlySet<string> | Promise<ReadonlySet<string>>;
  /** When the host was set up, in milliseconds since 1970. */
  hostCreatedAt: () => number;
  listings: Pick<ReturnType<typeof modelListings>, 'refresh'>;
  /** The host's margin on provider prices, in millionths. */
  settings: { readonly marginPpm: number };
  world: Pick<World, 'now'>;
}

export function catalogHandlers(deps: CatalogHandlersDeps): Handler[] {
  const { catalog, live, listings, world } = deps;
  const contextOf = async (caller: Caller): Promise<ModelContext> => ({
    live,
    ownKeys: caller.kind === 'anonymous' ? none : await deps.ownKeysOf(caller.workspaceId),
    hostCreatedAt: unixSeconds(deps.hostCreatedAt()),
  });
  return [
    implement(listModels, async ({ caller }) => {
      const context = await contextOf(caller);
      const all = await catalog.all(context);
      return { object: 'list', data: all.map((resolution) => toModelEntry(resolution, context)) };
    }),

    implement(getModel, async ({ caller, params }) => {
      const context = await contextOf(caller);
      return toModelEntry(await catalog.resolve(params.model, context), context);
    }),

    implement(refreshModels, async () => ({ object: 'list', data: await listings.refresh() })),

    implement(listRates, async () => {
      const at = { marginPpm: deps.settings.marginPpm, now: world.now() };
      return toRateCard(await catalog.all(), catalog.providers, at);
    }),
  ];
}
