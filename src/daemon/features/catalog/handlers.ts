import { getModel, listModels, type ModelEntry, refreshModels } from '../../../shared/contract/models.ts';
import { listRates } from '../../../shared/contract/rates.ts';
import { ApiError } from '../../../shared/errors.ts';
import { unixSeconds } from '../../../shared/time/time.ts';
import { type Caller, type Handler, implement, type KeyOrLogin, RelayReply } from '../../base/handler.ts';
import type { World } from '../../base/world.ts';
import { anthropicModelsPage, type Listed, speaksAnthropic, toAnthropicModel } from './anthropic-models.ts';
import type { Catalog } from './catalog.ts';
import type { createModelListings } from './listing.ts';
import { type ModelContext, toAliasEntry, toModelEntry, toRateCard } from './model-entry.ts';
import type { Resolution } from './offer.ts';
import type { SpeedReader } from './speed.ts';

const none: ReadonlySet<string> = new Set();
const stopped = 'it does not answer: start it';

export interface CatalogHandlersDeps {
  catalog: Catalog;
  speed: SpeedReader;
  /** The providers for which a workspace has its own keys. */
  ownKeysOf: (workspaceId: string) => ReadonlySet<string> | Promise<ReadonlySet<string>>;
  /** When the host was set up, in milliseconds since 1970. */
  hostCreatedAt: () => number;
  listings: Pick<ReturnType<typeof createModelListings>, 'refresh'>;
  /** The host's margin on provider prices, in millionths. */
  settings: { readonly marginPpm: number };
  world: Pick<World, 'now'>;
  /** The ids of the models that a caller used lately, whether the catalog has them or not. */
  usedModels: (caller: KeyOrLogin) => Promise<readonly string[]>;
  /** Models that are no provider's, listed after all others. */
  ownModels?: (created: number) => readonly ModelEntry[];
  /** Tells whether a caller may and can use a model. */
  usableBy: (caller: Caller, ownKeys: ReadonlySet<string>) => (model: Resolution) => boolean;
  /** Whether a local server does not run now. */
  isStopped: (provider: string) => boolean;
}

export function catalogHandlers(deps: CatalogHandlersDeps): Handler[] {
  const { catalog, speed, listings, ownModels = () => [], world } = deps;
  const now = <R extends Resolution>(model: R): R => {
    if (!model.offers.some(({ provider }) => deps.isStopped(provider))) return model;
    const offers = model.offers.map((offer) =>
      deps.isStopped(offer.provider) ? { ...offer, available: false, reason: stopped } : offer,
    );
    return { ...model, offers };
  };
  const contextOf = async (caller: Caller): Promise<ModelContext> => ({
    speed,
    ownKeys: caller.kind === 'anonymous' ? none : await deps.ownKeysOf(caller.workspaceId),
    hostCreatedAt: unixSeconds(deps.hostCreatedAt()),
  });
  /** What a caller used of the models that are forwarded by name, which no provider lists. */
  const unlisted = async (caller: Caller, context: ModelContext, listed: readonly Resolution[]) => {
    if (caller.kind !== 'key' && caller.kind !== 'login') return [];
    const known = new Set(listed.map(({ id }) => id));
    const names = (await deps.usedModels(caller)).filter((name) => !known.has(name));
    const found = await Promise.all(names.map((name) => catalog.find(name, context).catch(noneIfUnknown)));
    return found.flatMap((model) => (model && !known.has(model.id) ? [now(model)] : []));
  };
  return [
    implement(listModels, async ({ caller, headers, query }) => {
      const context = await contextOf(caller);
      const models = (await catalog.all(context)).map(now);
      models.push(...(await unlisted(caller, context, models)));
      const canUse = deps.usableBy(caller, context.ownKeys);
      const own = ownModels(context.hostCreatedAt);
      const listed = new Set([...models, ...own].map(({ id }) => id));
      const aliases = (await catalog.aliases(context))
        .filter(({ id }) => !listed.has(id))
        .map((alias) => ({ ...alias, models: alias.models.map(now) }));
      const entries = [
        ...models.map((model): Listed => [toModelEntry(model, context), canUse(model)]),
        ...own.map((model): Listed => [model, model.service.available ?? true]),
        ...aliases.map((alias): Listed => [toAliasEntry(alias, context), alias.models.some(canUse)]),
      ];
      const page = { ...query, isListed: (isUsable: boolean) => isUsable || query.all === true };
      if (!speaksAnthropic(headers)) return { object: 'list' as const, data: modelsAfter(entries, page) };
      return new RelayReply({}, JSON.stringify(anthropicModelsPage(entries, page)));
    }),

    implement(getModel, async ({ caller, headers, params }) => {
      const context = await contextOf(caller);
      const own = ownModels(context.hostCreatedAt).find(({ id }) => id === params.model);
      const alias = await catalog.alias(params.model, context);
      const entry =
        own ??
        (alias
          ? toAliasEntry({ ...alias, models: alias.models.map(now) }, context)
          : toModelEntry(now(await catalog.resolve(params.model, context)), context));
      if (!speaksAnthropic(headers)) return entry;
      return new RelayReply({}, JSON.stringify(toAnthropicModel(entry)));
    }),

    implement(refreshModels, async () => ({ object: 'list', data: await listings.refresh() })),

    implement(listRates, async () => {
      const now = world.now();
      const free = ownModels(now).map(({ id }) => id);
      const at = { marginPpm: deps.settings.marginPpm, now };
      return toRateCard(await catalog.all(), catalog.providers, free, at);
    }),
  ];
}

function noneIfUnknown(error: unknown): undefined {
  if (!(error instanceof ApiError)) throw error;
}

/** The models after a cursor, which may have become unusable since. */
function modelsAfter(
  all: readonly Listed[],
  { after: id, isListed }: { after?: string; isListed: (isUsable: boolean) => boolean },
): ModelEntry[] {
  const index = id === undefined ? -1 : all.findIndex(([model]) => model.id === id);
  if (index >= 0 || id === undefined)
    return all.slice(index + 1).flatMap(([model, isUsable]) => (isListed(isUsable) ? [model] : []));
  throw new ApiError('invalid_request', {
    param: 'after',
    message: '`after` is not the id of a listed model.',
  });
}
