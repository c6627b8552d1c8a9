import { ApiError } from '../../../shared/errors.ts';
import { ifValid } from '../../../shared/faults/invalid-request.ts';
import { quoted } from '../../../shared/faults/not-found.ts';
import { ownValue } from '../../../shared/json/json-object.ts';
import { inWords } from '../../../shared/text/in-words.ts';
import { idOf, isMaker, isReseller, type ModelIndex, type ModelSlot } from './model-index.ts';
import { canonicalName, nearestNames, plainName, undatedName } from './model-names.ts';
import type { ProviderDescription } from './offer.ts';

/** The advice for a name without similar ones, to callers of the API. */
export const listAdvice = 'GET /v1/models lists the models.';

/**
 * Finds a model by, in this order: its id in any spelling; a provider's name before a model's (`openrouter/…`, `groq/…`),
 * which pins that provider; a suffix, such as a name without its maker's, of callable models, or else of any. A suffix of several
 * models stands for the one whose name it is first, then for the others. Unlisted names are forwarded to callable providers that
 * accept any name. What clients add to names counts only if a model's name has it, and the date of a snapshot that no provider
 * lists is left out: Claude Code asks for `claude-haiku-4-5-20251001`, which resellers list without the date.
 */
export function resolveName(
  name: string,
  index: ModelIndex,
  canCall: (provider: ProviderDescription) => boolean,
): ModelSlot {
  const canonical = canonicalName(name);
  const exact = index.slots.get(name) ?? index.byCanonicalName.get(canonical);
  if (exact) return exact;
  const plain = plainName(name);
  if (plain !== name) return resolveName(plain, index, canCall);
  const pinned = resolvePinned(name, index, canCall);
  if (pinned) return pinned;
  const bySuffix = index.bySuffix.get(canonical) ?? [];
  const callable = bySuffix.filter((slot) => slot.at.some(({ provider }) => canCall(provider)));
  const [owner, ...others] = ownersFirst(callable.length > 0 ? callable : bySuffix);
  if (owner) return others.length === 0 ? owner : { ...owner, others: others.map(({ id }) => id) };
  const forwarded = forwardToReseller(name, index, canCall);
  if (forwarded) return forwarded;
  const undated = undatedName(name);
  // The sentence names what the caller wrote.
  const found = undated === name ? undefined : ifValid(() => resolveName(undated, index, canCall));
  if (found) return found;
  throw notFound(name, index);
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

/**
 * Models of one plain name in the order in which they have a claim to it: its maker's, which resellers sell, too; those that the
 * configuration names; those that upstreams list, as long as they have listed them; those of local servers, which come and go. So
 * a name that was used keeps its meaning whatever a provider lists later.
 */
function ownersFirst(slots: readonly ModelSlot[]): ModelSlot[] {
  const claims = new Map(slots.map((slot) => [slot, claimOf(slot)]));
  const claim = (slot: ModelSlot) => claims.get(slot) ?? [];
  return slots.toSorted((a, b) => {
    const [kind = 0, since = 0] = claim(a);
    const [otherKind = 0, otherSince = 0] = claim(b);
    return kind - otherKind || since - otherSince;
  });
}

function claimOf({ at }: ModelSlot): readonly number[] {
  const claims = at.map(({ provider, providerModel }): [kind: number, since: number] => {
    const { kind, models, details } = provider;
    if (isMaker(kind)) return [0, 0];
    if (isReseller(kind)) return [1, 0];
    if (kind === 'simulator') return [5, 0];
    if (kind === 'local') return [4, 0];
    const listedAt = ownValue(details ?? {}, providerModel)?.listedAt;
    return Array.isArray(models) || listedAt === undefined ? [2, 0] : [3, listedAt];
  });
  return claims.toSorted(([a, sinceA], [b, sinceB]) => a - b || sinceA - sinceB)[0] ?? [];
}

function notFound(name: string, index: ModelIndex): ApiError {
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
