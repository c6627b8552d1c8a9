import { groupDigits } from '../text/group-digits.ts';
import { trimEnd } from '../text/trim-text.ts';

/**
 * Money is an integer number of nano-dollars (10⁻⁹ USD) internally and a decimal string of dollars on the wire. A safe
 * integer holds nine million dollars, more than any call or local account reaches; this is asserted.
 */
export type NanoUsd = number;

const NANO_PER_USD = 1_000_000_000n;
const TOKENS_PER_PRICE = 1_000_000n;
const MILLION = 1_000_000n;

/** A provider's prices, in nano-dollars per million tokens. */
export interface Prices extends TokenPrices {
  /** Prices that replace the base prices for the whole call once its input exceeds `aboveInputTokens`. */
  tiers?: PriceTier[];
}

export interface PriceTier extends TokenPrices {
  aboveInputTokens: number;
}

export interface TokenPrices {
  input: NanoUsd;
  cachedInput: NanoUsd;
  cacheWrite: NanoUsd;
  output: NanoUsd;
  media?: MediaPrices;
  fees?: ToolFees;
}

/** A provider's fee for one use of a tool that it runs itself. */
export interface ToolFees {
  webSearch?: NanoUsd;
  fileSearch?: NanoUsd;
}

/** How often an answer used tools that its provider runs and charges for. */
export interface ToolUses {
  webSearch: number;
  fileSearch: number;
}

/** Prices of audio and images where they differ from those of text. */
export interface MediaPrices {
  audioInput?: NanoUsd;
  cachedAudio?: NanoUsd;
  audioOutput?: NanoUsd;
  imageOutput?: NanoUsd;
}

/** Tokens of one answer. `input` includes cached and cache-written tokens; `output` includes reasoning. */
export interface Tokens {
  input: number;
  cachedInput: number;
  cacheWrite: number;
  output: number;
  reasoning: number;
  /** The part of `cacheWrite` that is kept for an hour, which costs more; absent if there is none. */
  longCacheWrite?: number;
  /** Absent when only text was counted. */
  media?: MediaTokens;
  /** Absent when no such tool was used. */
  toolUses?: ToolUses;
}

/** The audio and image tokens within input and output; `audioInput` includes cached ones. */
export interface MediaTokens {
  audioInput: number;
  cachedAudio: number;
  audioOutput: number;
  imageOutput: number;
}

/** The cost of a call in nano-dollars; total = provider + margin, always. */
export interface Cost {
  provider: NanoUsd;
  margin: NanoUsd;
  total: NanoUsd;
}

export const noCost: Cost = { provider: 0, margin: 0, total: 0 };

/** The prices that apply to an input of that many tokens. */
export function pricesFor(prices: Prices, inputTokens: number): TokenPrices {
  let best: TokenPrices = prices;
  let from = 0;
  for (const tier of prices.tiers ?? []) {
    if (inputTokens > tier.aboveInputTokens && tier.aboveInputTokens >= from) {
      best = tier;
      from = tier.aboveInputTokens;
    }
  }
  return best;
}

/**
 * The cost of `tokens` at `prices` with a margin in millionths (50_000 = 5 %). The only place where dollars are
 * rounded: once per call, upwards.
 */
export function costOf(prices: Prices, tokens: Tokens, marginPpm: number): Cost {
  const at = pricesFor(prices, tokens.input);
  const exact = exactCost(tokens, at);
  const provider = safe(roundUp(exact, TOKENS_PER_PRICE));
  const total = safe(roundUp(exact * (MILLION + BigInt(marginPpm)), TOKENS_PER_PRICE * MILLION));
  return { provider, margin: total - provider, total };
}

/** Prices in hundredths of others; fees for tools stay. */
export function scaledPrices(prices: Prices, percent: number): Prices {
  const scale = <Each extends TokenPrices>(each: Each): Each => ({
    ...each,
    input: scaled(each.input, percent),
    cachedInput: scaled(each.cachedInput, percent),
    cacheWrite: scaled(each.cacheWrite, percent),
    output: scaled(each.output, percent),
    ...(each.media && { media: scaledMedia(each.media, percent) }),
  });
  return { ...scale(prices), ...(prices.tiers && { tiers: prices.tiers.map(scale) }) };
}

function scaledMedia(media: MediaPrices, percent: number): MediaPrices {
  return Object.fromEntries(Object.entries(media).map(([name, price]) => [name, scaled(price, percent)]));
}

function scaled(price: NanoUsd, percent: number): NanoUsd {
  return safe(roundUp(BigInt(price) * BigInt(percent), 100n));
}

/** The cost of a call that its provider has stated, with a margin in millionths. */
export function costStated(provider: NanoUsd, marginPpm: number): Cost {
  const total = withMargin(provider, marginPpm);
  return { provider, margin: total - provider, total };
}

/** In millionths of a nano-dollar, without the margin. */
function exactCost(tokens: Tokens, at: TokenPrices): bigint {
  const plainInput = Math.max(0, tokens.input - tokens.cachedInput - tokens.cacheWrite);
  return (
    BigInt(plainInput) * BigInt(at.input) +
    BigInt(tokens.cachedInput) * BigInt(at.cachedInput) +
    BigInt(tokens.cacheWrite) * BigInt(at.cacheWrite) +
    BigInt(tokens.output) * BigInt(at.output) +
    (tokens.longCacheWrite ? BigInt(tokens.longCacheWrite) * longCacheWriteExtra(at) : 0n) +
    (tokens.media && at.media ? mediaDifference(tokens, tokens.media, at, at.media) : 0n) +
    (tokens.toolUses && at.fees ? feesOf(tokens.toolUses, at.fees) : 0n)
  );
}

