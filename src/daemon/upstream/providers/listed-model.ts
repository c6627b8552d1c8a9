import type { ListedModel } from '../../features/catalog/index.ts';
import { type Json, objectOf } from '../json.ts';

/*
 * Reads entries of providers' lists of models. Nothing in them is relied on: an unexpected value is treated as missing.
 */

const charactersMax = 20_000;

/** A model with that name; undefined if the name is missing. */
export function listedModel(name: unknown, rest: Omit<ListedModel, 'name'>): ListedModel | undefined {
  const text = listedText(name);
  return text === undefined ? undefined : { name: text, ...rest };
}

/** A non-empty text that is short enough for a name or description. */
export function listedText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= charactersMax ? value : undefined;
}

/** A positive integer. */
export function listedCount(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : undefined;
}

/** Converts an ISO 8601 time to Unix seconds. */
export function listedTime(value: unknown): number | undefined {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return ms > 0 ? Math.floor(ms / 1000) : undefined;
}

interface ResellerPrices {
  /** The members of `pricing` with the price of input and of output, in dollars per token. */
  prices: { input: string; output: string };
}

/** Reads a reseller's entry: OpenAI's form plus title, description and prices. Prices are used only if both are there. */
export function resoldModel(
  model: Json,
  { prices, ...rest }: Omit<ListedModel, 'name' | 'usdPerToken'> & ResellerPrices,
): ListedModel | undefined {
  const pricing = objectOf(model.pricing) ?? {};
  const input = listedText(pricing[prices.input]);
  const output = listedText(pricing[prices.output]) ?? (rest.kind === 'embedding' ? '0' : undefined);
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
