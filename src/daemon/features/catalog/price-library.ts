import type { MatchLogic, ModelInfo, ModelPrice, Provider } from '@pydantic/genai-prices';
import { freePrices, nanoFromDecimal } from '../../../shared/money/exact-price.ts';
import type { NanoUsd, Prices, PriceTier, TokenPrices } from '../../../shared/money/money.ts';
import { isoTime } from '../../../shared/time/time.ts';
import { snapshotTime } from './model-names.ts';
import { isEmbeddingModel } from './model-traits.ts';

/** A model in the price library. */
export interface PricedModel {
  /** The library's name for it. */
  name: string;
  title: string | undefined;
  description: string | undefined;
  contextLength: number | undefined;
  /** The date of its first snapshot, in Unix seconds. */
  createdAt?: number | undefined;
  /** Null if unknown, or if parts are not priced by the token. */
  prices: Prices | null;
  /** Whether the price depends on the date or the time of day. */
  isConditional: boolean;
}

/** List prices of providers. A source is the library's name for a provider: `openai`, `groq`. */
export interface PriceLibrary {
  /** The names of priced text and embedding models, without those that stand for a group, such as all fine-tuned ones. */
  names(source: string): string[];
  find(source: string, model: string, now: number): PricedModel | undefined;
  /** The source of a base URL. */
  sourceOf(baseUrl: string): string | undefined;
}

type FindProvider = (options: { providerId?: string; providerApiUrl?: string }) => Provider | undefined;

/** Loads the library's code and data, which takes about 20 ms. */
export async function loadPriceLibrary(): Promise<PriceLibrary> {
  const { findProvider } = await import('@pydantic/genai-prices');
  return priceLibrary(findProvider);
}

/** A library over any set of providers, for tests. */
export function priceLibrary(findProvider: FindProvider): PriceLibrary {
  return {
    names: (source) =>
      (findProvider({ providerId: source })?.models ?? [])
        .filter((model) => !model.deprecated && isPricedByToken(model))
        .map((model) => model.id)
        .filter((id) => !id.endsWith('-')),
    find: (source, model, now) => {
      const provider = findProvider({ providerId: source });
      if (!provider) return undefined;
      const found = findModel(provider, model);
      if (found) return describe(found, now);
      for (const id of provider.fallback_model_providers ?? []) {
        const fallback = findProvider({ providerId: id });
        const info = fallback && findModel(fallback, model);
        if (info) return describe(info, now);
      }
      return undefined;
    },
    sourceOf: (baseUrl) => findProvider({ providerApiUrl: baseUrl })?.id,
  };
}

function describe(model: ModelInfo, now: number): PricedModel {
  return {
    name: model.id,
    title: model.name,
    description: model.description,
    contextLength: model.context_window,
    createdAt: snapshotTime(JSON.stringify(model.match)),
    prices: pricesOf(model, now),
    isConditional: Array.isArray(model.prices),
  };
}

function isPricedByToken(model: ModelInfo): boolean {
  const price = Array.isArray(model.prices) ? model.prices.at(-1)?.prices : model.prices;
  if (price === undefined) return false;
  if (price.input_mtok === undefined) return isFreeVariant(model);
  return price.output_mtok !== undefined || isEmbeddingModel(model.id);
}

/** OpenRouter's `…:free` variants cost nothing and have no prices in the library. */
function isFreeVariant(model: ModelInfo): boolean {
  return model.id.endsWith(':free') && !Array.isArray(model.prices) && Object.keys(model.prices).length === 0;
}

function findModel(provider: Provider, name: string): ModelInfo | undefined {
  const wanted = name.toLowerCase();
  const exact = provider.models.find((model) => equalsSome(model.match, wanted));
  if (exact) return exact;
  // A prefix in the library also matches models released later, which have other prices.
  return provider.models.find(
    (model) => matches(model.match, wanted) && versionOf(model.id) === versionOf(wanted),
  );
}

function equalsSome(logic: MatchLogic, name: string): boolean {
  if ('equals' in logic) return logic.equals.toLowerCase() === name;
  return 'or' in logic && logic.or.some((part) => equalsSome(part, name));
}

function matches(logic: MatchLogic, name: string): boolean {
  if ('or' in logic) return logic.or.some((part) => matches(part, name));
  if ('and' in logic) return logic.and.every((part) => matches(part, name));
  if ('equals' in logic) return logic.equals.toLowerCase() === name;
  if ('starts_with' in logic) return name.startsWith(logic.starts_with.toLowerCase());
  if ('ends_with' in logic) return name.endsWith(logic.ends_with.toLowerCase());
  if ('contains' in logic) return name.includes(logic.contains.toLowerCase());
  return new RegExp(logic.regex).test(name);
}

/** `claude-sonnet-4-5-20250929` → `4.5`: the numbers of a name without dates, revisions and closing zeros. */
function versionOf(name: string): string {
  const undated = name
    .replace(/[-@]\d{4}-\d{2}-\d{2}\b/g, '')
    .replace(/[-@]\d{2}-(20\d{2}|\d{2})\b/g, '')
    .replace(/[-@]20\d{6}\b/g, '')
    .replace(/-\d{3}\b/g, '');
  const numbers = undated.match(/\d+/g) ?? [];
  while (numbers.length > 1 && numbers.at(-1) === '0') numbers.pop();
  return numbers.join('.');
}