/** Anthropic charges twice the input price for tokens that are cached for an hour. Source: its page on prompt caching. */
export function longCacheWritePrice({ input, cacheWrite }: TokenPrices): NanoUsd {
  return Math.max(2 * input, cacheWrite);
}

function longCacheWriteExtra(prices: TokenPrices): bigint {
  return BigInt(longCacheWritePrice(prices) - prices.cacheWrite);
}

function feesOf(uses: ToolUses, { webSearch = 0, fileSearch = 0 }: ToolFees): bigint {
  const fees = BigInt(uses.webSearch) * BigInt(webSearch) + BigInt(uses.fileSearch) * BigInt(fileSearch);
  return fees * TOKENS_PER_PRICE;
}

/** The maximum price of an output token: the kind of output is not known in advance. */
export function dearestOutput({ output, media }: TokenPrices): NanoUsd {
  return media ? Math.max(output, media.audioOutput ?? 0, media.imageOutput ?? 0) : output;
}

/** The maximum price of an audio input token; 0 when it has no separate price. */
export function soundPrice({ media }: TokenPrices): NanoUsd {
  return Math.max(media?.audioInput ?? 0, media?.cachedAudio ?? 0);
}

/**
 * The difference between audio and image prices and the text price. Counts of a provider may be inconsistent, so parts
 * are capped at their whole.
 */
function mediaDifference(
  { input, cachedInput, cacheWrite, output }: Tokens,
  tokens: MediaTokens,
  text: TokenPrices,
  media: MediaPrices,
): bigint {
  const cachedAudio = Math.min(tokens.cachedAudio, cachedInput);
  const plainAudio = Math.min(
    Math.max(0, tokens.audioInput - cachedAudio),
    Math.max(0, input - cachedInput - cacheWrite),
  );
  const audioOutput = Math.min(tokens.audioOutput, output);
  const imageOutput = Math.min(tokens.imageOutput, output - audioOutput);
  const beyond = (count: number, price: NanoUsd | undefined, textPrice: NanoUsd) =>
    price === undefined ? 0n : BigInt(count) * (BigInt(price) - BigInt(textPrice));
  return (
    beyond(plainAudio, media.audioInput, text.input) +
    beyond(cachedAudio, media.cachedAudio, text.cachedInput) +
    beyond(audioOutput, media.audioOutput, text.output) +
    beyond(imageOutput, media.imageOutput, text.output)
  );
}

/**
 * The number of output tokens that an amount pays for after `tokens` (whose `output` is ignored): the largest whose
 * `costOf` does not exceed it. Infinity when output is free, negative when the amount does not cover the input.
 */
export function outputTokensPaidBy(
  amount: NanoUsd,
  prices: Prices,
  tokens: Tokens,
  marginPpm: number,
): number {
  const at = pricesFor(prices, tokens.input);
  const input = exactCost({ ...tokens, output: 0 }, at);
  const left = (BigInt(amount) * TOKENS_PER_PRICE * MILLION) / (MILLION + BigInt(marginPpm)) - input;
  if (left < 0n) return -1;
  return at.output === 0 ? Number.POSITIVE_INFINITY : Number(left / BigInt(at.output));
}

/** Splits a total into provider cost and margin, where only the total was stored. */
export function costWithin(total: NanoUsd, marginPpm: number): Cost {
  const provider = safe(roundUp(BigInt(total) * MILLION, MILLION + BigInt(marginPpm)));
  return { provider, margin: total - provider, total };
}

/** Adds a margin in millionths to a price, rounded up: for display, not for charging. */
export function withMargin(price: NanoUsd, marginPpm: number): NanoUsd {
  return safe(roundUp(BigInt(price) * (MILLION + BigInt(marginPpm)), MILLION));
}

/** `1234` → `"0.000001234"`: dollars without exponent or trailing zeros. */
export function formatUsd(amount: NanoUsd): string {
  const sign = amount < 0 ? '-' : '';
  const nano = BigInt(Math.abs(amount));
  const whole = nano / NANO_PER_USD;
  const fraction = trimEnd((nano % NANO_PER_USD).toString().padStart(9, '0'), '0');
  return `${sign}${whole}${fraction && `.${fraction}`}`;
}

/** A decimal amount as people read it, exact: `$5`, `$0.50`, `$0.000123`, `$1,204.50`. Only whole dollars have no cents. */
export function dollarText(usd: string): string {
  const sign = usd.startsWith('-') ? '-' : '';
  const [whole = '', fraction = ''] = usd.slice(sign.length).split('.');
  const decimals = trimEnd(fraction, '0');
  return `${sign}$${groupDigits(whole)}${decimals && `.${decimals.padEnd(2, '0')}`}`;
}

/**
 * `"0.15"` → nano-dollars; undefined unless it is a plain decimal number with at most nine places that fits a safe
 * integer of nano-dollars (nine million dollars).
 */
export function parseUsd(text: string): NanoUsd | undefined {
  const match = /^(-?)(\d{1,7})(?:\.(\d{1,9}))?$/.exec(text);
  if (!match) return undefined;
  const [, sign, whole = '0', fraction = ''] = match;
  const nano = BigInt(whole) * NANO_PER_USD + BigInt(fraction.padEnd(9, '0'));
  const amount = Number(sign ? -nano : nano);
  return Number.isSafeInteger(amount) ? amount : undefined;
}

function roundUp(value: bigint, unit: bigint): bigint {
  return (value + unit - 1n) / unit;
}

function safe(value: bigint): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new RangeError(`amount out of range: ${value}`);
  return number;
}
