import { ApiError } from '../../../shared/errors.ts';
import { quoted } from '../../../shared/faults/not-found.ts';
import { inWords } from '../../../shared/text/in-words.ts';
import { idOf, isMaker, isReseller, type ModelIndex, type ModelSlot } from './model-index.ts';
import { canonicalName, nearestNames } from './model-names.ts';
import type { ProviderDescription } from './offer.ts';

/** The advice for a name without similar ones, to callers of the API. */
export const listAdvice = 'GET /v1/models lists the models.';

/**
 * Finds a model by, in this order: its id in any spelling; a provider's name before a model's (`openrouter/…`, `groq/…`),
 * which pins that provider; a suffix that is unique among the callable models, or among all. Unlisted names are forwarded
 * to callable providers that accept any name.
 */
export function resolveName(
  name: string,
  index: ModelIndex,
  canCall: (provider: ProviderDescription) => boolean,
): ModelSlot {
  const canonical = canonicalName(name);
  const exact = index.slots.get(name) ?? index.byCanonicalName.get(canonical);
  if (exact) return exact;
  const pinned = resolvePinned(name, index, canCall);
  if (pinned) return pinned;
  const bySuffix = index.bySuffix.get(canonical) ?? [];
  const callable = bySuffix.filter((slot) => slot.at.some(({ provider }) => canCall(provider)));
  const [only, second] = callable.length > 0 ? callable : bySuffix;
  if (only && !second) return only;
  const forwarded = bySuffix.length === 0 ? forwardToReseller(name, index, canCall) : undefined;
  if (forwarded) return forwarded;
  throw notFound(name, bySuffix, index);
}

function resolvePinned(
  name: string,
  index: ModelIndex,
  canCall: (provider: ProviderDescription) => boolean,
): ModelSlot | undefined {
  const slash = name.indexOf('/');
  const rest = name.slice(slash + 1);
  const provider = slash > 0 && rest !== '' ? index.providers.get(name.slice(0, slash)) : undefined;
  if (provider === undefined) return undefined;
  if (isReseller(provider.kind)) {
    const slot = index.slots.get(rest) ?? index.byCanonicalName.get(canonicalName(rest));
    const location = slot?.at.find((candidate) => candidate.provider === provider);
    if (slot && location) return { id: slot.id, at: [location] };
  }
  const acceptsAnyName = provider.models === undefined || provider.models === '*';
  if (!acceptsAnyName || provider.kind === 'simulator' || !canCall(provider)) return undefined;
  const id = isReseller(provider.kind) ? rest : idOf(provider, rest);
  return { id, at: [{ provider, providerModel: rest }] };
}

/**
 * Finds a model that only the server has whose name comes first, whatever the price library lists: makers' ids start with their
 * own names, and there is no reseller whose ids could start with this one.
 */
export function resolveServersOwn(
  name: string,
  index: ModelIndex,
  canCall: (provider: ProviderDescription) => boolean,
): ModelSlot | undefined {
  const providers = [...index.providers.values()];
  if (providers.some((provider) => isReseller(provider.kind) && canCall(provider))) return undefined;
  const slot = resolvePinned(name, index, canCall);
  return slot?.at.some(({ provider: { kind } }) => isMaker(kind)) ? undefined : slot;
}

/** A reseller with `models: ["*"]` gets every `family/name` that no other provider has. */
function forwardToReseller(
  name: string,
  index: ModelIndex,
  canCall: (provider: ProviderDescription) => boolean,
): ModelSlot | undefined {
  const family = name.slice(0, Math.max(0, name.indexOf('/')));
  if (family === '' || index.providers.get(family)?.kind === 'simulator') return undefined;
  const at = [...index.providers.values()]
    .filter((provider) => isReseller(provider.kind) && provider.models === '*' && canCall(provider))
    .map((provider) => ({ provider, providerModel: name }));
  return at.length > 0 ? { id: name, at } : undefined;
}

function notFound(name: string, candidates: readonly ModelSlot[], index: ModelIndex): ApiError {
  if (candidates.length > 1) {
    const ids = candidates.slice(0, 5).map(({ id }) => id);
    return new ApiError('model_not_found', {
      param: 'model',
      message: `${quoted(name)} is ambiguous: use one of ${ids.join(', ')}.`,
      extra: { nearest: ids },
    });
  }
  const nearest = nearestNames(name, index.slots.keys());
  const family = index.providers.get(name.slice(0, Math.max(0, name.indexOf('/'))));
  const advice = nearest.length > 0 ? `Did you mean ${inWords(nearest)}?` : listAdvice;
  const remedy = family?.reason ? ` ${family.name} is not available: ${family.reason}.` : '';
  return new ApiError('model_not_found', {
    param: 'model',
    message: `There is no model ${quoted(name)}. ${advice}${remedy}`,
    extra: { nearest },
  });
}