function pricesOf(model: ModelInfo, now: number): Prices | null {
  if (isFreeVariant(model)) return freePrices;
  const price = Array.isArray(model.prices) ? priceAt(model.prices, now) : model.prices;
  // Vectors are not priced.
  return convert(price && isEmbeddingModel(model.id) ? { output_mtok: 0, ...price } : price);
}

/**
 * The last price whose condition applies; the first has none. `end_time` is exclusive. Undefined if a time is not in UTC,
 * which no known price has, since guessing would bill wrongly.
 */
function priceAt(prices: Exclude<ModelInfo['prices'], ModelPrice>, now: number): ModelPrice | undefined {
  const text = isoTime(now);
  const time = text.slice(11, 19);
  let price: ModelPrice | undefined;
  for (const { constraint, prices: candidate } of prices) {
    if (constraint === undefined) price = candidate;
    else if (constraint.type === 'start_date') {
      if (text >= constraint.start_date) price = candidate;
    } else {
      const { start_time: start, end_time: end } = constraint;
      if (!start.endsWith('Z') || !end.endsWith('Z')) return undefined;
      if (isWithin(time, start.slice(0, 8), end.slice(0, 8))) price = candidate;
    }
  }
  return price;
}

/** Compares times of day; the period may include midnight. */
function isWithin(time: string, start: string, end: string): boolean {
  return end < start ? time >= start || time < end : time >= start && time < end;
}

type Price = ModelPrice[string];

function convert(price: ModelPrice | undefined): Prices | null {
  // A fee per request does not fit prices per token, and a price that is too low is worse than none.
  if (price === undefined || price.requests_kcount) return null;
  if (price.input_mtok === undefined || price.output_mtok === undefined) return null;
  const base = level(price, -1);
  if (!base) return null;
  const parts = [...textParts, ...mediaParts].map(([, part]) => price[part]);
  const starts = new Set(parts.flatMap((part) => (typeof part === 'object' ? part.tiers : [])).map(startOf));
  const tiers: PriceTier[] = [];
  for (const start of [...starts].sort((a, b) => a - b)) {
    const prices = level(price, start);
    if (!prices) return null;
    tiers.push({ aboveInputTokens: documentedStart(start), ...prices });
  }
  return tiers.length > 0 ? { ...base, tiers } : base;
}

const startOf = (tier: { start: number }) => tier.start;

/** Providers charge more for prompts of more than 272,000 tokens, say; the library has some of these numbers one lower. */
function documentedStart(start: number): number {
  return (start + 1) % 1000 === 0 ? start + 1 : start;
}

/** Our names of prices, and the library's. */
const textParts = [
  ['input', 'input_mtok'],
  ['cachedInput', 'cache_read_mtok'],
  ['cacheWrite', 'cache_write_mtok'],
  ['output', 'output_mtok'],
] as const;
const mediaParts = [
  ['audioInput', 'input_audio_mtok'],
  ['cachedAudio', 'cache_audio_read_mtok'],
  ['audioOutput', 'output_audio_mtok'],
  ['imageOutput', 'output_image_mtok'],
] as const;

/** Per thousand uses. */
const feeParts = [
  ['webSearch', 'web_searches_kcount'],
  ['fileSearch', 'storage_searches_kcount'],
] as const;

/** Undefined if a price is not a decimal. Cached input and cache writes default to the price of input. */
function level(price: ModelPrice, start: number): TokenPrices | undefined {
  const text = partsAt(price, textParts, start);
  const media = partsAt(price, mediaParts, start);
  const fees = partsAt(price, feeParts, start);
  if (!text || !media || !fees || text.input === undefined || text.output === undefined) return undefined;
  const { input, output, cachedInput = input, cacheWrite = input } = text;
  // Cached audio without its own price costs as much as audio.
  if (media.audioInput !== undefined) media.cachedAudio ??= media.audioInput;
  for (const [name] of feeParts) if (fees[name] !== undefined) fees[name] = Math.ceil(fees[name] / 1000);
  return {
    input,
    cachedInput,
    cacheWrite,
    output,
    ...(Object.keys(media).length > 0 && { media }),
    ...(Object.keys(fees).length > 0 && { fees }),
  };
}

/** The parts that are present; undefined if one is not a decimal. */
function partsAt<Name extends string>(
  price: ModelPrice,
  parts: readonly (readonly [name: Name, part: string])[],
  start: number,
): Partial<Record<Name, NanoUsd>> | undefined {
  const found: Partial<Record<Name, NanoUsd>> = {};
  for (const [name, part] of parts) {
    if (price[part] === undefined) continue;
    const nano = nanoAt(price[part], start);
    if (nano === undefined) return undefined;
    found[name] = nano;
  }
  return found;
}

function nanoAt(price: Price, start: number): number | undefined {
  if (price === undefined || typeof price === 'number') return nanoFromDecimal(price ?? '');
  let decimal = price.base;
  let from = -1;
  for (const tier of price.tiers) {
    if (tier.start <= start && tier.start > from) {
      decimal = tier.price;
      from = tier.start;
    }
  }
  return nanoFromDecimal(decimal);
}
