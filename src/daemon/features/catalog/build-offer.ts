import { ownValue } from '../../../shared/json/json-object.ts';
import { providerFacts } from '../../../shared/known-providers.ts';
import { freePrices } from '../../../shared/money/exact-price.ts';
import type { Prices } from '../../../shared/money/money.ts';
import { isMaker, isReseller } from './model-index.ts';
import { snapshotTime } from './model-names.ts';
import { traitsOf } from './model-traits.ts';
import type { Offer, ProviderDescription } from './offer.ts';
import type { PriceLibrary } from './price-library.ts';

/** The price library's names of makers, by the family name in ids, where they differ. */
const sourceOfFamily: Readonly<Record<string, string>> = {
  xai: 'x-ai',
  mistralai: 'mistral',
  'z-ai': 'zai',
};

/** Merges the configuration, the provider's details, the price library and our own table, in this order of precedence. */
export function buildOffer(
  provider: ProviderDescription,
  model: { id: string; providerModel: string },
  library: PriceLibrary,
  now: number,
): { offer: Offer; isConditional: boolean } {
  const { id, providerModel } = model;
  const details = ownValue(provider.details, providerModel);
  const { family, name } = familyAndName(provider, model);
  const list = listOf(provider, { family, name, providerModel }, library);
  const listed = list && library.find(list.source, list.listedAs, now);
  const traits = traitsOf(family, name);
  const set = settledPrices(provider, providerModel);
  const settled = set ?? details?.prices;
  const offer: Offer = {
    model: id,
    provider: provider.name,
    kind: provider.kind,
    providerModel,
    prices: settled ?? listed?.prices ?? null,
    ...(set === undefined && list && { priceSource: list.source }),
    contextLength: details?.contextLength ?? listed?.contextLength ?? traits.contextLength,
    ...(provider.kind === 'compatible' && details?.contextLength !== undefined && { isContextUnsure: true }),
    outputTokensMax: details?.outputTokensMax ?? traits.outputTokensMax,
    createdAt: details?.createdAt ?? snapshotTime(providerModel) ?? listed?.createdAt ?? null,
    capabilities: { ...traits.capabilities, ...details?.capabilities },
    wires: provider.wiresOf?.(providerModel) ?? provider.wires,
    available: provider.available,
    reason: provider.available ? null : provider.reason,
    ...(provider.keys && !provider.hasSealedKey && { keys: provider.keys }),
    ...(provider.keyOrder && { keyOrder: provider.keyOrder }),
    title: details?.title ?? listed?.title ?? name,
    description: details?.description ?? listed?.description ?? null,
  };
  return { offer, isConditional: settled === undefined && (listed?.isConditional ?? false) };
}

/** A price that needs no library: a configured one, or zero for the simulator and local servers. */
export function settledPrices(provider: ProviderDescription, providerModel: string): Prices | undefined {
  const set = ownValue(provider.prices, providerModel) ?? ownValue(provider.prices, '*');
  if (set !== undefined) return set;
  return provider.kind === 'simulator' || provider.kind === 'local' ? freePrices : undefined;
}

/** The family and name by which traits and prices are looked up; other servers' models have no family. */
function familyAndName(
  provider: ProviderDescription,
  model: { providerModel: string },
): { family: string; name: string } {
  const { providerModel } = model;
  if (isMaker(provider.kind)) return { family: provider.kind, name: providerModel };
  const slash = providerModel.indexOf('/');
  if (!isReseller(provider.kind) || slash < 0) return { family: '', name: providerModel };
  return { family: providerModel.slice(0, slash), name: providerModel.slice(slash + 1) };
}

/** The price list that applies to a model: the library's name for it, and the model's name there. */
function listOf(
  { kind, baseUrl }: ProviderDescription,
  { family, name, providerModel }: { family: string; name: string; providerModel: string },
  library: Pick<PriceLibrary, 'sourceOf'>,
): { source: string; listedAs: string } | undefined {
  switch (kind) {
    case 'simulator':
    case 'local':
      return undefined;
    case 'compatible': {
      const source = baseUrl === undefined ? undefined : library.sourceOf(baseUrl);
      return source === undefined ? undefined : { source, listedAs: providerModel };
    }
    default: {
      const { priceSource } = providerFacts[kind];
      if (priceSource !== undefined) return { source: priceSource, listedAs: providerModel };
      // Vercel's gateway charges the makers' list prices.
      return family === ''
        ? undefined
        : { source: ownValue(sourceOfFamily, family) ?? family, listedAs: name };
    }
  }
}
