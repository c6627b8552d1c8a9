import { isKnownProvider, providerFacts } from '../../../shared/known-providers.ts';
import { canonicalName, suffixesOf } from './model-names.ts';
import { isCurrentModel } from './model-traits.ts';
import type { ProviderDescription, ProviderKind } from './offer.ts';
import type { PriceLibrary } from './price-library.ts';

/** The providers of one model, without prices. */
export interface ModelSlot {
  id: string;
  at: { provider: ProviderDescription; providerModel: string }[];
  /** The ids of further models that a plain name stands for, to be tried after this one. */
  others?: readonly string[];
}

/** All models, by id and by other spellings. */
export interface ModelIndex {
  slots: ReadonlyMap<string, ModelSlot>;
  byCanonicalName: ReadonlyMap<string, ModelSlot>;
  /** Shortened ids in their canonical form; more than one slot when the short form is ambiguous. */
  bySuffix: ReadonlyMap<string, readonly ModelSlot[]>;
  providers: ReadonlyMap<string, ProviderDescription>;
}

/** Makers offer their own models, resellers those of others. */
export const isMaker = (kind: ProviderKind) => isKnownProvider(kind) && providerFacts[kind].models === 'own';

export const isReseller = (kind: ProviderKind) =>
  isKnownProvider(kind) && providerFacts[kind].models === 'resold';

/** Makers that Vercel's gateway lists under their own names. */
const vercelFamilies = /^(openai|anthropic|google)\//;

/** Indexes the models of each provider. Resellers come last, so that a model's id is its maker's spelling. */
export function indexModels(
  providers: readonly ProviderDescription[],
  library: PriceLibrary | undefined,
  canCall: (provider: ProviderDescription) => boolean,
): ModelIndex {
  const slots = new Map<string, ModelSlot>();
  const byCanonicalName = new Map<string, ModelSlot>();
  const add = (provider: ProviderDescription, id: string, providerModel: string) => {
    const canonical = canonicalName(id);
    const same = slots.get(id) ?? byCanonicalName.get(canonical);
    if (same !== undefined && !same.at.some((location) => location.provider === provider)) {
      same.at.push({ provider, providerModel });
    } else if (!slots.has(id)) {
      // Two names of one provider are two models, however similar.
      const slot = { id, at: [{ provider, providerModel }] };
      slots.set(id, slot);
      if (same === undefined) byCanonicalName.set(canonical, slot);
    }
  };
  for (const provider of providers.filter(({ kind }) => !isReseller(kind))) {
    for (const name of namesOf(provider, library)) add(provider, idOf(provider, name), name);
  }
  for (const provider of providers.filter(({ kind }) => isReseller(kind))) {
    const makersOwn = [...slots.values()].filter(({ at }) =>
      at.some(({ provider: { kind } }) => isMaker(kind)),
    );
    for (const name of resoldNames(provider, library, makersOwn)) {
      // Hides hundreds of models that only a reseller without a key has.
      if (canCall(provider) || byCanonicalName.has(canonicalName(name))) add(provider, name, name);
    }
  }
  return {
    slots,
    byCanonicalName,
    bySuffix: indexSuffixes(slots),
    providers: new Map(providers.map((provider) => [provider.name, provider])),
  };
}

/** The catalog's id of a model of a maker or a server. */
export function idOf(provider: ProviderDescription, name: string): string {
  if (provider.kind === 'simulator') return name.startsWith('sim/') ? name : `sim/${name}`;
  return isMaker(provider.kind) ? `${provider.kind}/${name}` : `${provider.name}/${name}`;
}

function namesOf(provider: ProviderDescription, library: PriceLibrary | undefined): readonly string[] {
  if (provider.models !== undefined && provider.models !== '*') return provider.models;
  const listed = Object.keys(provider.details ?? {});
  if (!isMaker(provider.kind)) {
    const priced = Object.keys(provider.prices ?? {}).filter((name) => name !== '*');
    return [...new Set([...listed, ...priced])];
  }
  const names = listed.length > 0 ? listed : (library?.names(provider.kind) ?? []);
  return names.filter((name) => isCurrentModel(provider.kind, name));
}

function resoldNames(
  provider: ProviderDescription,
  library: PriceLibrary | undefined,
  makersOwn: readonly ModelSlot[],
): readonly string[] {
  if (provider.models !== undefined && provider.models !== '*') return provider.models;
  const listed = Object.keys(provider.details ?? {});
  if (listed.length > 0) return listed;
  if (provider.kind === 'openrouter') {
    return (library?.names('openrouter') ?? []).filter((id) => id.includes('/') && isCurrentModel('', id));
  }
  return makersOwn.filter(({ id }) => vercelFamilies.test(id)).map(({ id }) => resellerSpelling(id));
}

/** Resellers write versions of Anthropic's models with a dot. */
function resellerSpelling(id: string): string {
  if (!id.startsWith('anthropic/')) return id;
  return id
    .replace(/-latest$/, '')
    .replace(/-0$/, '')
    .replace(/-(\d)-(\d)(?=-|$)/, '-$1.$2');
}

function indexSuffixes(slots: ReadonlyMap<string, ModelSlot>): Map<string, ModelSlot[]> {
  const bySuffix = new Map<string, ModelSlot[]>();
  for (const slot of slots.values()) {
    for (const suffix of suffixesOf(slot.id).map(canonicalName)) {
      const others = bySuffix.get(suffix);
      if (others) others.push(slot);
      else bySuffix.set(suffix, [slot]);
    }
  }
  return bySuffix;
}
