import type { ListedModel } from '../../features/catalog/index.ts';
import { type Json, objectOf } from '../json.ts';

/** What providers tell of their models in lists: nothing of it is relied on, and what is odd counts as not told. */

const charactersMax = 20_000;

/** A model of that name; undefined where there is none. */
export function listedModel(name: unknown, rest: Omit<ListedModel, 'name'>): ListedModel | undefined {
  const told = listedText(name);
  return told === undefined ? undefined : { name: told, ...rest };
}

/** What is too long to be a name or a description is none. */
export function listedText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= charactersMax ? value : undefined;
}

/** A whole number above 0. */
export function listedCount(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : undefined;
}

/** An ISO 8601 time as Unix seconds. */
export function listedTime(value: unknown): number | undefined {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return ms > 0 ? Math.floor(ms / 1000) : undefined;
}

interface ResellerPrices {
  prices: { input: string; output: string };
}

/**
 * A model in the list of a reseller: OpenAI's form, with words for people and dollars a token beside. `prices` names the
 * members with the prices of what goes in and of what comes out; where one of them is missing, none is taken.
 */
export function resoldModel(
  model: Json,
  { prices, ...rest }: Omit<ListedModel, 'name' | 'usdPerToken'> & ResellerPrices,
): ListedModel | undefined {
  const pricing = objectOf(model.pricing) ?? {};
  const [input, output] = [listedText(pricing[prices.input]), listedText(pricing[prices.output])];
  const [cachedInput, cacheWrite] = [pricing.input_cache_read, pricing.input_cache_write].map(listedText);
  const isPriced = input !== undefined && output !== undefined;
  return listedModel(model.id, {
    title: listedText(model.name),
    description: listedText(model.description),
    createdAt: listedCount(model.created),
    ...rest,
    usdPerToken: isPriced ? { input, output, cachedInput, cacheWrite } : undefined,
  });
}
