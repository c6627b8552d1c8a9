import type { ListedModel } from '../../features/catalog/index.ts';

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

/** Dollars a token, as decimals; undefined where what goes in or what comes out has no price. */
export function listedPrices(prices: {
  input: unknown;
  output: unknown;
  cachedInput: unknown;
  cacheWrite: unknown;
}): ListedModel['usdPerToken'] {
  const [input, output] = [listedText(prices.input), listedText(prices.output)];
  if (input === undefined || output === undefined) return undefined;
  const { cachedInput, cacheWrite } = prices;
  return { input, output, cachedInput: listedText(cachedInput), cacheWrite: listedText(cacheWrite) };
}
